package installplan

import (
	"context"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/crd"

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

// forgetCRDs forgets what was found out for a plan that is over.
func (m *memory) forgetCRDs(key client.ObjectKey, phase v1alpha1.InstallPlanPhase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.plans[key]; p != nil && phase != v1alpha1.InstallPlanPhaseInstalling {
		p.crds = nil
	}
}

// checkObjects compares the stored objects of a CRD with the new one: all of them, or a sample where they cannot block the upgrade.
func (x *replacements) checkObjects(ctx context.Context, c *Controller, s *crdStep) {
	known, err := c.memory.crdCheck(client.ObjectKeyFromObject(x.plan), s.change)
	if err != nil {
		s.result.fail(err)
		return
	}
	if !known.warned {
		known.warned = true
		for _, f := range s.verdict.Warnings {
			c.warnOfCRD(x.plan, f)
		}
	}
	if s.claim.leave || known.told && !s.verdict.Thorough() {
		return
	}
	v, err := crd.Judge(ctx, s.change, crd.Stored{Reader: c.live, Objects: known.objects, Now: c.Clock.Now()})
	if err != nil {
		s.result.fail(err)
		return
	}
	s.result.waiting = v.Waiting
	s.refuse(v.Err)
	if !known.told && !v.Unread && v.Waiting == "" {
		for _, f := range v.Noticed {
			c.warnOfCRD(x.plan, f)
		}
		known.told = v.Err == nil || len(v.Noticed) > 0
	}
}
