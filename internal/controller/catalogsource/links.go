package catalogsource

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc/connectivity"
	"k8s.io/utils/clock"

	"fairlead.dev/fairlead/catalog"
)

// remote is a registry server, and the connection to it.
type remote interface {
	Connect()
	State() connectivity.State
	Changed(ctx context.Context, from connectivity.State) bool
	Serving(ctx context.Context) error
	Outline(ctx context.Context) (string, error)
	Write(ctx context.Context, w io.Writer) (digest string, err error)
	Close() error
}

// dialer makes a connection to a server, whose certificate the authorities vouch for if there are any.
type dialer func(address string, authorities []byte) (remote, error)

// links are the connections to the registry servers of catalogs, one for each. A connection that is lost is tried again by itself; every
// change of its state brings the catalog back into the queue.
type links struct {
	dial    dialer
	changed func(catalog.Ref)
	clock   clock.PassiveClock

	mu   sync.Mutex
	open map[catalog.Ref]*link
}

// link is one connection.
type link struct {
	address, authorities string
	remote               remote
	cancel               context.CancelFunc

	mu   sync.Mutex
	seen connectivity.State
	now  linkState
}

// linkState is what is known of a connection.
type linkState struct {
	address   string
	state     connectivity.State
	connected time.Time // when the server was reached last
	session   int       // how many times it was reached
}

// to returns the connection of a catalog to an address, and makes it when there is none, or one that leads elsewhere. It lives until it is
// closed, or the program ends.
func (l *links) to(ctx context.Context, ref catalog.Ref, address string, authorities []byte) (*link, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.open[ref]
	if old != nil && old.address == address && old.authorities == string(authorities) {
		return old, nil
	}
	session := 0
	if old != nil {
		session = old.state().session
		old.close()
		delete(l.open, ref)
	}
	client, err := l.dial(address, authorities)
	if err != nil {
		return nil, fmt.Errorf("use spec.address: %w", err)
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	opened := &link{address: address, authorities: string(authorities), remote: client, cancel: cancel,
		seen: connectivity.Idle, now: linkState{address: address, state: connectivity.Connecting, session: session}}
	if l.open == nil {
		l.open = map[catalog.Ref]*link{}
	}
	l.open[ref] = opened
	client.Connect()
	go func() { // follow the state of the connection until it is closed
		for {
			state, news := opened.note(l.clock.Now())
			if news && l.changed != nil {
				l.changed(ref)
			}
			if state == connectivity.Idle {
				client.Connect()
			}
			if !client.Changed(watching, state) {
				return
			}
			opened.mu.Lock()
			if state == connectivity.Ready && opened.seen == state {
				opened.seen = connectivity.Idle // a connection that was lost and is there again by now counts as another one
			}
			opened.mu.Unlock()
		}
	}()
	return opened, nil
}

// note keeps the state of the connection, and reports whether that is news. A server that was reached counts as such until an attempt to
// reach it again has failed, and one that was not until it is reached: servers end connections now and then, and attempts continue for ever.
func (k *link) note(now time.Time) (state connectivity.State, news bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	state = k.remote.State()
	if state == k.seen {
		return state, false
	}
	k.seen = state
	switch state {
	case connectivity.Ready:
		k.now.state, k.now.connected = state, now
		k.now.session++
		return state, true
	case connectivity.TransientFailure:
		news = k.now.state != state
		k.now.state = state
	}
	return state, news
}

func (k *link) state() linkState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

func (k *link) close() {
	k.cancel()
	_ = k.remote.Close() // no one reads from it any more
}

// state is that of the connection of a catalog, with an empty address when there is none.
func (l *links) state(ref catalog.Ref) linkState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.open[ref]; k != nil {
		return k.state()
	}
	return linkState{}
}

// close ends the connection of a catalog.
func (l *links) close(ref catalog.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.open[ref]; k != nil {
		k.close()
		delete(l.open, ref)
	}
}

// closeAll ends all connections.
func (l *links) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ref, k := range l.open {
		k.close()
		delete(l.open, ref)
	}
}
