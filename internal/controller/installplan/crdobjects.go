package installplan

import (
	"context"
	"errors"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/crd"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sampleTime is how long a pass reads objects that do not stand in the way.
const sampleTime = 5 * time.Second

// crdChecks are the CRDs of a plan whose objects have been read, by name.
type crdChecks map[string]*crdCheck

// crdCheck is what is remembered of the objects of a CRD between passes.
type crdCheck struct {
	objects *crd.Objects
	warned  bool // of what goes
	told    bool // what the objects came to
}

// crdCheck returns what is remembered, if it is still about the same upgrade.
func (m *memory) crdCheck(key client.ObjectKey, u crd.Upgrade) (*crdCheck, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(key)
	if p.crds == nil {
		p.crds = crdChecks{}
	}
	known := p.crds[u.Wanted.Name]
	if known == nil {
		known = &crdCheck{}
	}
	objects, err := known.objects.For(u)
	if err != nil {
		return nil, err
	}
	if objects != known.objects {
		known = &crdCheck{objects: objects}
		p.crds[u.Wanted.Name] = known
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
func (x *execution) checkObjects(ctx context.Context, c *Controller, s *crdStep) {
	known, err := c.memory.crdCheck(client.ObjectKeyFromObject(x.plan), s.upgrade)
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
	v := s.verdict
	if !v.Concerns() || known.told && !v.Thorough() {
		return
	}
	if !v.Thorough() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sampleTime)
		defer cancel()
	}
	err = known.objects.Advance(ctx, c.live, s.upgrade, v, c.Clock.Now())
	if err != nil && (v.Thorough() || !errors.Is(err, context.DeadlineExceeded) || !known.objects.Read()) {
		if v.Thorough() {
			s.result.fail(err)
		}
		return
	}
	refused, warnings, waiting := known.objects.Conclude(s.upgrade, v)
	s.result.waiting = waiting
	s.refuse(refused...)
	if !known.told && waiting == "" {
		for _, f := range warnings {
			c.warnOfCRD(x.plan, f)
		}
		known.told = len(refused) == 0 || len(warnings) > 0
	}
}
