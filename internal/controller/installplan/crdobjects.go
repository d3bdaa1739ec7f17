package installplan

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/crd"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// How many pages of objects a pass looks at. What does not stand in the way is not worth more than a sample.
const (
	pagesOfPass   = 20
	pagesOfSample = 4
	sampleTime    = 5 * time.Second
)

// checkedFor is how long objects that were all found valid are taken to be so still, while other things keep a plan from going on.
const checkedFor = time.Minute

// crdChecks are the CRDs of a plan whose objects have been looked at, by name.
type crdChecks map[string]*crdCheck

// crdCheck is what is remembered of the objects of a CRD between passes.
type crdCheck struct {
	about  string // which step from which CRD to which
	check  *crd.Scan
	at     time.Time // when all were looked at
	warned bool      // of what goes
	told   bool      // what the look came to
}

// crdCheck returns what is remembered, if it is still about the same upgrade.
func (m *memory) crdCheck(key client.ObjectKey, crd, about string) *crdCheck {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(key)
	if p.crds == nil {
		p.crds = crdChecks{}
	}
	if p.crds[crd] == nil || p.crds[crd].about != about {
		p.crds[crd] = &crdCheck{about: about}
	}
	return p.crds[crd]
}

// forgetCRDs forgets what was found out for a plan that is over.
func (m *memory) forgetCRDs(key client.ObjectKey, phase v1alpha1.InstallPlanPhase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.plans[key]; p != nil && phase != v1alpha1.InstallPlanPhaseInstalling {
		p.crds = nil
	}
}

// aboutOf tells one upgrade from another.
func aboutOf(u crd.Upgrade) (string, error) {
	text, err := json.Marshal(u.Wanted.Spec)
	if err != nil {
		return "", fmt.Errorf("tell %s %s from others: %w", crdKind, u.Wanted.Name, err)
	}
	return fmt.Sprintf("%s %d %x %v", u.Live.UID, u.Live.Generation, sha256.Sum256(text), u.Exempted), nil
}

// checkObjects compares the stored objects of a CRD with the new one: all of them, or a sample where they cannot block the upgrade.
func (x *execution) checkObjects(ctx context.Context, c *Controller, s *crdStep) {
	about, err := aboutOf(s.upgrade)
	if err != nil {
		s.result.fail(err)
		return
	}
	known := c.memory.crdCheck(client.ObjectKeyFromObject(x.plan), s.upgrade.Wanted.Name, about)
	if !known.warned {
		known.warned = true
		for _, f := range s.verdict.Warnings {
			c.warnOfCRD(x.plan, f)
		}
	}
	v := s.verdict
	if len(v.Changed)+len(v.Dropped) == 0 && !v.Prunes && !v.Unconverted || known.told && !v.Thorough() {
		return
	}
	if !v.Thorough() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sampleTime)
		defer cancel()
	}
	if err := known.refresh(ctx, c, s); err != nil && (v.Thorough() || !errors.Is(err, context.DeadlineExceeded) || known.check == nil) {
		if v.Thorough() {
			s.result.fail(err)
		}
		return
	}
	x.conclude(c, s, known)
}

// refresh takes the look at the objects as far as it goes in this pass. One that is complete is repeated only when there is reason to.
func (k *crdCheck) refresh(ctx context.Context, c *Controller, s *crdStep) error {
	if k.check != nil && k.check.Done() {
		keep, err := k.holds(ctx, c, s)
		if err != nil || keep {
			return err
		}
		k.check = nil
	}
	if k.check == nil {
		check, err := crd.NewScan(c.live, s.upgrade.Live, s.upgrade.Wanted, s.verdict.Changed, s.verdict.Dropped)
		if err != nil {
			return err
		}
		k.check = check
	}
	count := pagesOfPass
	if !s.verdict.Thorough() {
		count = pagesOfSample
	}
	err := k.check.Advance(ctx, count)
	k.at = c.Clock.Now()
	return err
}

// holds tells whether what a complete look came to still holds: as long as one of the objects that stood in the way does, or for a while
// when none did.
func (k *crdCheck) holds(ctx context.Context, c *Controller, s *crdStep) (bool, error) {
	if (s.verdict.Unconverted || len(s.verdict.Dropped) > 0) && k.check.Unread != "" {
		return false, nil // what converts the objects may have been repaired
	}
	if still, err := k.check.StillInvalid(ctx); still || err != nil {
		return still, err
	}
	if still, err := k.check.StillWritten(ctx); still || err != nil {
		return still, err
	}
	blocked := k.check.Invalid > 0 || k.check.Written > 0
	if s.verdict.Keeps {
		if still, err := k.check.StillLosing(ctx); still || err != nil {
			return still, err
		}
		blocked = blocked || k.check.Losing > 0
	}
	return !blocked && c.Clock.Since(k.at) < checkedFor, nil
}

// conclude says what the look at the objects came to.
func (x *execution) conclude(c *Controller, s *crdStep, known *crdCheck) {
	check, tell := known.check, !known.told
	if s.verdict.Unconverted && check.Unread != "" {
		s.refuse(crd.Unreadable(s.upgrade, check.Unread))
		return
	}
	if len(s.verdict.Dropped) > 0 && check.Unread != "" {
		s.refuse(crd.UnreadWriters(s.upgrade, s.verdict.Dropped, check.Unread))
		return
	}
	if s.verdict.Thorough() && !check.Done() {
		s.result.waiting = fmt.Sprintf("%s %s: its objects are compared with the new schema, %d so far", crdKind, s.upgrade.Wanted.Name, check.Objects)
		return
	}
	refused, warnings := sorted(s, check)
	s.refuse(refused...)
	if check.Unread != "" {
		warnings = append(warnings, crd.Unreadable(s.upgrade, check.Unread))
	}
	for _, f := range warnings {
		if tell {
			c.warnOfCRD(x.plan, f)
		}
	}
	known.told = true
}

// sorted separates what blocks the upgrade from what is only reported. Every upgrade keeps its objects valid; that they lose nothing is what strict
// namespaces ask for, and what a CRD without an operator asks of the one that adopts it.
func sorted(s *crdStep, check *crd.Scan) (refused, warnings []crd.Finding) {
	sort := func(f crd.Finding, refuse bool) {
		if refuse {
			refused = append(refused, f)
		} else {
			warnings = append(warnings, f)
		}
	}
	if check.Invalid > 0 {
		sort(crd.Existing(s.upgrade, check.Invalid, check.Objects, texts(check.Sample)), s.verdict.Binding)
	}
	if check.Losing > 0 {
		sort(crd.Losing(s.upgrade, check.Losing, check.Objects, texts(check.Losses)), s.verdict.Keeps)
	}
	if check.Written > 0 {
		sort(crd.LastWritten(s.upgrade, s.verdict.Dropped, check.Written, check.Objects, texts(check.Writes)), true)
	}
	return refused, warnings
}

func texts[T fmt.Stringer](all []T) []string {
	var out []string
	for _, one := range all {
		out = append(out, one.String())
	}
	return out
}
