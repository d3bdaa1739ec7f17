package catalogsource

import (
	"context"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/catalog"
)

// loading is a load that ends when the test wants it.
func loading(t *testing.T, l *loads) (begun *load, end func()) {
	t.Helper()
	goOn := make(chan struct{})
	begun = l.begin(t.Context(), ref, "spec", 0, func(context.Context) (reading, error) {
		<-goOn
		return reading{}, nil
	})
	begun.wait(t.Context(), 0, true)
	return begun, func() { close(goOn) }
}

// TestOnlyALoadThatNobodyWaitedForIsToldOf: whoever waited has its outcome, and need not look a second time.
func TestOnlyALoadThatNobodyWaitedForIsToldOf(t *testing.T) {
	for name, test := range map[string]struct {
		waits time.Duration // 0 is for no one
		early bool          // the wait is over before the load is
		told  bool
	}{
		"nobody waits":              {0, false, true},
		"somebody waits":            {time.Minute, false, false},
		"somebody waited too short": {time.Millisecond, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			told := make(chan catalog.Ref, 1)
			l := &loads{finished: func(r catalog.Ref) { told <- r }}
			begun, end := loading(t, l)
			waited := make(chan bool, 1)
			switch {
			case test.early:
				if begun.wait(t.Context(), test.waits, false) {
					t.Fatal("it is done before its end")
				}
				end()
			case test.waits > 0:
				go func() { waited <- begun.wait(t.Context(), test.waits, false) }()
				for !begun.awaited() {
					time.Sleep(time.Millisecond)
				}
				end()
				if !<-waited {
					t.Fatal("who waits is not told")
				}
			default:
				end()
			}
			<-begun.done
			pause := 50 * time.Millisecond // long enough for a call that should not come
			if test.told {
				pause = time.Minute
			}
			select {
			case <-told:
				if !test.told {
					t.Error("told of, though somebody waited")
				}
			case <-time.After(pause):
				if test.told {
					t.Error("never told of")
				}
			}
			if !begun.wait(t.Context(), 0, false) {
				t.Error("it is not done after its end")
			}
		})
	}
}

// awaited reports whether a pass waits for it.
func (l *load) awaited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting > 0
}

// TestALoadThatIsWaitedForIsLookedAtOnce: each poll takes one look and not two.
func TestALoadThatIsWaitedForIsLookedAtOnce(t *testing.T) {
	w := newWorld(t, source(grpc(time.Minute)))
	told := make(chan catalog.Ref, 10)
	w.c.loads.finished = func(r catalog.Ref) { told <- r }
	for range 3 {
		w.reconcile()
		w.Clock.Step(2 * time.Minute)
	}
	time.Sleep(50 * time.Millisecond) // long enough for a call that should not come
	if w.registry.heads.Load() < 2 || len(told) != 0 {
		t.Errorf("%d polls, %d looks too many", w.registry.heads.Load(), len(told))
	}
}

// TestSlotsOfLoadsComeBack, however a load ends: with one slot any number of catalogs are read, one after the other.
func TestSlotsOfLoadsComeBack(t *testing.T) {
	l := &loads{slots: make(chan struct{}, 1)}
	for i := range 5 {
		begun, end := loading(t, l)
		if i%2 == 1 {
			l.end(ref) // its catalog is gone
		}
		end()
		if !begun.wait(t.Context(), 10*time.Second, false) {
			t.Fatalf("load %d finds no room, though the others have ended", i+1)
		}
		l.end(ref)
	}
	// One that is given up while it waits for room never had any.
	first, end := loading(t, l)
	for len(l.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	second := l.begin(t.Context(), catalog.Ref{Name: "second"}, "spec", 0, func(context.Context) (reading, error) { return reading{}, nil })
	if second.wait(t.Context(), 20*time.Millisecond, false) {
		t.Fatal("two are read at once, and there is room for one")
	}
	l.end(catalog.Ref{Name: "second"})
	if !second.wait(t.Context(), 10*time.Second, false) || second.err == nil {
		t.Error("one that is given up goes on waiting")
	}
	end()
	first.wait(t.Context(), 10*time.Second, false)
	must.Empty(t, "slots", l.slots)
}
