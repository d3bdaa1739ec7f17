package subscription

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"
)

// decision is what was found for a namespace.
type decision struct {
	groups []group
	// idle are Subscriptions that are left alone, with the reason.
	idle map[string]string
	// broken says why nothing could be decided at all.
	broken string
	// outdated are the Subscriptions for which something else is decided by now: what was decided does not go with what was observed
	// since, so nothing is reported of them before the namespace is reconciled again.
	outdated map[string]bool
}

// group is a decision for some Subscriptions, and what became of it.
type group struct {
	resolution.Group
	// installPlan is the plan that carries the decision out; nil when there is nothing to do, or no plan yet.
	installPlan *v1alpha1.InstallPlan
	// fetching and failures tell which bundles are still being fetched, and which could not be.
	fetching []string
	failures []fetchFailure
	// waitsFor is an earlier plan of the same Subscriptions that is still being carried out.
	waitsFor string
	// retryAt is when another plan is made in place of one that failed.
	retryAt time.Time
	// problem says why there can be no plan of these bundles, and unwritten why the plan could not be written.
	problem   string
	unwritten string
}

// decide lets the plan package decide on what was observed.
func (c *Controller) decide(ctx context.Context, s *state) (*decision, error) {
	found := &decision{}
	if n := len(s.Groups); n != 1 {
		advice := "delete all but one of them"
		if n == 0 {
			advice = fmt.Sprintf("create one, for example one without spec in namespace %s for operators that watch all namespaces", s.Name)
		}
		found.broken = fmt.Sprintf("expected 1 OperatorGroup in the namespace, found %d: %s", n, advice)
		return found, nil
	}
	input, idle := s.Input()
	found.idle = idle
	result, err := resolution.Namespace(ctx, input)
	if err != nil {
		return nil, fmt.Errorf("decide on the operators of namespace %s: %w", s.Name, err)
	}
	for _, g := range result.Groups {
		found.groups = append(found.groups, group{Group: g})
	}
	return found, nil
}
