package devcluster

import (
	"context"
	"net"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"fairlead.dev/fairlead/test/must"
)

func reserve(t *testing.T, preferred int) *reservedPort {
	t.Helper()
	p := must.Value(reservePort(preferred))(t)
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
	must.NoErrorf(t, err, "a child cannot listen on the port")
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
	first := must.Value(reservePort(0))(t)
	first.release()
	if again := reserve(t, first.number); again.number != first.number {
		t.Errorf("the free preferred port %d was not taken, but %d", first.number, again.number)
	}
	listener := must.Value(net.Listen("tcp", net.JoinHostPort(loopback, "0")))(t)
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	if p := reserve(t, taken); p.number == taken {
		t.Error("a port that somebody listens on was reserved")
	}
}
