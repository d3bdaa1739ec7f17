package crd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pagesAtOnce is how many pages of objects are read before the context is checked again.
const pagesAtOnce = 10

// How long a way back that objects block is taken to be blocked. The interval doubles each time it is found blocked again.
const (
	firstInterval = time.Minute
	longInterval  = 16 * time.Minute
)

// Backs remember the ways back that objects block, so that not all objects are read in each pass. Within the interval of a verdict nothing is read for the
// first quarter, and then only the few objects that the verdict names; what could not be read is then read again. A way that is not blocked is never
// remembered: whether it loses anything is found out just before it is taken. The zero value with a clock is ready; nil remembers nothing.
type Backs struct {
	Clock clock.PassiveClock

	mu    sync.Mutex
	known map[string]blockedBack
}

// blockedBack is a way back that objects block.
type blockedBack struct {
	scan     *Scan
	at       time.Time
	interval time.Duration
}

// back judges the step from a CRD of the cluster back to an earlier one. The checks of schemas alone would bar every way back from a schema that was
// widened; whether that loses anything, only the objects can tell: what none of them uses can go. Findings that the policy exempts do not count. To
// recall, only a way that is remembered to be blocked is refused.
func (c Change) back(ctx context.Context, stored Stored) (v Verdict, err error) {
	v.Findings = safety(c.Live, c.Desired, *c.Policy)
	v.Leaving, v.Unconverted = leaving(c.Live, c.Desired)
	for _, name := range servedVersions(c.Live) {
		if !serves(c.Desired, name) {
			v.Warnings = append(v.Warnings, Finding{CRD: c.Live.Name, Check: ServedVersionRemoval, Version: name,
				What: fmt.Sprintf("CustomResourceDefinition %s: version %s is served no more: clients that use it stop working", c.Live.Name, name)})
		}
	}
	provable := func(f Finding) bool { return f.Check != StoredVersionRemoval && f.Check != Scope }
	schemas := false
	var reasons []error
	for _, f := range Blocking(v.Findings) {
		if provable(f) {
			schemas = true
			continue
		}
		v.Refused = append(v.Refused, f)
		reasons = append(reasons, fmt.Errorf("CustomResourceDefinition %s: %s: %s", c.Live.Name, f, f.Remedy))
	}
	if schemas {
		scan, err := stored.Backs.scan(ctx, stored.Reader, stored.Recall || stored.Reader == nil, c)
		if err != nil {
			return v, err
		}
		if scan == nil {
			v.Unread = true
			v.block(reasons...)
			return v, nil
		}
		v.Read = scan.Objects
		harm := scan.harm(c.Live.Name)
		for _, what := range harm {
			v.Refused = append(v.Refused, Finding{CRD: c.Live.Name, Check: ExistingObjects, What: what})
			reasons = append(reasons, errors.New(what))
		}
		for i := range v.Findings { // unless going back harms an object, the objects have proven these to be harmless
			if f := &v.Findings[i]; len(harm) == 0 && f.Exempt == "" && provable(*f) {
				v.Proven = append(v.Proven, *f)
				f.Exempt = fmt.Sprintf("none of %d custom resources is affected", scan.Objects)
			}
		}
	}
	v.block(reasons...)
	return v, nil
}

// scan compares all objects with an earlier definition in the versions that stay served, and remembers when they block it. To recall returns only what
// is remembered of a blocked way; nil is nothing.
func (m *Backs) scan(ctx context.Context, reader client.Reader, recall bool, c Change) (*Scan, error) {
	if recall && m == nil {
		return nil, nil
	}
	key, err := about(c.Live, c.Desired)
	if err != nil {
		return nil, err
	}
	if recall {
		m.mu.Lock()
		before, ok := m.known[key]
		m.mu.Unlock()
		if !ok {
			return nil, nil
		}
		holds, err := before.holds(ctx, m.Clock.Since(before.at))
		if err != nil || !holds {
			return nil, err
		}
		return before.scan, nil
	}
	versions := slices.DeleteFunc(servedVersions(c.Live), func(name string) bool { return !serves(c.Desired, name) })
	scan, err := NewScan(reader, c.Live, c.Desired, versions, nil)
	if err != nil {
		return nil, fmt.Errorf("compare the schemas of CustomResourceDefinition %s: %w", c.Live.Name, err)
	}
	for !scan.Done() && scan.Unread == "" {
		if err := scan.Advance(ctx, pagesAtOnce); err != nil {
			return nil, fmt.Errorf("read the custom resources of %s, to see whether going back loses anything: %w", c.Live.Name, err)
		}
	}
	if m == nil {
		return scan, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.known, func(_ string, b blockedBack) bool { return m.Clock.Since(b.at) > 2*longInterval })
	if len(scan.harm(c.Live.Name)) == 0 {
		delete(m.known, key)
		return scan, nil
	}
	if m.known == nil {
		m.known = map[string]blockedBack{}
	}
	m.known[key] = blockedBack{scan: scan, at: m.Clock.Now(), interval: min(max(2*m.known[key].interval, firstInterval), longInterval)}
	return scan, nil
}

// harm is what going back would do to the objects; none means that it does nothing to them.
func (c *Scan) harm(name string) []string {
	var found []string
	if c.Unread != "" {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: its custom resources cannot be read: %s", name, c.Unread))
	}
	if c.Invalid > 0 {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: %d of %d custom resources would be invalid: %s", name, c.Invalid, c.Objects, strings.Join(texts(c.Sample), "; ")))
	}
	if c.Losing > 0 {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: %d of %d custom resources would lose fields: %s", name, c.Losing, c.Objects, strings.Join(texts(c.Losses), "; ")))
	}
	return found
}

// about distinguishes steps: by the CRD that is live, as it was last changed, and by the spec that it is compared with.
func about(live, desired *definition) (string, error) {
	text, err := json.Marshal(desired.Spec)
	if err != nil {
		return "", fmt.Errorf("write down the spec of CustomResourceDefinition %s: %w", desired.Name, err)
	}
	return fmt.Sprintf("%s %d %x", live.UID, live.Generation, sha256.Sum256(text)), nil
}

// holds reports whether a verdict of some age is still good: for a while whatever happens, and longer as long as an object that it names is in the way.
func (b blockedBack) holds(ctx context.Context, age time.Duration) (bool, error) {
	switch {
	case age < b.interval/4:
		return true, nil
	case age >= b.interval, b.scan.Unread != "": // whether they can be read again, only reading tells
		return false, nil
	}
	return b.scan.stillBlocks(ctx, true)
}
