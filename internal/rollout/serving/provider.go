package serving

import (
	"bytes"
	"sync"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Provider is what a server serves, exchanged while it runs. Before the first Store.Show it has no content.
type Provider struct {
	name      string
	mu        sync.RWMutex
	current   Certificate
	listeners []dynamiccertificates.Listener
}

var _ dynamiccertificates.CertKeyContentProvider = &Provider{}

// Name is the name of the certificate in logs.
func (c *Provider) Name() string { return c.name }

// CurrentCertKeyContent is the certificate and its key.
func (c *Provider) CurrentCertKeyContent() (certificate, key []byte) {
	s := c.Serving()
	return s.Certificate, s.Key
}

// AddListener registers a listener for changes of the certificate.
func (c *Provider) AddListener(l dynamiccertificates.Listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, l)
}

// Serving is the certificate with its CA bundle.
func (c *Provider) Serving() Certificate {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.current
}

// set exchanges the certificate.
func (c *Provider) set(s Certificate) {
	c.mu.Lock()
	c.current = s
	listeners := c.listeners
	c.mu.Unlock()
	for _, l := range listeners {
		l.Enqueue()
	}
}

// Same reports whether both are one certificate with one key, whatever their CA bundles.
func Same(a, b Certificate) bool {
	return bytes.Equal(a.Certificate, b.Certificate) && bytes.Equal(a.Key, b.Key)
}
