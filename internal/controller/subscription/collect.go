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

// collect removes the oldest plans of a namespace that has too many; plans that are not finished stay, and so does the newest one
// of every Subscription.
func (c *Controller) collect(ctx context.Context, s *state) error {
	if len(s.Plans) <= keptPlans {
		return nil
	}
	kept, removed := 0, 0
	newest := map[types.UID]bool{} // Subscriptions whose newest plan has been seen: the plans are sorted, the newest first
	for i := range s.Plans {
		p := &s.Plans[i]
		if p.IsHandWritten() {
			continue // whoever wrote it, perhaps in Git, would only write it again
		}
		needed := false
		for _, owner := range p.OwnerReferences {
			needed = needed || !newest[owner.UID]
			newest[owner.UID] = true
		}
		if kept < keptPlans || needed || !finished(p) || removed == sweep {
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
