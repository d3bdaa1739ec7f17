package subscription

import (
	"context"
	"maps"
	"slices"

	"fairlead.dev/fairlead/internal/content/bundleio"
)

// confirm checks the namespace again, past the cache, and drops the groups for which it does not ask for the same any more, or has a plan
// by now. A cache that lags behind must not lead to a second plan; the event of what changed is under way.
func (c *Controller) confirm(ctx context.Context, s *state, d *decision, ready map[*group][]bundleio.State) error {
	live, err := c.observe(ctx, c.live, s.Name)
	if err != nil {
		return err
	}
	again, err := c.decide(ctx, live)
	if err != nil {
		return err
	}
	d.outdated = map[string]bool{}
	for i := range live.Subscriptions {
		if name := live.Subscriptions[i].Name; !d.sameOf(again, name) {
			d.outdated[name] = true
		}
	}
	for g := range ready {
		p := live.covering(g, c.Clock.Now())
		if p != nil {
			g.installPlan = p
		}
		if p != nil || slices.ContainsFunc(g.Subscriptions, func(name string) bool { return !d.sameOf(again, name) }) {
			delete(ready, g)
		}
	}
	*s = *live
	return nil
}

// sameOf reports whether two decisions come to the same for a Subscription.
func (d *decision) sameOf(other *decision, name string) bool {
	one, two := d.groupOf(name), other.groupOf(name)
	if one == nil || two == nil {
		return one == two && d.idle[name] == other.idle[name]
	}
	return slices.Equal(one.Subscriptions, two.Subscriptions) && maps.Equal(one.Installed, two.Installed) &&
		contentOf(one) == contentOf(two) && (one.Err == nil) == (two.Err == nil)
}

func (d *decision) groupOf(subscription string) *group {
	i := slices.IndexFunc(d.groups, func(g group) bool { return slices.Contains(g.Subscriptions, subscription) })
	if i < 0 {
		return nil
	}
	return &d.groups[i]
}
