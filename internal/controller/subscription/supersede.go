package subscription

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// supersede removes the plans of the group's Subscriptions that ask for something else by now: those that nobody approved, and those
// that were created and then left without their steps. It returns the name of a plan of theirs that is being carried out.
func (c *Controller) supersede(ctx context.Context, s *state, g *group) (busy string, err error) {
	for i := range s.Plans {
		p := &s.Plans[i]
		if finished(p) || !ownedByAny(p, s, g.Subscriptions) {
			continue
		}
		if underWay(p) {
			busy = p.Name
			continue
		}
		if err := c.client.Delete(ctx, p, client.Preconditions{UID: &p.UID, ResourceVersion: &p.ResourceVersion}); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("remove InstallPlan %s/%s, which a newer decision supersedes: %w", p.Namespace, p.Name, err)
		}
	}
	return busy, nil
}

func ownedByAny(p *v1alpha1.InstallPlan, s *state, subscriptions []string) bool {
	for _, name := range subscriptions {
		uid := s.Subscription(name).UID
		for _, owner := range p.OwnerReferences {
			if owner.UID == uid {
				return true
			}
		}
	}
	return false
}

// withdraw removes the plans that nobody approved for a group that wants nothing any more, because the version went from the catalog, or
// is held back by now: nobody should be able to approve it. As long as it is not certain that nothing is wanted they stay: while a catalog
// has no content, or an operator does not run.
func (c *Controller) withdraw(ctx context.Context, s *state, g *group) error {
	for _, name := range g.Subscriptions {
		sub := s.Subscription(name)
		source := s.Source(catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource})
		installed := s.Operator(g.Installed[name])
		if source == nil || !source.Healthy() || installed == nil || installed.Status.Phase != v1alpha1.CSVPhaseSucceeded {
			return nil
		}
	}
	_, err := c.supersede(ctx, s, g)
	return err
}
