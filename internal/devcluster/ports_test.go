package devcluster

import (
	"context"
	"net"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func reserve(t *testing.T, preferred int) *reservedPort {
	t.Helper()
	p, err := reservePort(preferred)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.release)
	return p
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

func TestReservedPortIsNobodyElses(t *testing.T) {
	p := reserve(t, 0)
	if listener, err := net.Listen("tcp", address(p.number)); err == nil {
		listener.Close()
		t.Error("another program could listen on the port")
	}
	sharing := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var failed error
		err := conn.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if err == nil {
			err = failed
		}
		return err
	}}
	listener, err := sharing.Listen(context.Background(), "tcp", address(p.number))
	if err != nil {
		t.Fatalf("a child cannot listen on the port: %v", err)
	}
	defer listener.Close()
	go func() {
		if conn, err := listener.Accept(); err == nil {
			conn.Close()
		}
	}()
	if !portAnswers(p.number) {
		t.Error("connections do not reach the child")
	}
}

func TestPreferredPort(t *testing.T) {
	first, err := reservePort(0)
	if err != nil {
		t.Fatal(err)
	}
	first.release()
	if again := reserve(t, first.number); again.number != first.number {
		t.Errorf("the free preferred port %d was not taken, but %d", first.number, again.number)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	if p := reserve(t, taken); p.number == taken {
		t.Error("a port that somebody listens on was reserved")
	}
}
