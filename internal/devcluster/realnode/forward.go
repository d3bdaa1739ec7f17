package realnode

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Forward accepts connections on one TCP address and passes their bytes on to another, until it is closed: pods reach a server that
// listens on loopback. TLS goes through untouched.
func Forward(listen, target string) (io.Closer, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen for pods: %w", err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				time.Sleep(50 * time.Millisecond) // out of file descriptors: let some connections end
				continue
			}
			go pass(conn, target)
		}
	}()
	return listener, nil
}

// hangUp closes a connection that is not needed any more; whether that fails changes nothing.
func hangUp(conn net.Conn) { _ = conn.Close() }

func pass(from net.Conn, target string) {
	defer hangUp(from)
	to, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		return // the client sees its connection end, as it would at a server that has stopped
	}
	defer hangUp(to)
	var both sync.WaitGroup
	for _, way := range []struct{ to, from net.Conn }{{to, from}, {from, to}} {
		both.Go(func() {
			_, _ = io.Copy(way.to, way.from)
			if half, ok := way.to.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
}
