package installplan

import (
	"maps"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memory is what the controller remembers of plans between reconciles. All of it may be lost: a restart gives a failing plan a little
// more time, and has a pass repeated.
type memory struct {
	mu    sync.Mutex
	plans map[types.NamespacedName]*remembered
}

type remembered struct {
	nudged    bool   // something has changed that may let a failed plan succeed
	written   string // the resource version that our last status was written over
	made      string // the resource version that it made, until its event has been seen
	wroteAt   time.Time
	failing   series
	due       time.Time // when the next pass is, if nothing but our status has changed
	crds      crdChecks
	groups    string           // the OperatorGroups of the namespace, as the API server had them when it was asked last
	obstacles []obstacle       // that a failed plan met
	failed    time.Time        // when it failed on them
	warnings  map[int][]string // of steps, not told yet
	warnedOf  types.UID        // the plan that they are about
}

// of returns what is remembered of a plan. The lock is held.
func (m *memory) of(key types.NamespacedName) *remembered {
	if m.plans == nil {
		m.plans = map[types.NamespacedName]*remembered{}
	}
	if m.plans[key] == nil {
		m.plans[key] = &remembered{}
	}
	return m.plans[key]
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.plans, key)
}

// nudge notes that a plan has reason to be tried again although it failed.
func (m *memory) nudge(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(key).nudged = true
}

// nudged tells whether the plan was nudged since the last call.
func (m *memory) nudged(key types.NamespacedName) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(key)
	nudged := p.nudged
	p.nudged = false
	return nudged
}

// wrote notes that the status of the plan, as it was read, has been written over, and by which version.
func (m *memory) wrote(plan *v1alpha1.InstallPlan, made string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(client.ObjectKeyFromObject(plan))
	p.written, p.made, p.wroteAt = plan.ResourceVersion, made, at
}

// wroteWithin tells whether the last status of the plan was written that lately.
func (m *memory) wroteWithin(plan *v1alpha1.InstallPlan, now time.Time, interval time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Sub(m.of(client.ObjectKeyFromObject(plan)).wroteAt) < interval
}

// warned notes warnings of the steps of a plan.
func (m *memory) warned(plan *v1alpha1.InstallPlan, warnings map[int][]string) {
	if len(warnings) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(client.ObjectKeyFromObject(plan))
	if p.warnings == nil || p.warnedOf != plan.UID {
		p.warnings, p.warnedOf = map[int][]string{}, plan.UID
	}
	maps.Copy(p.warnings, warnings)
}

// untold returns the warnings that are not told yet; the caller tells them.
func (m *memory) untold(plan *v1alpha1.InstallPlan) map[int][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(client.ObjectKeyFromObject(plan))
	warnings := p.warnings
	p.warnings = nil
	if p.warnedOf != plan.UID {
		return nil
	}
	return warnings
}

// met notes what a plan failed on.
func (m *memory) met(key types.NamespacedName, obstacles []obstacle, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(key)
	p.obstacles, p.failed = obstacles, at
}

// obstacles returns what a plan failed on, and when.
func (m *memory) obstacles(key types.NamespacedName) ([]obstacle, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(key)
	return p.obstacles, p.failed
}

// isBehind tells whether the plan is still as it was before our last status: working from it would do everything once more. The
// event that the write causes brings the plan back.
func (m *memory) isBehind(plan *v1alpha1.InstallPlan) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return plan.ResourceVersion != "" && m.of(client.ObjectKeyFromObject(plan)).written == plan.ResourceVersion
}

// knows tells whether the API server has confirmed, for this plan, what a cache says of the OperatorGroups of the namespace.
func (m *memory) knows(key types.NamespacedName, groups string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(key).groups == groups
}

// confirmed notes what the API server says of them.
func (m *memory) confirmed(key types.NamespacedName, groups string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(key).groups = groups
}
