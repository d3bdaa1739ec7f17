package realnode

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"k8s.io/client-go/kubernetes"
)

const (
	clusterDomain = "cluster.local"
	answerLimit   = 4 * time.Second
	recordLife    = 5 // seconds
	maxMessage    = 64 << 10
	maxDatagram   = 1232 // larger answers are asked for again by TCP
)

// dnsServer answers names of Services from the API server, and passes other questions on to the resolver of this machine.
type dnsServer struct {
	lookup   func(ctx context.Context, name string) (found []net.IP, exists bool, err error)
	upstream func() []string
}

// ServeDNS serves on port 53 of an address, by UDP and TCP, until it is closed.
func ServeDNS(address string, client kubernetes.Interface) (io.Closer, error) {
	s := &dnsServer{lookup: (&names{client}).lookup, upstream: systemResolvers}
	at := net.JoinHostPort(address, "53")
	packets, err := net.ListenPacket("udp", at)
	if err != nil {
		return nil, fmt.Errorf("serve DNS for pods: %w", err)
	}
	listener, err := net.Listen("tcp", at)
	if err != nil {
		_ = packets.Close()
		return nil, fmt.Errorf("serve DNS for pods: %w", err)
	}
	go s.serveUDP(packets)
	go s.serveTCP(listener)
	return closers{packets, listener}, nil
}

// closers closes several.
type closers []io.Closer

func (c closers) Close() error {
	var failed []error
	for _, one := range c {
		failed = append(failed, one.Close())
	}
	return errors.Join(failed...)
}

func (s *dnsServer) serveUDP(packets net.PacketConn) {
	for {
		question := make([]byte, maxDatagram)
		n, from, err := packets.ReadFrom(question)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		go func() {
			answer := s.answer(question[:n], "udp")
			if answer != nil {
				_, _ = packets.WriteTo(answer, from) // who asked asks again
			}
		}()
	}
}

func (s *dnsServer) serveTCP(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		go func() {
			defer hangUp(conn)
			for {
				_ = conn.SetDeadline(time.Now().Add(2 * answerLimit))
				question, err := readFramed(conn)
				if err != nil {
					return
				}
				answer := s.answer(question, "tcp")
				if answer == nil || writeFramed(conn, answer) != nil {
					return
				}
			}
		}()
	}
}

// readFramed reads a message with its length before it, as DNS has it on streams.
func readFramed(r io.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(r, message)
	return message, err
}

func writeFramed(w io.Writer, message []byte) error {
	if len(message) >= maxMessage {
		return errors.New("message too long")
	}
	_, err := w.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...))
	return err
}

// answer returns nothing for what is not a question.
func (s *dnsServer) answer(message []byte, transport string) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil || header.Response {
		return nil
	}
	question, err := parser.Question()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	name := strings.ToLower(strings.TrimSuffix(question.Name.String(), "."))
	if name != clusterDomain && !strings.HasSuffix(name, "."+clusterDomain) {
		if answer := s.forward(ctx, message, transport); answer != nil {
			return answer
		}
		return reply(header, question, dnsmessage.RCodeServerFailure, nil, transport)
	}
	addresses, exists, err := s.lookup(ctx, strings.TrimSuffix(strings.TrimSuffix(name, clusterDomain), "."))
	switch {
	case err != nil:
		return reply(header, question, dnsmessage.RCodeServerFailure, nil, transport)
	case !exists:
		return reply(header, question, dnsmessage.RCodeNameError, nil, transport)
	}
	return reply(header, question, dnsmessage.RCodeSuccess, addresses, transport)
}

// reply says that nothing is known of the type when the question is for another one than addresses.
func reply(asked dnsmessage.Header, question dnsmessage.Question, code dnsmessage.RCode, addresses []net.IP, transport string) []byte {
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: asked.ID, Response: true, Authoritative: true, RecursionDesired: asked.RecursionDesired, RecursionAvailable: true, RCode: code},
		Questions: []dnsmessage.Question{question},
	}
	for _, ip := range addresses {
		four := ip.To4()
		if four == nil || question.Type != dnsmessage.TypeA {
			continue
		}
		message.Answers = append(message.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: recordLife},
			Body:   &dnsmessage.AResource{A: [4]byte(four)},
		})
	}
	packed, err := message.Pack()
	if err == nil && transport == "udp" && len(packed) > maxDatagram {
		message.Answers, message.Truncated = nil, true
		packed, err = message.Pack()
	}
	if err != nil {
		return nil
	}
	return packed
}

// forward asks the machine's resolvers one after the other, by the transport of the question.
func (s *dnsServer) forward(ctx context.Context, message []byte, transport string) []byte {
	for _, resolver := range s.upstream() {
		conn, err := (&net.Dialer{Timeout: answerLimit / 2}).DialContext(ctx, transport, resolver)
		if err != nil {
			continue
		}
		answer, err := exchange(conn, message, transport)
		hangUp(conn)
		if err == nil && len(answer) > 2 && [2]byte(answer[:2]) == [2]byte(message[:2]) {
			return answer
		}
	}
	return nil
}

func exchange(conn net.Conn, message []byte, transport string) ([]byte, error) {
	_ = conn.SetDeadline(time.Now().Add(answerLimit / 2))
	if transport == "tcp" {
		if err := writeFramed(conn, message); err != nil {
			return nil, err
		}
		return readFramed(conn)
	}
	if _, err := conn.Write(message); err != nil {
		return nil, err
	}
	answer := make([]byte, maxMessage)
	n, err := conn.Read(answer)
	return answer[:n], err
}
