package realnode

import (
	"io"
	"net"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestForward passes bytes on both ways, and the end of one way before that of the other.
func TestForward(t *testing.T) {
	target := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer target.Close()
	go func() {
		conn, err := target.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		asked, _ := io.ReadAll(conn)
		_, _ = conn.Write(append([]byte("you said "), asked...))
	}()
	free := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := free.Addr().String()
	must.NoError(t, free.Close())
	forward := must.Value(Forward(address, target.Addr().String()))(t)
	_, err := Forward(address, target.Addr().String())
	must.Fail(t, "a second one at the same address", err, "listen for pods")
	conn := must.Value(net.Dial("tcp", address))(t)
	must.Value(conn.Write([]byte("hello")))(t)
	must.NoError(t, conn.(*net.TCPConn).CloseWrite())
	must.Equal(t, "what comes back", string(must.Value(io.ReadAll(conn))(t)), "you said hello")
	must.NoError(t, forward.Close())
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("it still accepts connections")
	}
}
