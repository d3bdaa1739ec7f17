package manager

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/fairlead/test/must"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// storedLease is a lease that no cluster keeps. A write takes as long as is said, and fails then where the API server does not answer.
type storedLease struct {
	takes  time.Duration
	stalls bool
	holder string
}

func (s *storedLease) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &resourcelock.LeaderElectionRecord{HolderIdentity: s.holder}, nil, nil
}
func (s *storedLease) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return s.Update(ctx, r)
}
func (s *storedLease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if s.stalls {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(s.takes)
	s.holder = r.HolderIdentity
	return nil
}
func (*storedLease) RecordEvent(string) {}
func (*storedLease) Identity() string   { return "me" }
func (*storedLease) Describe() string   { return "olm/lease" }

func isLost(l *lease) bool {
	synctest.Wait()
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// TestALeaseIsLostBeforeAnotherManagerMayTakeIt: counted from when the last renewal was sent, however long that took, and then it is written no more.
func TestALeaseIsLostBeforeAnotherManagerMayTakeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := &storedLease{takes: time.Second}
		l := newLease(leaseFence)
		l.Interface = stored
		mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
		must.NoError(t, l.Create(t.Context(), mine))
		time.Sleep(10 * time.Second)
		must.NoError(t, l.Update(t.Context(), mine))
		renewed := time.Now().Add(-stored.takes)
		stored.stalls = true
		if err := l.Update(t.Context(), mine); !errors.Is(err, context.DeadlineExceeded) || time.Since(renewed) != stored.takes+leaseRequest {
			t.Errorf("a renewal that gets no answer ends with %v after %s, want it to end %s after it began", err, time.Since(renewed), leaseRequest)
		}
		time.Sleep(time.Until(renewed.Add(leaseFence - time.Millisecond)))
		must.Equal(t, "lost before its time", isLost(l), false)
		time.Sleep(time.Millisecond)
		must.Equal(t, "lost in time", isLost(l), true)
		stored.stalls, stored.holder = false, "another"
		if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{}); !errors.Is(err, errLeaseLost) || stored.holder != "another" {
			t.Errorf("a lease that was lost is given back: %v, it is that of %q", err, stored.holder)
		}
	})
}

// TestALeaseThatWasGivenBackIsNotLost, and neither is one that another manager has.
func TestALeaseThatWasGivenBackIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLease(leaseFence)
		l.Interface = &storedLease{}
		time.Sleep(time.Hour)
		must.Equal(t, "lost without ever having it", isLost(l), false)
		must.NoError(t, l.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}))
		must.NoError(t, l.Update(t.Context(), resourcelock.LeaderElectionRecord{}))
		time.Sleep(time.Hour)
		must.Equal(t, "lost after it was given back", isLost(l), false)
	})
}

// TestTimesOfTheLease: what the constants are chosen for.
func TestTimesOfTheLease(t *testing.T) {
	const between = leaseRetry * 22 / 10 // the library waits up to that between two attempts
	for what, holds := range map[string]bool{
		"a stall of 10 s is survived":                            leaseRetry+10*time.Second+leaseRequest < min(leaseRenewal, leaseFence),
		"a killed leader is replaced within 20 s, with 1 s left": leaseDuration+2*between <= 19*time.Second,
		"a leader ends 1 s before another one may begin":         leaseFence+time.Second <= leaseDuration,
	} {
		if !holds {
			t.Errorf("not so: %s", what)
		}
	}
}
