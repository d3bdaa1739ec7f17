package subscription

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/internal/plan"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// attemptAnnotation on a plan counts the plans for the same content that were made because the one before failed.
	attemptAnnotation = "operators.fairlead.dev/attempt"
	// retryAnnotation on a plan that failed says what has changed of what it failed on. Whoever carries plans out sets it.
	retryAnnotation = "operators.fairlead.dev/retry"
)

// A failed plan stands for repeatFailed before another one is made for the same content: its cause may be gone by then. Each time that it
// is not, the next one stands for twice as long, up to repeatLongest.
const (
	repeatFailed  = 5 * time.Minute
	repeatLongest = time.Hour
)

// standing is how long a failed plan stands.
func standing(p *v1alpha1.InstallPlan) time.Duration {
	if p.Annotations[retryAnnotation] != "" {
		return 0
	}
	pause := repeatFailed
	for range attempts(p) - 1 {
		if pause *= 2; pause >= repeatLongest {
			return repeatLongest
		}
	}
	return pause
}

// attempts counts a plan and those before it that failed on the same content.
func attempts(p *v1alpha1.InstallPlan) int {
	n, err := strconv.Atoi(p.Annotations[attemptAnnotation])
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// attempt is the number of the next plan for what a group chose. What the last one failed on may have changed since; then it is the first.
func (s *state) attempt(g *group) int {
	for i := range s.Plans {
		p := &s.Plans[i]
		if !includes(p.Spec.ClusterServiceVersionNames, names(g.Choices)) {
			continue
		}
		if p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !isFor(p, g) || p.Annotations[retryAnnotation] != "" {
			return 1
		}
		return attempts(p) + 1
	}
	return 1
}

// isFor tells whether a plan was made for what the group chose. Plans of another implementation do not record that; they tell by the
// bundles that they name.
func isFor(p *v1alpha1.InstallPlan, g *group) bool {
	if content := p.Annotations[contentAnnotation]; content != "" {
		return content == contentOf(g)
	}
	if p.IsHandWritten() || len(p.Spec.ClusterServiceVersionNames) != len(g.Choices) || len(p.Status.Plan) == 0 {
		return false
	}
	return !slices.ContainsFunc(g.Choices, func(c plan.Choice) bool { return !hasBundle(p, c) })
}

// hasBundle tells whether a plan names the bundle of a choice as it was chosen.
func hasBundle(p *v1alpha1.InstallPlan, c plan.Choice) bool {
	return slices.ContainsFunc(p.Status.BundleLookups, func(l v1alpha1.BundleLookup) bool {
		return l.Identifier == c.Bundle.Name && l.Path == c.Bundle.Image && l.Replaces == c.Replaces && l.CatalogSourceRef != nil &&
			catalogset.Ref{Namespace: l.CatalogSourceRef.Namespace, Name: l.CatalogSourceRef.Name} == c.Catalog
	})
}

// exists judges the object that has the name of a plan which is to be made. Mostly that is the same plan, of another manager, or of this
// one before it was stopped: it covers the group when its event arrives.
func (c *Controller) exists(ctx context.Context, p *v1alpha1.InstallPlan) error {
	there := &v1alpha1.InstallPlan{}
	if err := c.live.Get(ctx, client.ObjectKeyFromObject(p), there); err != nil {
		return fmt.Errorf("read InstallPlan %s/%s, which exists already: %w", p.Namespace, p.Name, err)
	}
	switch {
	case !there.DeletionTimestamp.IsZero():
		return fmt.Errorf("InstallPlan %s/%s, which is to be made, exists and is being deleted; it is made when that is done, for which %v are waited for", p.Namespace, p.Name, there.Finalizers)
	case there.Annotations[contentAnnotation] != p.Annotations[contentAnnotation]:
		return fmt.Errorf("InstallPlan %s/%s, which is to be made, exists and is another one: delete it", p.Namespace, p.Name)
	}
	return nil
}
