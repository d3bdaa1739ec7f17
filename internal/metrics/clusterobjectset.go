package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// StateGoing is the state of ClusterObjectSets that are being removed. Those of others are the reasons of their condition Progressing.
const StateGoing = "TakingOut"

// ClusterObjectSets are the metrics of revisions: docs/revisions.md lists them. Their series do not name revisions, of which there are many in
// the life of a cluster. A nil value counts nothing.
type ClusterObjectSets struct {
	states      *Tally
	unavailable *Tally
	rollOuts    prometheus.Histogram
}

// NewClusterObjectSets makes the metrics, unregistered.
func NewClusterObjectSets(states ...string) *ClusterObjectSets {
	return &ClusterObjectSets{
		states:      NewTally("fairlead_clusterobjectsets", "Number of ClusterObjectSets, by the reason of their condition Progressing", "state", append(states, StateGoing)...),
		unavailable: NewTally("fairlead_clusterobjectsets_unavailable", "Number of active ClusterObjectSets of which objects are not available, by whether they were complete before", "rolled_out", "false", "true"),
		rollOuts: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "fairlead_clusterobjectset_rollout_duration_seconds",
			Help:    "Time from the creation of ClusterObjectSets until they were complete for the first time, in seconds",
			Buckets: []float64{1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200}}),
	}
}

// Register registers the metrics, or takes those that are registered already, as by another manager of the same process.
func (m *ClusterObjectSets) Register(r prometheus.Registerer) error {
	for _, t := range []*Tally{m.states, m.unavailable} {
		if err := t.Register(r); err != nil {
			return err
		}
	}
	var err error
	m.rollOuts, err = Register(r, m.rollOuts)
	return err
}

// Observe counts a ClusterObjectSet as it stands. One that was complete before is counted apart from one that never was, where objects are not available.
func (m *ClusterObjectSets) Observe(name, state string, unavailable, rolledOut bool) {
	if m == nil {
		return
	}
	m.states.Set(name, state)
	value := ""
	if unavailable {
		value = map[bool]string{true: "true", false: "false"}[rolledOut]
	}
	m.unavailable.Set(name, value)
}

// RolledOut counts a ClusterObjectSet that is complete for the first time.
func (m *ClusterObjectSets) RolledOut(after time.Duration) {
	if m != nil {
		m.rollOuts.Observe(after.Seconds())
	}
}

// Forget counts a ClusterObjectSet no more.
func (m *ClusterObjectSets) Forget(name string) { m.Observe(name, "", false, false) }

// Tally counts things by one property of theirs: each thing has one value at a time, and the series are as many as there are values. It is
// safe for concurrent use; a nil one counts nothing.
type Tally struct {
	gauge *prometheus.GaugeVec

	mu sync.Mutex
	is map[string]string
}

// NewTally returns a Tally, unregistered, that begins with 0 for every value that is known beforehand.
func NewTally(name, help, label string, values ...string) *Tally {
	t := &Tally{gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label}), is: map[string]string{}}
	for _, v := range values {
		t.gauge.WithLabelValues(v)
	}
	return t
}

// Register registers the gauge, or takes the one that is registered already.
func (t *Tally) Register(r prometheus.Registerer) error {
	var err error
	t.gauge, err = Register(r, t.gauge)
	return err
}

// Set counts a thing under a value, and no other any more; an empty value is none.
func (t *Tally) Set(thing, value string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.is[thing]
	if was == value {
		return
	}
	if was != "" {
		t.gauge.WithLabelValues(was).Dec()
	}
	delete(t.is, thing)
	if value != "" {
		t.gauge.WithLabelValues(value).Inc()
		t.is[thing] = value
	}
}
