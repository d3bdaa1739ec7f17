package installplan

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/rollout/crd"
)

// pagesRewritten is how many pages of objects a pass rewrites; then the plan says how far it is.
const pagesRewritten = 2

// migrate has the objects of a CRD rewritten that may be stored in versions which go.
func (x *replacements) migrate(ctx context.Context, c *Controller, s *crdStep) {
	m := crd.Migration{Client: c.client, Reader: c.live, Live: s.change.Live, Leaving: s.verdict.Leaving, Unconverted: s.verdict.Unconverted, Now: c.Clock.Now()}
	waiting, err := m.Rewrite(ctx, pagesRewritten)
	if err != nil {
		s.result.fail(err)
		return
	}
	s.result.waiting = waiting
}

// endConversion takes off a conversion webhook that belongs to no operator, when the new CRD does without one.
func (x *replacements) endConversion(ctx context.Context, c *Controller, s *crdStep) {
	live := s.change.Live
	if _, converted := x.converterOf(live); converted || !s.verdict.Unconverted || s.result.waiting != "" || s.result.err != nil {
		return
	}
	if err := crd.EndConversion(ctx, c.client, live, fieldOwner); err != nil {
		s.result.fail(err)
		return
	}
	s.result.waiting = fmt.Sprintf("%s %s: its conversion webhook is taken off", crdKind, live.Name)
}
