package registration

import (
	"bytes"
	"sync"

	"fairlead.dev/fairlead/internal/certs"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Certificate is what the server shows, exchanged while it serves. Its zero value has none yet.
type Certificate struct {
	mu        sync.RWMutex
	current   certs.Serving
	listeners []dynamiccertificates.Listener
}

var _ dynamiccertificates.CertKeyContentProvider = &Certificate{}

// Name is what logs call it.
func (c *Certificate) Name() string { return ServiceName }

// CurrentCertKeyContent is the certificate and its key.
func (c *Certificate) CurrentCertKeyContent() (certificate, key []byte) {
	s := c.get()
	return s.Certificate, s.Key
}

// AddListener registers who is told of a change.
func (c *Certificate) AddListener(l dynamiccertificates.Listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, l)
}

func (c *Certificate) get() certs.Serving {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.current
}

// set exchanges the certificate.
func (c *Certificate) set(s certs.Serving) {
	c.mu.Lock()
	c.current = s
	listeners := c.listeners
	c.mu.Unlock()
	for _, l := range listeners {
		l.Enqueue()
	}
}

func same(a, b certs.Serving) bool {
	return bytes.Equal(a.Certificate, b.Certificate) && bytes.Equal(a.Key, b.Key)
}
