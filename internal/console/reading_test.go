package console

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/fairlead/test/must"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestReadings: a page does not wait for long, what was read is shown while it is read again, and a failure is tried again.
func TestReadings(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	answers, done := make(chan any), make(chan string, 1)
	l, user := newReadings[string, int](clock, 2), &User{}
	defer user.listen(func() { done <- "k" })()
	ask := func(version string, whole bool) (int, bool, error) {
		return l.of(t.Context(), "k", version, whole, user, func(context.Context) (int, error) {
			switch answer := (<-answers).(type) {
			case error:
				return 0, answer
			case int:
				return answer, nil
			}
			return 0, nil
		})
	}
	read := func(answer any) {
		answers <- answer
		must.Equal(t, "the pages follow", <-done, "k")
	}
	get := func(version string) (int, bool) {
		value, reading, err := ask(version, false)
		must.NoError(t, err)
		return value, reading
	}
	_, reading := get("1")
	must.Equal(t, "being read", reading, true)
	read(7)
	value, reading := get("1")
	must.Equal(t, "read", value, 7)
	must.Equal(t, "not being read", reading, false)
	value, reading = get("2")
	must.Equal(t, "the old one, while a new one is read", []any{value, reading}, []any{7, false})
	read(8)
	value, _ = get("2")
	must.Equal(t, "the new one", value, 8)
	clock.SetTime(clock.Now().Add(fresh + time.Second))
	value, _ = get("2")
	must.Equal(t, "shown while it is read again", value, 8)
	read(errors.New("no catalog"))
	_, _, err := ask("2", false)
	must.Fail(t, "a failure", err, "no catalog")
	clock.SetTime(clock.Now().Add(retry + time.Second))
	_, _, err = ask("2", false)
	must.Fail(t, "shown while it is tried again", err, "no catalog")
	go read(9)
	value, reading, err = ask("2", true)
	must.NoError(t, err)
	must.Equal(t, "whole waits for it", []any{value, reading}, []any{9, false})
}

// TestOldReadings: what is old is not shown while it is read again, and who asks for it as it is now does not get what was read before.
func TestOldReadings(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	l, user := newReadings[string, int](clock, 2), &User{}
	goOn, n := make(chan struct{}, 1), 0
	read := func(context.Context) (int, error) {
		<-goOn
		n++
		return n, nil
	}
	goOn <- struct{}{}
	value, _, err := l.get(t.Context(), "k", true, user, read)
	must.NoError(t, err)
	must.Equal(t, "the first", value, 1)
	goOn <- struct{}{}
	value, _, err = l.again(t.Context(), "k", "", user, read)
	must.NoError(t, err)
	must.Equal(t, "as it is now", value, 2)
	clock.SetTime(clock.Now().Add(stale + time.Second))
	follows := context.WithValue(t.Context(), followingKey{}, true)
	value, reading, err := l.get(follows, "k", false, user, read)
	must.NoError(t, err)
	must.Equal(t, "a page that follows keeps what it shows", []any{value, reading}, []any{2, false})
	value, reading, err = l.get(t.Context(), "k", false, user, read)
	must.NoError(t, err)
	must.Equal(t, "nothing old", []any{value, reading}, []any{0, true})
	goOn <- struct{}{}
	value, _, err = l.get(t.Context(), "k", true, user, read)
	must.NoError(t, err)
	must.Equal(t, "read again", value, 3)
}

