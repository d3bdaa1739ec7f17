package subscription

import (
	"context"
	"fmt"

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
// the operator that somebody deleted would be installed again.
func (c *Controller) collect(ctx context.Context, s *state) error {
	if len(s.Plans) <= keptPlans {
		return nil
	}
	kept, removed := 0, 0
	needed := s.neededPlans()
	for i := range s.Plans {
		p := &s.Plans[i]
		if p.IsHandWritten() {
			continue // whoever wrote it, perhaps in Git, would only write it again
		}
		if kept < keptPlans || needed[p.Name] || !finished(p) || removed == sweep {
			kept++
			continue
		}
		if err := c.client.Delete(ctx, p); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove old InstallPlan %s/%s: %w", p.Namespace, p.Name, err)
		}
		removed++
	}
	return nil
}

// neededPlans are the names of the plans that statuses and decisions of Subscriptions rest on.
func (s *state) neededPlans() map[string]bool {
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
	return needed
}
