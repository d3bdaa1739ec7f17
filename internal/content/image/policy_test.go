package image

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// broken is a Verifier whose policies cannot be read.
type broken struct {
	asked
	mu  sync.Mutex
	err error
}

func (b *broken) Configured() bool { return true }

func (b *broken) Digest() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return "", b.err
}

// TestAnotherErrorIsAnotherPolicy: who mends one error of a policy and makes another is told of that one.
func TestAnotherErrorIsAnotherPolicy(t *testing.T) {
	t.Parallel()
	v := &broken{err: errors.New("line 1")}
	s := openStore(t, Config{Verifier: v})
	first := s.Policy()
	if first == "" || s.Policy() != first {
		t.Errorf("the same error is %q, then %q", first, s.Policy())
	}
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	changes := make(chan struct{}, 10)
	watch := &PolicyWatch{Store: s, Clock: clock}
	watch.OnChange(func() { changes <- struct{}{} })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- watch.Start(ctx) }()
	for !clock.HasWaiters() {
		time.Sleep(time.Millisecond)
	}
	v.mu.Lock()
	v.err = errors.New("line 2")
	v.mu.Unlock()
	clock.Step(PolicyInterval)
	select {
	case <-changes:
	case <-time.After(10 * time.Second):
		t.Error("nothing is told of another error")
	}
	cancel()
	if err := <-ended; err != nil || s.Policy() == first {
		t.Errorf("policy %q, %v", s.Policy(), err)
	}
}
