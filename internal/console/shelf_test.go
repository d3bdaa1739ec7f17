package console

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	testclock "k8s.io/utils/clock/testing"
)

// emptyShelf has catalogs that serve the same all the time.
func emptyShelf(c *testclock.FakeClock) *shelf {
	s := newShelf(nil, "olm", c)
	s.served = func(context.Context, *User, string) string { return "" }
	return s
}

// TestShelfFollowsCatalogs: what was added a moment ago is offered to who waits for it, and a page that does not wait is informed.
func TestShelfFollowsCatalogs(t *testing.T) {
	s := emptyShelf(testclock.NewFakeClock(time.Now()))
	served := "a"
	s.served = func(context.Context, *User, string) string { return served }
	s.browse = func(context.Context, *User, string) (preview.Answer, error) {
		return preview.Answer{Read: len(served)}, nil
	}
	user := &User{}
	for _, served = range []string{"a", "ab", "abc"} {
		answer, _, err := s.offers(t.Context(), user, "shop", true)
		must.NoError(t, err)
		must.Equal(t, "of "+served, answer.Read, len(served))
	}
}

// TestShelf: catalogs are read once for all who ask, a page does not wait for them, and is informed; what was read before is shown while it is read again.
func TestShelf(t *testing.T) {
	clock := testclock.NewFakeClock(time.Now())
	s := emptyShelf(clock)
	var begun atomic.Int32
	end := make(chan error)
	s.browse = func(context.Context, *User, string) (preview.Answer, error) {
		begun.Add(1)
		return preview.Answer{Read: int(begun.Load())}, <-end
	}
	user, changed := &User{}, make(chan struct{}, 10)
	defer user.listen(func() { changed <- struct{}{} })()
	ask := func() (int, bool, error) {
		t.Helper()
		answer, reading, err := s.offers(t.Context(), user, "shop", false)
		return answer.Read, reading, err
	}
	expect := func(what string, wantRead int, wantReading bool, wantBegun int32) {
		t.Helper()
		read, reading, err := ask()
		if err != nil || read != wantRead || reading != wantReading || begun.Load() != wantBegun {
			t.Errorf("%s: read %d, reading %v, error %v, begun %d; want %d, %v, none, %d", what, read, reading, err, begun.Load(), wantRead, wantReading, wantBegun)
		}
	}
	expect("the first reading takes long", 0, true, 1)
	expect("another page joins it", 0, true, 1)
	end <- nil
	<-changed
	expect("the reading has ended", 1, false, 1)
	clock.Step(fresh + time.Second)
	expect("what is old is shown while it is read", 1, false, begun.Load())
	must.Eventually(t, "the second reading to begin", func() error {
		if begun.Load() != 2 {
			return errors.New("it has not")
		}
		return nil
	})
	end <- errors.New("the cluster is gone")
	<-changed
	if _, _, err := ask(); err == nil {
		t.Error("a failure is not shown")
	}
	clock.Step(retry + time.Second)
	_, _, _ = ask()
	end <- nil
	<-changed
	expect("it is read again after a failure", 3, false, 3)
}

// TestShelfForPrograms: who asks for the whole answer waits for it, as long as they like.
func TestShelfForPrograms(t *testing.T) {
	s := emptyShelf(testclock.NewFakeClock(time.Now()))
	s.browse = func(context.Context, *User, string) (preview.Answer, error) {
		time.Sleep(2 * patience)
		return preview.Answer{Read: 1}, nil
	}
	answer, reading, err := s.offers(t.Context(), &User{}, "shop", true)
	if answer.Read != 1 || reading || err != nil {
		t.Errorf("got %d, reading %v, error %v", answer.Read, reading, err)
	}
	s.browse = func(context.Context, *User, string) (preview.Answer, error) { select {} }
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := s.offers(ctx, &User{}, "other", true); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the program did not wait any longer", err)
	}
}

// TestShelfIsBounded: the offers of many namespaces do not fill the memory.
func TestShelfIsBounded(t *testing.T) {
	s := emptyShelf(testclock.NewFakeClock(time.Now()))
	s.browse = func(context.Context, *User, string) (preview.Answer, error) { return preview.Answer{}, nil }
	user := &User{}
	for i := range 3 * maxOffers {
		if _, _, err := s.offers(t.Context(), user, string(rune('a'+i)), true); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.kept.kept) > maxOffers {
		t.Errorf("%d offers are kept, at most %d may be", len(s.kept.kept), maxOffers)
	}
}
