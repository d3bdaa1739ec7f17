package ops

import (
	"context"
	"fmt"
	"runtime/debug"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// atOnce is how many requests of one question are under way at once: the API server shares its time among users by requests in flight.
const atOnce = 8

// together does n things at once, as far as atOnce lets it, and returns their errors in the order of the things: what is told does not depend on which request
// was quicker. A panic is one of the caller, as if they had been done one after the other: what is read was written by others, and must not end the program.
func together(n int, do func(i int) error) []error {
	failed, faults := make([]error, n), make([]any, n)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			defer func() {
				if fault := recover(); fault != nil {
					faults[i] = fmt.Sprintf("%v\n%s", fault, debug.Stack())
				}
			}()
			failed[i] = do(i)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	for _, fault := range faults {
		if fault != nil {
			panic(fault)
		}
	}
	return failed
}

// reading is a list that is asked for together with others.
type reading struct {
	// what is listed, and what follows where the user may not list it.
	what, follows string
	list          client.ObjectList
	options       []client.ListOption
}

// lists lists objects at once. Refused are those that the user may not list.
func (r *OperatorReader) lists(ctx context.Context, all ...reading) (refused map[client.ObjectList]bool, err error) {
	return readLists(ctx, r.Reader, r.note, all...)
}

// readLists lists objects at once. Refused are those that the user may not list, which are noted.
func readLists(ctx context.Context, reader client.Reader, note func(string), all ...reading) (refused map[client.ObjectList]bool, err error) {
	refused = map[client.ObjectList]bool{}
	failed := together(len(all), func(i int) error { return reader.List(ctx, all[i].list, all[i].options...) })
	for i, one := range all {
		if refused[one.list], err = judgeList(failed[i], one.what, one.follows, note); err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// judgeList is what became of a list. A kind that the user may not list is noted, and one that the cluster does not have has none.
func judgeList(err error, what, follows string, note func(string)) (refused bool, _ error) {
	switch {
	case apierrors.IsForbidden(err):
		note(messages.Unseen(err, what, follows))
		return true, nil
	case rollout.IsUnknownKind(err), err == nil:
		return false, nil
	}
	return false, fmt.Errorf("list the %s: %w", what, err)
}
