package installplan

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/rollout/crd"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crdChecks are the CRDs of a plan whose objects have been read, by name.
type crdChecks map[string]*crdCheck

// crdCheck is what is remembered of the objects of a CRD between passes.
type crdCheck struct {
	objects *crd.Objects
	warned  bool // of what goes
	told    bool // what the objects came to
}

// crdCheck returns what is remembered, if it is still about the same upgrade.
func (m *memory) crdCheck(key client.ObjectKey, u crd.Change) (*crdCheck, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(key)
	if p.crds == nil {
		p.crds = crdChecks{}
	}
	known := p.crds[u.Desired.Name]
	if known == nil {
		known = &crdCheck{}
	}
	objects, err := known.objects.For(u)
	if err != nil {
		return nil, err
	}
	if objects != known.objects {
		known = &crdCheck{objects: objects}
		p.crds[u.Desired.Name] = known
	}
	return known, nil
}

// checkObjects compares the stored objects of a CRD with the new one: all of them, or a sample where they cannot block the upgrade.
func (x *replacements) checkObjects(ctx context.Context, c *Controller, s *crdStep) {
	known, err := c.memory.crdCheck(client.ObjectKeyFromObject(x.plan), s.change)
	if err != nil {
		s.result.err = err
		return
	}
	if !known.warned {
		known.warned = true
		for _, f := range s.verdict.Warnings {
			c.events.Event(x.plan, corev1.EventTypeWarning, crdReason, f.Sentence())
		}
	}
	if s.claim.Leave || known.told && !s.verdict.Thorough() {
		return
	}
	v, err := crd.Judge(ctx, s.change, crd.Stored{Reader: c.live, Objects: known.objects, Now: c.Clock.Now()})
	if err != nil {
		s.result.err = err
		return
	}
	s.result.waiting = v.Waiting
	s.refuse(v.Err)
	if !known.told && !v.Unread && v.Waiting == "" {
		for _, f := range v.Noticed {
			c.events.Event(x.plan, corev1.EventTypeWarning, crdReason, f.Sentence())
		}
		known.told = v.Err == nil || len(v.Noticed) > 0
	}
}

// pagesRewritten is how many pages of objects a pass rewrites; then the plan says how far it is.
const pagesRewritten = 2

// migrate has the objects of a CRD rewritten that may be stored in versions which go.
func (x *replacements) migrate(ctx context.Context, c *Controller, s *crdStep) {
	m := crd.Migration{Client: c.client, Reader: c.live, Live: s.change.Live, Leaving: s.verdict.Leaving, Unconverted: s.verdict.Unconverted, Now: c.Clock.Now()}
	waiting, err := m.Rewrite(ctx, pagesRewritten)
	if err != nil {
		s.result.err = err
		return
	}
	s.result.waiting = waiting
}

// endConversion takes off a conversion webhook that belongs to no operator, when the new CRD does without one.
func (x *replacements) endConversion(ctx context.Context, c *Controller, s *crdStep) {
	live := s.change.Live
	if _, converted := x.definitions.ConverterOf(live); converted || !s.verdict.Unconverted || s.result.waiting != "" || s.result.err != nil {
		return
	}
	if err := crd.EndConversion(ctx, c.client, live, fieldOwner); err != nil {
		s.result.err = err
		return
	}
	s.result.waiting = fmt.Sprintf("%s %s: its conversion webhook is taken off", crdKind, live.Name)
}
