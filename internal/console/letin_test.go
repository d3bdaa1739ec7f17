package console

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	clocktesting "k8s.io/utils/clock/testing"
)

// TestUsersAreForgotten: what was read for a user of the cluster goes with the last of their session; that of others stays.
func TestUsersAreForgotten(t *testing.T) {
	c := must.Value(New(Options{Access: NewOneTime(&User{}), Log: slog.New(slog.DiscardHandler), Clock: clocktesting.NewFakePassiveClock(time.Now())}))(t)
	gone, stays, own := &User{credential: &credential{}}, &User{credential: &credential{}}, &User{}
	for _, u := range []*User{gone, stays, own} {
		c.answers.slot(asked{u, "why"})
		c.contents.slot(asked{u, "content"})
		c.updates.slot(asked{u, "update"})
		c.planned.slot(asked{u, "plan"})
		c.extended.slot(asked{u, "plan"})
		c.shelf.kept.slot(shelfKey{u, "shop"})
		c.standings.slot(standingKey{user: u})
		c.front.details.slot(detailKey{user: u})
		c.front.plans.slot(planKey{user: u})
		must.Value(c.front.icons.get(t.Context(), iconKey{user: u, pkg: "kite"}, func(context.Context) (*preview.Icon, error) { return nil, nil }))(t)
	}
	sizes := func() []int {
		return []int{len(c.answers.kept), len(c.contents.kept), len(c.updates.kept), len(c.planned.kept), len(c.extended.kept), len(c.shelf.kept.kept), len(c.standings.kept),
			len(c.front.details.kept), len(c.front.plans.kept), len(c.front.icons.named)}
	}
	must.Equal(t, "kept", sizes(), []int{3, 3, 3, 3, 3, 3, 3, 3, 3, 3})
	door{c}.forget(gone)
	must.Equal(t, "kept after one is gone", sizes(), []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2})
	door{c}.forget(own)
	must.Equal(t, "kept of the user of a kubeconfig", sizes(), []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2})
}
