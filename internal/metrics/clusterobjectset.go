package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// StateGoing is the state of ClusterObjectSets that are being taken out. Those of others are the reasons of their condition Progressing.
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
