package installplan

import (
	"io"
	"net"
	"sync"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// gate is a way to a server that can be closed: then connections break, and no new ones come about.
type gate struct {
	listener net.Listener
	target   string

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
	broken int
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	g := &gate{listener: listener, target: target, open: map[net.Conn]bool{}}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go g.pass(c)
		}
	}()
	return g
}

func (g *gate) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", g.target)
	if err != nil {
		return
	}
	defer to.Close()
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	g.open[from] = true
	g.mu.Unlock()
	go func() {
		_, _ = io.Copy(to, from)
		to.Close()
	}()
	_, _ = io.Copy(from, to)
	g.mu.Lock()
	delete(g.open, from)
	g.mu.Unlock()
}

// set closes or opens the gate.
func (g *gate) set(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = closed
	if closed {
		for c := range g.open {
			c.Close()
			g.broken++
		}
	}
}
