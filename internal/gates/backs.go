package gates

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// How long a way back that custom resources block is taken to be blocked. The interval doubles each time it is found blocked again.
const (
	firstInterval = time.Minute
	longInterval  = 16 * time.Minute
)

// Backs remember the ways back that custom resources block, so that not all of these are read in each pass. Within the interval of a verdict nothing is
// read for the first quarter, and then only those few objects that the verdict names; what could not be read is then read again. A way that is not blocked is never remembered: whether it loses
// anything is found out just before it is taken. The zero value with a clock is ready; nil remembers nothing.
type Backs struct {
	Clock clock.PassiveClock

	mu    sync.Mutex
	known map[string]blockedBack
}

// blockedBack is a way back that custom resources block.
type blockedBack struct {
	check    *crd.Scan
	at       time.Time
	interval time.Duration
}

// aboutBack distinguishes ways back: by the definition that is live, as it was last changed, and by the schemas that it is compared with.
func aboutBack(live, desired *apiextensionsv1.CustomResourceDefinition) (string, error) {
	text, err := json.Marshal(desired.Spec)
	if err != nil {
		return "", fmt.Errorf("write down the spec of CustomResourceDefinition %s: %w", desired.Name, err)
	}
	return fmt.Sprintf("%s %d %x", live.UID, live.Generation, sha256.Sum256(text)), nil
}

// blocks reports whether what a check found stands in the way.
func blocks(check *crd.Scan) bool {
	return check.Invalid > 0 || check.Losing > 0 || check.Unread != ""
}

// remembered returns the comparison of a way that is known to be blocked; nil when none is.
func (m *Backs) remembered(ctx context.Context, _ client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition, _ []string) (*crd.Scan, error) {
	if m == nil {
		return nil, nil
	}
	about, err := aboutBack(live, desired)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	before, ok := m.known[about]
	m.mu.Unlock()
	if !ok {
		return nil, nil
	}
	holds, err := before.holds(ctx, m.Clock.Since(before.at))
	if err != nil || !holds {
		return nil, err
	}
	return before.check, nil
}

// check compares all custom resources with another definition, and remembers when they block it.
func (m *Backs) check(ctx context.Context, reader client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition, versions []string) (*crd.Scan, error) {
	if m == nil {
		return readAll(ctx, reader, live, desired, versions)
	}
	about, err := aboutBack(live, desired)
	if err != nil {
		return nil, err
	}
	check, err := readAll(ctx, reader, live, desired, versions)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.known, func(_ string, b blockedBack) bool { return m.Clock.Since(b.at) > 2*longInterval })
	if !blocks(check) {
		delete(m.known, about)
		return check, nil
	}
	if m.known == nil {
		m.known = map[string]blockedBack{}
	}
	m.known[about] = blockedBack{check: check, at: m.Clock.Now(), interval: min(max(2*m.known[about].interval, firstInterval), longInterval)}
	return check, nil
}

// holds reports whether a verdict of some age is still good: for a while whatever happens, and longer as long as an object that it names is in the way.
func (b blockedBack) holds(ctx context.Context, age time.Duration) (bool, error) {
	switch {
	case age < b.interval/4:
		return true, nil
	case age >= b.interval, b.check.Unread != "": // whether they can be read again, only reading tells
		return false, nil
	}
	still, err := b.check.StillInvalid(ctx)
	if err == nil && !still {
		still, err = b.check.StillLosing(ctx)
	}
	return still, err
}

// readAll compares all custom resources with another definition.
func readAll(ctx context.Context, reader client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition, versions []string) (*crd.Scan, error) {
	check, err := crd.NewScan(reader, live, desired, versions, nil)
	if err != nil {
		return nil, fmt.Errorf("compare the schemas of CustomResourceDefinition %s: %w", live.Name, err)
	}
	for !check.Done() && check.Unread == "" {
		if err := check.Advance(ctx, pages); err != nil {
			return nil, fmt.Errorf("read the custom resources of %s, to see whether going back loses anything: %w", live.Name, err)
		}
	}
	return check, nil
}
