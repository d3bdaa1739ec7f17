package platform

import (
	"crypto/tls"
	"sync"
)

// Source holds the profile in force, which all servers and clients of a process share. A following Source changes with the cluster-wide
// profile: each connection has the profile that was in force when it was opened. A nil Source changes nothing.
type Source struct {
	follows bool
	initial Profile

	mu      sync.Mutex
	profile Profile
	chosen  bool          // by flags or by the cluster: clients have it, too
	changed chan struct{} // closed with the next change
}

// NewSource returns a Source. One that follows accepts the profile of the cluster: servers have the given one until then, and where there is
// none. One that does not never changes: the profile was chosen explicitly.
func NewSource(p Profile, follows bool) *Source {
	return &Source{follows: follows, initial: p, profile: p, chosen: !follows, changed: make(chan struct{})}
}

// Follows reports whether the profile may change.
func (s *Source) Follows() bool { return s != nil && s.follows }

// Profile returns the one in force.
func (s *Source) Profile() Profile {
	if s == nil {
		return Profile{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profile
}

// Set puts the profile of the cluster in force and reports whether that changes anything; nil puts the first one in force again, because the
// cluster has none any more. A fixed Source keeps its own.
func (s *Source) Set(cluster *Profile) bool {
	if !s.Follows() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, chosen := s.initial, cluster != nil
	if chosen {
		p = *cluster
	}
	if s.profile.Equal(p) && s.chosen == chosen {
		return false
	}
	s.profile, s.chosen = p, chosen
	close(s.changed)
	s.changed = make(chan struct{})
	return true
}

// Changed returns a channel that is closed with the next change, for servers that cannot choose a configuration for each connection.
func (s *Source) Changed() <-chan struct{} {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Apply changes a configuration of a server to the profile in force; ForClients does so for each connection.
func (s *Source) Apply(c *tls.Config) { s.Profile().Apply(c) }

// ForClients wraps the GetConfigForClient of a server, so that every new connection has the profile in force. The function that it wraps
// must return a configuration of its own for each call, as those of dynamiccertificates do.
func (s *Source) ForClients(next func(*tls.ClientHelloInfo) (*tls.Config, error)) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		c, err := next(hello)
		if err == nil && c != nil {
			s.Apply(c)
		}
		return c, err
	}
}

// Client returns a configuration for one connection of a client, with the profile in force; nil when neither a flag nor the cluster has
// chosen one, because others' servers may have good reasons to speak as they do.
func (s *Source) Client() *tls.Config {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.chosen {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	s.profile.Apply(c)
	return c
}
