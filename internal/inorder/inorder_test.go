package inorder

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAllAreDoneAtMostSoManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, done atomic.Int64
		start := time.Now()
		err := Each(t.Context(), 10, 3, func(context.Context, int) error {
			if now := running.Add(1); now > most.Load() {
				most.Store(now)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			done.Add(1)
			return nil
		})
		if err != nil || done.Load() != 10 || most.Load() != 3 || time.Since(start) != 4*time.Second {
			t.Errorf("error %v, %d done, %d at once, after %s", err, done.Load(), most.Load(), time.Since(start))
		}
	})
}

func TestTheFirstInOrderIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int64
		err := Each(t.Context(), 100, 4, func(_ context.Context, i int) error {
			started.Add(1)
			if i < 2 {
				time.Sleep(time.Duration(5-i) * time.Second) // the lower number fails later
				return fmt.Errorf("number %d", i)
			}
			time.Sleep(time.Second)
			return nil
		})
		if err == nil || err.Error() != "number 0" {
			t.Errorf("error %v", err)
		}
		if n := started.Load(); n > 12 {
			t.Errorf("%d were started after a failure", n)
		}
	})
}

func TestACancelledContextEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	err := Each(ctx, 5, 1, func(_ context.Context, i int) error {
		if i == 1 {
			cancel(why)
		}
		return nil
	})
	if !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	if err := Each(ctx, 0, 1, nil); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}
