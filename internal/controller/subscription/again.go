package subscription

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// attemptAnnotation on a plan counts the plans for the same content that were made because the one before failed.
	attemptAnnotation = "operators.fairlead.dev/attempt"
	// hasteAnnotation on a plan counts the plans for the same content, itself and those right before it, that were made early because
	// something had changed of what the one before failed on.
	hasteAnnotation = "operators.fairlead.dev/early-attempt"
)

// A failed plan stands for repeatFailed before another one is made for the same content: its cause may be gone by then. Each time that it
// is not, the next one stands for twice as long, up to repeatLongest.
const (
	repeatFailed  = 5 * time.Minute
	repeatLongest = time.Hour
)

// repeatEarly is how long a plan stands that was made early, and failed on something that has changed again. From then on it stands for as long
// as one of which nothing has changed: what changes all the time, as where two controllers overrule each other, says nothing of the prospects of
// another plan, and neither does what the API server only seems to take.
const repeatEarly = time.Minute

// standing is how long a failed plan stands. The first time that something changes of what it failed on, that is not waited for.
func standing(p *v1alpha1.InstallPlan) time.Duration {
	haste := count(p, hasteAnnotation)
	if p.Annotations[v1alpha1.RetryAnnotation] == "" || haste > 1 {
		return doubled(repeatFailed, max(count(p, attemptAnnotation)-1, haste-2), repeatLongest)
	}
	if haste == 1 {
		return repeatEarly
	}
	return 0
}

func doubled(pause time.Duration, times int, longest time.Duration) time.Duration {
	for range times {
		if pause *= 2; pause >= longest {
			return longest
		}
	}
	return pause
}

// count reads a number of an annotation; 0 when it has none.
func count(p *v1alpha1.InstallPlan, annotation string) int {
	n, err := strconv.Atoi(p.Annotations[annotation])
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// countOn notes on the next plan for what a group chose how many there were before it. What the last one failed on may have changed since;
// then it is the first, which was made early.
func (s *state) countOn(next *v1alpha1.InstallPlan, g *group) {
	for i := range s.Plans {
		p := &s.Plans[i]
		switch {
		case !includes(p.Spec.ClusterServiceVersionNames, names(g.Choices)):
			continue
		case p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !isFor(p, g):
		case p.Annotations[v1alpha1.RetryAnnotation] != "":
			next.Annotations[hasteAnnotation] = strconv.Itoa(count(p, hasteAnnotation) + 1)
		default:
			next.Annotations[attemptAnnotation] = strconv.Itoa(max(count(p, attemptAnnotation), count(p, hasteAnnotation)-1, 1) + 1)
		}
		return
	}
}

// isFor reports whether a plan was made for what the group chose. Plans of another implementation do not record that; they tell by the
// bundles that they name.
func isFor(p *v1alpha1.InstallPlan, g *group) bool {
	if content := p.Annotations[contentAnnotation]; content != "" {
		return content == contentOf(g)
	}
	if p.IsHandWritten() || len(p.Spec.ClusterServiceVersionNames) != len(g.Choices) || len(p.Status.Plan) == 0 {
		return false
	}
	for _, c := range g.Choices { // each is among the bundles of the plan as it was chosen
		if !slices.ContainsFunc(p.Status.BundleLookups, func(l v1alpha1.BundleLookup) bool {
			return l.Identifier == c.Bundle.Name && l.Path == c.Bundle.Image && l.Replaces == c.Replaces && l.CatalogSourceRef != nil &&
				catalog.Ref{Namespace: l.CatalogSourceRef.Namespace, Name: l.CatalogSourceRef.Name} == c.Catalog
		}) {
			return false
		}
	}
	return true
}

// exists judges the object that has the name of a plan which is to be made: mostly that of another manager, which has been faster, or of this one
// before it was stopped. Its event, which is under way, has the namespace observed again, and then it covers the group or the next generation is due.
func (c *Controller) exists(ctx context.Context, p *v1alpha1.InstallPlan) error {
	there := &v1alpha1.InstallPlan{}
	if err := c.live.Get(ctx, client.ObjectKeyFromObject(p), there); err != nil {
		return fmt.Errorf("read InstallPlan %s/%s, which exists already: %w", p.Namespace, p.Name, err)
	}
	if !there.DeletionTimestamp.IsZero() {
		return fmt.Errorf("InstallPlan %s/%s, which is to be made, exists and is being deleted; it is made when that is done, for which %v are waited for", p.Namespace, p.Name, there.Finalizers)
	}
	return nil
}
