package packageserver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/fairlead/test/must"
)

func TestAServerWithRequestsThatDoNotEndIsNotWaitedForForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		began := time.Now()
		err := untilDrained(ctx, make(chan error))
		if waited := time.Since(began); err == nil || !strings.Contains(err.Error(), "still under way 5s") || waited != drainTime {
			t.Errorf("after %s got %v, want after %s that requests were still under way", waited, err, drainTime)
		}
	})
}

func TestAServerThatEndsIsHeard(t *testing.T) {
	failed := errors.New("the address is in use")
	ended := make(chan error, 1)
	ended <- failed
	if err := untilDrained(t.Context(), ended); !errors.Is(err, failed) {
		t.Errorf("got %v, want what the server said", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			stop()
			time.Sleep(time.Second)
			ended <- nil
		}()
		must.NoErrorf(t, untilDrained(ctx, ended), "requests came to their end after a second, yet")
	})
}
