package image

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/opencontainers/go-digest"
	"k8s.io/utils/clock"
)

// Policies is what a Verifier also implements when its policy can change while
// the program runs.
type Policies interface {
	// Configured reports whether there is a policy at all.
	Configured() bool
	// Digest identifies the content of the policies as they are now; it is
	// empty when none is configured.
	Digest() (string, error)
}

// undecided marks the error of a Verifier that could not decide, such as for a
// registry that does not answer.
type undecided struct{ error }

// Unwrap returns the cause.
func (e undecided) Unwrap() error { return e.error }

// Undecided returns an error for an image that is not used because nothing can
// be decided on it, such as where it is not known which one it is.
func Undecided(err error) error { return undecided{err} }

// IsUndecided reports whether an image was not used because the Verifier could
// not decide on it. Errors of kind Unverified are decided.
func IsUndecided(err error) bool {
	var u undecided
	return errors.As(err, &u)
}

// ErrUnreadablePolicy is in the chain of the error of kind Unverified that a
// Verifier returns while its policies cannot be read. No image is accepted then,
// but none is refused for what it is.
var ErrUnreadablePolicy = errors.New("the signature policy cannot be read")

// Refuses reports whether an error is the decision of a policy that the image
// may not be used. While it cannot be decided, or the policy cannot be read, the
// image is not used either, but what was begun with it is left alone.
func Refuses(err error) bool {
	return KindOf(err) == Unverified && !IsUndecided(err) && !errors.Is(err, ErrUnreadablePolicy)
}

// Verifies reports whether images of the store need a verification before they
// are used.
func (s *Store) Verifies() bool {
	if policies, ok := s.config.Verifier.(Policies); ok {
		return policies.Configured()
	}
	return s.config.Verifier != nil
}

// Policy identifies the signature policy as it is now; it is empty when there is
// none. What was decided under another policy has to be decided again.
func (s *Store) Policy() string {
	policies, ok := s.config.Verifier.(Policies)
	if !ok {
		return ""
	}
	current, err := policies.Digest()
	if err != nil {
		// This stands for the digest of policies that cannot be read for that reason. Nothing is verified under them, but their
		// messages are about the error as it is now
		return "unreadable " + digest.FromString(err.Error()).Encoded()
	}
	return current
}

// PolicyInterval is how often a PolicyWatch reads the policy.
const PolicyInterval = 10 * time.Second

// PolicyWatch calls its listeners after the signature policy of a Store has
// changed, so that they verify again what they use.
type PolicyWatch struct {
	Store *Store
	Clock clock.WithTicker

	mu        sync.Mutex
	listeners []func()
}

// OnChange registers a listener. It must not block.
func (w *PolicyWatch) OnChange(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners = append(w.listeners, f)
}

// NeedLeaderElection reports that every manager watches the policy.
func (w *PolicyWatch) NeedLeaderElection() bool { return false }

// Start compares the policy with what it was until the context ends. A store
// without a Verifier has none.
func (w *PolicyWatch) Start(ctx context.Context) error {
	if w.Store.config.Verifier == nil {
		return nil
	}
	ticker := w.Clock.NewTicker(PolicyInterval)
	defer ticker.Stop()
	for before := w.Store.Policy(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if now := w.Store.Policy(); now != before {
			before = now
			w.mu.Lock()
			listeners := w.listeners
			w.mu.Unlock()
			for _, f := range listeners {
				f()
			}
		}
	}
}
