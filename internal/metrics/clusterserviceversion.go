package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ClusterServiceVersions counts ClusterServiceVersions and tells the state of each: what it is, why, and since when. Copies are none of
// them. It is safe for concurrent use.
type ClusterServiceVersions struct {
	collectors
	count     prometheus.Gauge
	succeeded *prometheus.GaugeVec
	abnormal  *prometheus.GaugeVec
	since     *prometheus.GaugeVec
	upgrades  prometheus.Counter

	mu    sync.Mutex
	known map[[2]string]CSVState // by namespace and name
}

// CSVState is what the series of a ClusterServiceVersion tell of it.
type CSVState struct {
	Version, Phase, Reason string
	Succeeded              bool
	// Since is when it came into its phase; zero when that is not known.
	Since time.Time
}

// NewClusterServiceVersions returns metrics that nothing was counted in yet.
func NewClusterServiceVersions() *ClusterServiceVersions {
	labels := []string{"namespace", "name", "version"}
	m := &ClusterServiceVersions{
		count: prometheus.NewGauge(prometheus.GaugeOpts{Name: "csv_count", Help: "Number of ClusterServiceVersions, without copies"}),
		succeeded: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "csv_succeeded",
			Help: "Whether a ClusterServiceVersion is Succeeded (1) or in any other phase (0)",
		}, labels),
		abnormal: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "csv_abnormal",
			Help: "Present, with the value 1, for each ClusterServiceVersion in another phase than Succeeded",
		}, append(labels[:len(labels):len(labels)], "phase", "reason")),
		since: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "csv_phase_since_timestamp_seconds",
			Help: "When a ClusterServiceVersion came into the phase that it is in, in seconds since 1970",
		}, labels),
		upgrades: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "csv_upgrade_count",
			Help: "Monotonic count of ClusterServiceVersions that began to be replaced by a newer one",
		}),
		known: map[[2]string]CSVState{},
	}
	m.collectors = collectors{m.count, m.succeeded, m.abnormal, m.since, m.upgrades}
	return m
}

// Seen records the state of a ClusterServiceVersion in place of what was recorded before.
func (m *ClusterServiceVersions) Seen(namespace, name string, state CSVState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{namespace, name}
	before, ok := m.known[key]
	if ok && before == state {
		return
	}
	if ok {
		m.forget(key, before)
	}
	m.known[key] = state
	m.count.Set(float64(len(m.known)))
	value := 0.0
	if state.Succeeded {
		value = 1
	} else {
		m.abnormal.WithLabelValues(namespace, name, state.Version, state.Phase, state.Reason).Set(1)
	}
	m.succeeded.WithLabelValues(namespace, name, state.Version).Set(value)
	if !state.Since.IsZero() {
		m.since.WithLabelValues(namespace, name, state.Version).Set(float64(state.Since.Unix()))
	}
}

// Gone takes the series of a ClusterServiceVersion away.
func (m *ClusterServiceVersions) Gone(namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{namespace, name}
	if state, ok := m.known[key]; ok {
		m.forget(key, state)
		delete(m.known, key)
		m.count.Set(float64(len(m.known)))
	}
}

func (m *ClusterServiceVersions) forget(key [2]string, state CSVState) {
	m.succeeded.DeleteLabelValues(key[0], key[1], state.Version)
	m.abnormal.DeleteLabelValues(key[0], key[1], state.Version, state.Phase, state.Reason)
	m.since.DeleteLabelValues(key[0], key[1], state.Version)
}

// Upgraded counts a ClusterServiceVersion that begins to be replaced.
func (m *ClusterServiceVersions) Upgraded() { m.upgrades.Inc() }

// Collect is part of prometheus.Collector: no scrape finds a ClusterServiceVersion between two states.
func (m *ClusterServiceVersions) Collect(series chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collectors.Collect(series)
}
