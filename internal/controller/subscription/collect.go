package subscription

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/reconcile"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keptPlans is how many plans a namespace keeps; sweep is how many are removed at once.
const (
	keptPlans = 5
	sweep     = 10
)

// collect removes the oldest plans of a namespace that has too many. Plans that are not finished stay, and of every Subscription at most
// three: its newest, the one that its status refers to, and the one that says that what it moved to last was installed. Without that one
// the operator that a user deleted would be installed again.
func (c *Controller) collect(ctx context.Context, s *state) error {
	if len(s.Plans) <= keptPlans {
		return nil
	}
	kept, removed := 0, 0
	// The names of the plans that statuses and decisions of Subscriptions rest on.
	needed := map[string]bool{}
	for i := range s.Subscriptions {
		sub := &s.Subscriptions[i]
		needed[planOf(sub)] = true
		if p := s.Installer(sub); p != nil {
			needed[p.Name] = true
		}
	}
	newest := map[types.UID]bool{} // Subscriptions whose newest plan has been seen: the plans are sorted, the newest first
	for i := range s.Plans {
		p := &s.Plans[i]
		if p.IsHandWritten() {
			continue
		}
		for _, owner := range p.OwnerReferences {
			if !newest[owner.UID] {
				newest[owner.UID], needed[p.Name] = true, true
			}
		}
	}
	for i := range s.Plans {
		p := &s.Plans[i]
		if p.IsHandWritten() {
			continue // the one who wrote it, perhaps in Git, would only write it again
		}
		if kept < keptPlans || needed[p.Name] || !finished(p) || removed == sweep {
			kept++
			continue
		}
		if err := c.client.Delete(ctx, p); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove old InstallPlan %s/%s: %w", p.Namespace, p.Name, err)
		}
		reconcile.Log(ctx, p).Info("InstallPlan removed", "reason", "Old", "clusterServiceVersions", p.Spec.ClusterServiceVersionNames)
		removed++
	}
	return nil
}

// supersede removes the plans of the group's Subscriptions that ask for something else by now: those that no one approved, and those
// that were created and then left without their steps. It returns the name of a plan of theirs that is being carried out.
func (c *Controller) supersede(ctx context.Context, s *state, g *group) (busy string, err error) {
	for i := range s.Plans {
		p := &s.Plans[i]
		theirs := slices.ContainsFunc(p.OwnerReferences, func(owner metav1.OwnerReference) bool {
			return slices.ContainsFunc(g.Subscriptions, func(name string) bool { return s.Subscription(name).UID == owner.UID })
		})
		if finished(p) || !theirs {
			continue
		}
		if underWay(p) {
			busy = p.Name
			continue
		}
		if err := c.client.Delete(ctx, p, client.Preconditions{UID: &p.UID, ResourceVersion: &p.ResourceVersion}); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("remove InstallPlan %s/%s, which a newer decision supersedes: %w", p.Namespace, p.Name, err)
		}
		reconcile.Log(ctx, p).Info("InstallPlan removed", "reason", "Superseded", "clusterServiceVersions", p.Spec.ClusterServiceVersionNames)
	}
	return busy, nil
}

// withdraw removes the plans that no one approved for a group that wants nothing any more, because the version went from the catalog, or
// is blocked by now: no one should be able to approve it. As long as it is not certain that nothing is desired they stay: while a catalog
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
