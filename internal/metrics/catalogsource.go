package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// CatalogSources counts CatalogSources, tells which of them are ready, and how often new content of each was adopted. It is safe for
// concurrent use.
type CatalogSources struct {
	collectors
	count     prometheus.Gauge
	ready     *prometheus.GaugeVec
	snapshots *prometheus.CounterVec

	mu    sync.Mutex
	known map[[2]string]bool // by namespace and name
}

// NewCatalogSources returns metrics that nothing was counted in yet.
func NewCatalogSources() *CatalogSources {
	labels := []string{"namespace", "name"}
	m := &CatalogSources{
		count: prometheus.NewGauge(prometheus.GaugeOpts{Name: "catalog_source_count", Help: "Number of CatalogSources"}),
		ready: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "catalogsource_ready",
			Help: "State of a CatalogSource: 1 if it is READY, 0 if it is in any other state",
		}, labels),
		snapshots: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "catalog_source_snapshots_total",
			Help: "Number of times new content of a CatalogSource began to be served",
		}, labels),
		known: map[[2]string]bool{},
	}
	m.collectors = collectors{m.count, m.ready, m.snapshots}
	return m
}

// Seen records the state of a CatalogSource.
func (m *CatalogSources) Seen(namespace, name string, ready bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[[2]string{namespace, name}] = true
	m.count.Set(float64(len(m.known)))
	value := 0.0
	if ready {
		value = 1
	}
	m.ready.WithLabelValues(namespace, name).Set(value)
}

// Loaded counts new content of a CatalogSource.
func (m *CatalogSources) Loaded(namespace, name string) {
	m.snapshots.WithLabelValues(namespace, name).Inc()
}

// Gone takes the series of a CatalogSource away.
func (m *CatalogSources) Gone(namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, [2]string{namespace, name})
	m.count.Set(float64(len(m.known)))
	m.ready.DeleteLabelValues(namespace, name)
	m.snapshots.DeleteLabelValues(namespace, name)
}
