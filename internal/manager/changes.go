package manager

import "sync"

// changes tells listeners that come and go that something has changed. Its zero value tells no one.
type changes struct {
	mu   sync.Mutex
	told func()
}

// call sets who is told, until the returned function is called.
func (c *changes) call(f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = nil
	}
}

// happened tells of a change.
func (c *changes) happened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told != nil {
		c.told()
	}
}
