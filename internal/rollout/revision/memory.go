package revision

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// maxRemembered is how many bytes of objects a Memory holds: the Deployments of hundreds of extensions, but not all their definitions.
const maxRemembered = 16 << 20

// Memory keeps what was read from Secrets, so that a change of one object leads to no request for what that object is to be. It holds what
// was used last, as it is written, within a limit. It is safe for concurrent use; the zero value is empty.
type Memory struct {
	mu    sync.Mutex
	size  int
	known map[place]*list.Element
	order list.List // of *remembered, what was used last in front
}

// place is where something was read. It is of one set: what one may read, another one need not be allowed to.
type place struct {
	set    types.UID
	secret types.NamespacedName
	key    string
}

// remembered is what a key of a Secret held in a version of that.
type remembered struct {
	place
	version string
	data    []byte
}

// get returns what was read in a version of the Secret.
func (m *Memory) get(at place, version string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.known[at]
	if e == nil || e.Value.(*remembered).version != version {
		return nil, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*remembered).data, true
}

// put keeps what was read, in the place of what was used longest ago.
func (m *Memory) put(at place, version string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(m.known[at])
	if len(data) > maxRemembered/8 {
		return // it would take the place of too much else
	}
	if m.known == nil {
		m.known = map[place]*list.Element{}
	}
	m.known[at] = m.order.PushFront(&remembered{at, version, data})
	for m.size += len(data); m.size > maxRemembered; {
		m.drop(m.order.Back())
	}
}

// Forget drops what was read for a set.
func (m *Memory) Forget(set types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, e := range m.known {
		if at.set == set {
			m.drop(e)
		}
	}
}

func (m *Memory) drop(e *list.Element) {
	if e == nil {
		return
	}
	r := m.order.Remove(e).(*remembered)
	m.size -= len(r.data)
	delete(m.known, r.place)
}
