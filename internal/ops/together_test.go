package ops

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// TestTogether: as many at once as may, errors in the order of the things, and a fault where it was asked for.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		begun := time.Now()
		first, second := errors.New("the first in order, which ends last"), errors.New("the second")
		failed := together(2*atOnce, func(i int) error {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			switch i {
			case 1:
				time.Sleep(2 * time.Second)
				return first
			case 2:
				return second
			}
			time.Sleep(time.Second)
			return nil
		})
		must.Equal(t, "things", len(failed), 2*atOnce)
		if failed[0] != nil || failed[1] != first || failed[2] != second {
			t.Errorf("errors %v", failed)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("they took %s", took)
		}
		if n := most.Load(); n < 2 || n > atOnce {
			t.Errorf("%d at once, want %d at most", n, atOnce)
		}
	})
	defer func() {
		if fault, _ := recover().(string); !strings.Contains(fault, "nil map") || !strings.Contains(fault, "together_test.go") {
			t.Errorf("the fault is %q", fault)
		}
	}()
	together(3, func(i int) error {
		if i == 1 {
			panic("nil map")
		}
		return nil
	})
	t.Error("the fault is lost")
}
