package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// CatalogSources counts CatalogSources, tells which of them are ready, and how often new content of each was taken over. It is safe for
// concurrent use.
type CatalogSources struct {
	count     *prometheus.Desc
	ready     *prometheus.GaugeVec
	snapshots *prometheus.CounterVec

	mu    sync.Mutex
	known map[[2]string]bool // by namespace and name
}

// NewCatalogSources returns metrics that nothing was counted in yet.
func NewCatalogSources() *CatalogSources {
	labels := []string{"namespace", "name"}
	return &CatalogSources{
		count: prometheus.NewDesc("catalog_source_count", "Number of CatalogSources", nil, nil),
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
}

// Seen records the state of a CatalogSource.
func (m *CatalogSources) Seen(namespace, name string, ready bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[[2]string{namespace, name}] = true
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
	m.ready.DeleteLabelValues(namespace, name)
	m.snapshots.DeleteLabelValues(namespace, name)
}

// Describe is part of prometheus.Collector.
func (m *CatalogSources) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- m.count
	m.ready.Describe(descriptions)
	m.snapshots.Describe(descriptions)
}

// Collect is part of prometheus.Collector.
func (m *CatalogSources) Collect(series chan<- prometheus.Metric) {
	m.mu.Lock()
	total := len(m.known)
	m.mu.Unlock()
	series <- prometheus.MustNewConstMetric(m.count, prometheus.GaugeValue, float64(total))
	m.ready.Collect(series)
	m.snapshots.Collect(series)
}
