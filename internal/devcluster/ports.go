package devcluster

import (
	"fmt"
	"net"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// reservedPort is a loopback TCP port that is bound but not listened on: no one else is given it, and a child that binds
// with SO_REUSEPORT can listen on it. There is no moment at which another process could take it.
type reservedPort struct {
	number int
	fd     int
}

// reservePort takes the preferred port, or a free one when that is 0 or taken.
func reservePort(preferred int) (*reservedPort, error) {
	port, err := bindPort(preferred)
	if err != nil && preferred != 0 {
		port, err = bindPort(0)
	}
	if err != nil {
		return nil, fmt.Errorf("reserve a port on loopback: %w", err)
	}
	return port, nil
}

func bindPort(number int) (*reservedPort, error) {
	if number != 0 && portAnswers(number) {
		return nil, fmt.Errorf("port %d is taken", number)
	}
	syscall.ForkLock.RLock() // no child may be started between these two calls, it would inherit the socket
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	p := &reservedPort{fd: fd}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		p.release()
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		p.release()
		return nil, err
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		p.release()
		return nil, err
	}
	p.number = address.(*unix.SockaddrInet4).Port
	return p, nil
}

// portAnswers finds servers that share their port with SO_REUSEPORT, which a bind alone would not.
func portAnswers(number int) bool {
	conn, err := net.Dial("tcp", net.JoinHostPort(loopback, strconv.Itoa(number)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func (p *reservedPort) release() { _ = unix.Close(p.fd) }
