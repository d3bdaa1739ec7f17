package crd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// Back is what a step back to an earlier revision does to a CRD and its stored objects. The rules for upgrades alone would bar every way back from a
// schema that was widened; whether that loses anything, only the objects can tell.
type Back struct {
	// Blocked are the reasons not to go back; none means that nothing is lost.
	Blocked []string
	// Findings are those of the rules for upgrades. What Objects objects have proven to be harmless is exempt.
	Findings []Finding
	// Proven are the findings that were exempted so.
	Proven  []Finding
	Objects int
	// Unread reports that the objects would have to be read, and were not.
	Unread bool
}

// Err returns the reasons as an error; nil is none.
func (b *Back) Err() error {
	var all []error
	for _, reason := range b.Blocked {
		all = append(all, errors.New(reason))
	}
	return errors.Join(all...)
}

// GoBack judges the step from a CRD of the cluster back to an earlier one. Where rules for schemas would stop it, all objects are read: what none of them
// uses can go. Findings that the policy exempts do not count.
func GoBack(ctx context.Context, reader client.Reader, live, desired *definition, policy Policy) (*Back, error) {
	return (*Backs)(nil).Judge(ctx, reader, live, desired, policy)
}

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

// Judge is GoBack, and remembers what objects block.
func (m *Backs) Judge(ctx context.Context, reader client.Reader, live, desired *definition, policy Policy) (*Back, error) {
	return goBack(live, desired, policy, func(versions []string) (*Scan, error) { return m.read(ctx, reader, live, desired, versions) })
}

// Recall is GoBack without reading all objects: unless the way is known to be blocked, the answer is Unread where objects would have to be read.
func (m *Backs) Recall(ctx context.Context, _ client.Reader, live, desired *definition, policy Policy) (*Back, error) {
	return goBack(live, desired, policy, func([]string) (*Scan, error) { return m.remembered(ctx, live, desired) })
}

// goBack applies the rules for upgrades, and asks for a scan of the objects in the versions that stay served where the rules bar the way; nil is none.
func goBack(live, desired *definition, policy Policy, scanned func(versions []string) (*Scan, error)) (*Back, error) {
	b := &Back{Findings: Safety(live, desired, policy)}
	provable := func(f Finding) bool { return f.Check != StoredVersionRemoval && f.Check != Scope }
	schemas := false
	for _, f := range Blocking(b.Findings) {
		if provable(f) {
			schemas = true
		} else {
			b.Blocked = append(b.Blocked, fmt.Sprintf("CustomResourceDefinition %s: %s: %s", live.Name, f, f.Remedy))
		}
	}
	if !schemas {
		return b, nil
	}
	var versions []string
	for _, name := range servedVersions(live) {
		if Serves(desired, name) {
			versions = append(versions, name)
		}
	}
	scan, err := scanned(versions)
	if b.Unread = scan == nil; err != nil || b.Unread {
		return b, err
	}
	b.Objects = scan.Objects
	if harm := scan.harm(live.Name); len(harm) > 0 {
		b.Blocked = append(b.Blocked, harm...)
		return b, nil
	}
	for i := range b.Findings {
		if f := &b.Findings[i]; f.Exempt == "" && provable(*f) {
			b.Proven = append(b.Proven, *f)
			f.Exempt = fmt.Sprintf("none of %d custom resources is affected", b.Objects)
		}
	}
	return b, nil
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

// remembered returns the scan of a way that is known to be blocked; nil when none is.
func (m *Backs) remembered(ctx context.Context, live, desired *definition) (*Scan, error) {
	if m == nil {
		return nil, nil
	}
	key, err := about(live, desired)
	if err != nil {
		return nil, err
	}
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

// read compares all objects with another CRD, and remembers when they block it.
func (m *Backs) read(ctx context.Context, reader client.Reader, live, desired *definition, versions []string) (*Scan, error) {
	scan, err := NewScan(reader, live, desired, versions, nil)
	if err != nil {
		return nil, fmt.Errorf("compare the schemas of CustomResourceDefinition %s: %w", live.Name, err)
	}
	for !scan.Done() && scan.Unread == "" {
		if err := scan.Advance(ctx, pagesAtOnce); err != nil {
			return nil, fmt.Errorf("read the custom resources of %s, to see whether going back loses anything: %w", live.Name, err)
		}
	}
	if m == nil {
		return scan, nil
	}
	key, err := about(live, desired)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.known, func(_ string, b blockedBack) bool { return m.Clock.Since(b.at) > 2*longInterval })
	if len(scan.harm(live.Name)) == 0 {
		delete(m.known, key)
		return scan, nil
	}
	if m.known == nil {
		m.known = map[string]blockedBack{}
	}
	m.known[key] = blockedBack{scan: scan, at: m.Clock.Now(), interval: min(max(2*m.known[key].interval, firstInterval), longInterval)}
	return scan, nil
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