// TestReadingsRest: pages ask for all that they show when one of it is there, and when the cluster changes; what takes long is not read all the time for that.
func TestReadingsRest(t *testing.T) {
	for name, test := range map[string]struct {
		fails error
		other bool // the version is another one each time
		most  int32
	}{
		"failures": {errors.New("no registry"), false, 14},
		"values":   {nil, false, 16},
		"changes":  {nil, true, 50},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, user, changes, version := newReadings[time.Duration, int](clock.RealClock{}, 20), &User{}, make(chan struct{}, 1), 0
				defer user.listen(func() {
					select {
					case changes <- struct{}{}:
					default:
					}
				})()
				var begun atomic.Int32
				ask := func() {
					if test.other {
						version++
					}
					for _, takes := range []time.Duration{7 * time.Second, 13 * time.Second} {
						_, _, _ = l.of(context.WithValue(t.Context(), followingKey{}, true), takes, strconv.Itoa(version), false, user, func(context.Context) (int, error) {
							begun.Add(1)
							time.Sleep(takes)
							return 1, test.fails
						})
					}
				}
				end := time.After(10 * time.Minute)
				for ask(); ; {
					select {
					case <-changes:
						ask()
						continue
					case <-end:
					}
					break
				}
				if n := begun.Load(); n < 2 || n > test.most {
					t.Errorf("%d readings in ten minutes, want 2 to %d", n, test.most)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestAsItIsNow: what began to be read before a person asks is not what they get.
func TestAsItIsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, user, n := newReadings[string, int](clock.RealClock{}, 2), &User{}, 0
		read := func(context.Context) (int, error) {
			n++
			mine := n
			time.Sleep(time.Minute)
			return mine, nil
		}
		_, under, err := l.get(t.Context(), "k", false, user, read)
		must.NoError(t, err)
		must.Equal(t, "being read", under, true)
		value, under, err := l.again(t.Context(), "k", "", user, read)
		must.NoError(t, err)
		must.Equal(t, "the one that began after", []any{value, under}, []any{2, false})
	})
}

// TestPatience: a page with many things to read waits for them as long as for one.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, user, end := newReadings[int, int](clock.RealClock{}, 20), &User{}, make(chan struct{})
		page, begun := patient(t.Context()), time.Now()
		for i := range 10 {
			_, under, err := l.get(page, i, false, user, func(context.Context) (int, error) { <-end; return 1, nil })
			must.NoError(t, err)
			must.Equal(t, "being read", under, true)
		}
		must.Equal(t, "it has waited", time.Since(begun), patience)
		close(end)
		synctest.Wait()
		for i := range readersOfUser {
			value, under, err := l.get(page, i, false, user, nil)
			must.NoError(t, err)
			must.Equal(t, "read", []any{value, under}, []any{1, false})
		}
	})
}

// TestTurns: one user reads so many things at once, whatever is asked for; another one does not wait for that.
func TestTurns(t *testing.T) {
	l, user := newReadings[int, int](clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0)), 2), &User{}
	var now, most atomic.Int32
	goOn := make(chan struct{})
	read := func(context.Context) (int, error) {
		defer now.Add(-1)
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-goOn
		return 1, nil
	}
	ended := make(chan struct{}, 5*readersOfUser)
	defer user.listen(func() { ended <- struct{}{} })()
	impatient := context.WithValue(t.Context(), patientKey{}, time.Now())
	for i := range 5 * readersOfUser {
		_, _, err := l.get(impatient, i, false, user, read)
		must.NoError(t, err)
	}
	must.Eventually(t, "as many as may", func() error {
		if n := now.Load(); n != readersOfUser {
			return fmt.Errorf("%d read", n)
		}
		return nil
	})
	value, _, err := l.get(t.Context(), -1, true, &User{}, func(context.Context) (int, error) { return 7, nil })
	must.NoError(t, err)
	must.Equal(t, "another user", value, 7)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = turn(ctx, user, read)
	must.Fail(t, "who does not wait any more", err, "wait for what you have asked for before")
	close(goOn)
	for range 5 * readersOfUser {
		<-ended
	}
	must.Equal(t, "at once", most.Load(), int32(readersOfUser))
}

// TestFaultsOfReadings: a fault of the program is an error of what it happened in, and of nothing else.
func TestFaultsOfReadings(t *testing.T) {
	l := newReadings[string, int](clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0)), 2)
	_, _, err := l.get(t.Context(), "k", true, &User{}, func(context.Context) (int, error) { panic("index out of range") })
	must.Fail(t, "a reading", err, "read it: the program has a fault there; please report it, with the log of the console: index out of range")
	_, err = guarded(t.Context(), nil, func(context.Context, func(string)) (string, error) { panic("nil map") })
	must.Fail(t, "a job", err, "do it: the program has a fault there")
}
