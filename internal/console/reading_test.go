package console

import (
	"context"
	"errors"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	clocktesting "k8s.io/utils/clock/testing"
)

// TestReadings: a page does not wait for long, what was read is shown while it is read again, and a failure is tried again.
func TestReadings(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	answers, done := make(chan any), make(chan string, 1)
	l := newReadings[string, int](clock, 2)
	ask := func(version string, whole bool) (int, bool, error) {
		return l.of(t.Context(), "k", version, whole, func() { done <- "k" }, func(context.Context) (int, error) {
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
