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
	made      string // the resource version that our last status made, at wroteAt, until its event has been seen
	wroteAt   time.Time
	failing   series
	due       time.Time // when the next pass is, if nothing but our status has changed; zero is as soon as there is an event
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

// recall returns a copy of what is remembered of a plan.
func (m *memory) recall(key types.NamespacedName) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.of(key)
}

// update changes what is remembered of a plan.
func (m *memory) update(key types.NamespacedName, change func(*remembered)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m.of(key))
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.plans, key)
}

// nudge notes that a plan has reason to be tried again although it failed.
func (m *memory) nudge(key types.NamespacedName) {
	m.update(key, func(p *remembered) { p.nudged = true })
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
