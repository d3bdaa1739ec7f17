package installplan

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"fairlead.dev/fairlead/internal/preflight/crdupgrade"
	"fairlead.dev/fairlead/internal/stored"

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
	check  *stored.Check
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

// aboutOf tells one upgrade from another.
func aboutOf(u crdupgrade.Upgrade) (string, error) {
	text, err := json.Marshal(u.Wanted.Spec)
	if err != nil {
		return "", fmt.Errorf("tell %s %s from others: %w", crdKind, u.Wanted.Name, err)
	}
	return fmt.Sprintf("%s %d %x", u.Live.UID, u.Live.Generation, sha256.Sum256(text)), nil
}

// checkObjects looks at the stored objects of a CRD. Some are enough where they do not stand in the way.
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
	if len(s.verdict.Changed) == 0 || known.told && !s.verdict.Binding {
		return
	}
	if !s.verdict.Binding {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sampleTime)
		defer cancel()
	}
	if err := known.refresh(ctx, c, s); err != nil {
		if s.verdict.Binding {
			s.result.fail(err)
		}
		return
	}
	x.conclude(c, s, known)
}

// refresh takes the look at the objects as far as it goes in this pass. One that is complete is repeated only when there is reason to.
func (k *crdCheck) refresh(ctx context.Context, c *Controller, s *crdStep) error {
	if k.check != nil && k.check.Done() {
		still, err := k.check.StillInvalid(ctx)
		if err != nil || still || k.check.Invalid == 0 && c.Clock.Since(k.at) < checkedFor {
			return err
		}
		k.check = nil
	}
	if k.check == nil {
		check, err := stored.NewCheck(c.live, s.upgrade.Live, s.upgrade.Wanted, s.verdict.Changed)
		if err != nil {
			return err
		}
		k.check = check
	}
	count := pagesOfPass
	if !s.verdict.Binding {
		count = pagesOfSample
	}
	err := k.check.Advance(ctx, count)
	k.at = c.Clock.Now()
	return err
}

// conclude says what the look at the objects came to.
func (x *execution) conclude(c *Controller, s *crdStep, known *crdCheck) {
	check, name := known.check, s.upgrade.Wanted.Name
	var first []string
	for _, f := range check.Sample {
		first = append(first, f.String())
	}
	invalid := crdupgrade.Existing(s.upgrade, check.Invalid, check.Objects, first)
	switch {
	case !s.verdict.Binding:
		if check.Invalid > 0 {
			c.warnOfCRD(x.plan, invalid)
		}
	case check.Invalid > 0 && check.Done():
		s.result.fail(refusal([]crdupgrade.Finding{invalid}))
	case !check.Done():
		s.result.waiting = fmt.Sprintf("%s %s: its objects are compared with the new schema, %d so far", crdKind, name, check.Objects)
	}
	if check.Unread != "" && !known.told {
		c.warnOfCRD(x.plan, crdupgrade.Finding{CRD: name, What: fmt.Sprintf("objects of %s %s could not be compared with the new schema: %s", crdKind, name, check.Unread)})
	}
	known.told = known.told || check.Done() || !s.verdict.Binding
}
