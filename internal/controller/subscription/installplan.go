package subscription

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/big"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// contentAnnotation identifies what a plan was made for: a plan that failed is tried again only for other content.
const contentAnnotation = "operators.fairlead.dev/content"

// contentOf identifies the choices of a group: the same bundles replacing the same operators.
func contentOf(g *group) string {
	sum := sha256.New()
	for _, c := range g.Choices {
		fmt.Fprintf(sum, "%q %q %q %q %q\n", c.Bundle.Package, c.Bundle.Name, c.Bundle.Image, c.Catalog, c.Replaces)
		if c.Bundle.Image == "" {
			fmt.Fprintf(sum, "%q\n", g.Catalogs[c.Catalog])
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:32]
}

// maxDecision bounds the record of a decision on a plan, in bytes. All annotations of an object together may have 256 KiB.
const maxDecision = 64 << 10

// create writes the plan of a group: the object first, its content with the status. Its name follows from its generation, so that two managers, or
// one that was interrupted, make the plan of a generation once.
func (c *Controller) create(ctx context.Context, s *state, g *group, bundles []bundleio.State) error {
	approval := s.approval(g.Subscriptions)
	record, err := g.Record.Text(maxDecision) // what the decision rests on, and its outcome
	if err != nil {
		record = err.Error()
	}
	p := &v1alpha1.InstallPlan{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       s.Name,
			Labels:          map[string]string{v1alpha1.ManagedLabel: "true"},
			Annotations:     map[string]string{contentAnnotation: contentOf(g), resolution.DecisionAnnotation: record},
			OwnerReferences: s.owners(g.Subscriptions),
		},
		Spec: v1alpha1.InstallPlanSpec{
			ClusterServiceVersionNames: names(g.Choices),
			Approval:                   approval,
			Approved:                   approval == v1alpha1.ApprovalAutomatic,
			Generation:                 s.nextGeneration(),
		},
	}
	s.countOn(p, g)
	p.Name = planName(p.Namespace, p.Spec.Generation)
	status, err := c.judged(ctx, s, g, p, bundles)
	if err != nil {
		g.problem = tidy(err.Error())
		return nil
	}
	if known := c.judgements.confirms(s, p, g, c.Clock.Now()); known != nil {
		g.installPlan, g.retryAt = known, c.judgements.next(known, g)
		return nil
	}
	err = c.client.Create(ctx, p, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return c.exists(ctx, p)
	}
	if err != nil {
		return fmt.Errorf("create InstallPlan %s/%s: %w", p.Namespace, p.Name, err)
	}
	reconcile.Log(ctx, p).Info("InstallPlan created", "clusterServiceVersions", p.Spec.ClusterServiceVersionNames, "approval", p.Spec.Approval, "subscriptions", g.Subscriptions)
	s.Plans = append([]v1alpha1.InstallPlan{*p}, s.Plans...)
	g.installPlan = p
	return c.fill(ctx, p, status)
}

// complete fills in the content of a plan that was created and then left without it, because the manager was stopped in between.
func (c *Controller) complete(ctx context.Context, s *state, g *group, deadline time.Time) error {
	p := g.installPlan
	if p.Status.Phase != v1alpha1.InstallPlanPhaseNone {
		return nil
	}
	bundles := c.fetch(ctx, g, c.ask(ctx, s, g), deadline)
	if len(g.fetching) > 0 || len(g.failures) > 0 {
		return nil
	}
	judged := p.DeepCopy()
	status, err := c.judged(ctx, s, g, judged, bundles)
	if err != nil {
		g.problem = tidy(err.Error())
		return nil
	}
	if judged.Annotations[judgedAnnotation] != p.Annotations[judgedAnnotation] { // fill writes the status alone
		err := c.client.Patch(ctx, judged, client.MergeFromWithOptions(p, client.MergeFromWithOptimisticLock{}), fieldOwner)
		switch {
		case reconcile.IsOutdated(err):
			return nil // as in fill
		case err != nil:
			return fmt.Errorf("note on InstallPlan %s/%s what its content was judged by: %w", p.Namespace, p.Name, err)
		}
		*p = *judged
	}
	return c.fill(ctx, p, status)
}

// fill writes the content of a plan that has none. The one who changed the plan meanwhile, such as another manager that filled it, is not
// overruled: the event of that change is under way, and the namespace is reconciled again.
func (c *Controller) fill(ctx context.Context, p *v1alpha1.InstallPlan, status v1alpha1.InstallPlanStatus) error {
	filled := p.DeepCopy()
	filled.Status = status
	filled.Status.ObservedGeneration = reconcile.Unobserved // the controller of InstallPlans makes the verdict
	err := c.client.Status().Patch(ctx, filled, client.MergeFromWithOptions(p, client.MergeFromWithOptimisticLock{}), fieldOwner)
	switch {
	case reconcile.IsOutdated(err):
		return nil
	case err != nil:
		return fmt.Errorf("write the steps of InstallPlan %s/%s: %w", p.Namespace, p.Name, err)
	}
	*p = *filled
	return nil
}

func (s *state) owners(subscriptions []string) []metav1.OwnerReference {
	owners := make([]metav1.OwnerReference, 0, len(subscriptions))
	for _, name := range subscriptions {
		sub := s.Subscription(name)
		owners = append(owners, metav1.OwnerReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: sub.Name, UID: sub.UID,
		})
	}
	return owners
}

// nextGeneration is one more than any plan of the namespace has had, those that are being deleted included. A generation whose name is taken, as by
// a plan that a user wrote, is left out.
func (s *state) nextGeneration() int {
	newest := s.newest
	for i := range s.Subscriptions {
		newest = max(newest, s.Subscriptions[i].Status.InstallPlanGeneration)
	}
	for i := range s.Plans {
		newest = max(newest, s.Plans[i].Spec.Generation)
	}
	next := newest + 1
	for s.taken[planName(s.Name, next)] {
		next++
	}
	return next
}

// planName is install- and five characters that follow from the generation, of which a namespace has one plan: of two managers that decide at the same
// time, on other content or on another order of groups, only one creates the next plan, and the other observes the namespace again.
func planName(namespace string, generation int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", namespace, generation))
	return "install-" + fmt.Sprintf("%05s", new(big.Int).SetBytes(sum[:8]).Text(36))[:5]
}
