package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/internal/messages"
)

// pollInterval is how often an object is read that is waited for. An edge waits for several, so that this is a part of what it takes.
const pollInterval = 40 * time.Millisecond

// stuckError says that what was waited for does not come, and why.
type stuckError struct{ reason string }

// Error is the reason alone: the finding says what was waited for.
func (e *stuckError) Error() string { return e.reason }

// isStuck reports whether an error is about what is tested rather than about the test.
func isStuck(err error) bool { return errors.As(err, new(*stuckError)) }

// state is how far an object is that is waited for.
type state struct {
	done bool
	// final says that nothing more happens by itself.
	final  bool
	reason string
}

// await returns when look finds that all is done, and a *stuckError when that does not come: when nothing more happens, when the same reason has lasted too
// long, or when the time is up. What only looks final for a moment, while the manager hears of a change, is waited for as well.
func (r *run) await(ctx context.Context, look func(context.Context) (state, error)) error {
	var last state
	since, finals := time.Now(), 0
	for deadline := since.Add(r.Timeout); ; {
		now, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case now.done:
			return nil
		case now != last:
			last, since, finals = now, time.Now(), 0
		case now.final:
			finals++
		}
		if lasted := time.Since(since); finals >= finalPolls || lasted > r.Standstill || time.Now().After(deadline) {
			return &stuckError{messages.Clean(last.reason)}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}

// finalPolls is how often in a row something has to look final.
const finalPolls = 25

// shortly is how long is waited for what controllers do in the background, such as the removal of what nothing owns any more.
const shortly = 15 * time.Second

// vanish waits until objects are gone, and returns those that stay.
func (r *run) vanish(ctx context.Context, objects []object) ([]object, error) {
	for deadline := time.Now().Add(shortly); ; {
		var left []object
		for _, o := range objects {
			there, err := r.stays(ctx, o)
			if err != nil {
				return nil, fmt.Errorf("look whether %s is gone: %w", o, err)
			}
			if there {
				left = append(left, o)
			}
		}
		if objects = left; len(left) == 0 || time.Now().After(deadline) {
			return left, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}
