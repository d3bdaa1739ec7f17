package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// InstallPlans counts InstallPlans, and the resources of theirs that the API server warned about. It is safe for concurrent use.
type InstallPlans struct {
	count    *prometheus.Desc
	warnings prometheus.Counter

	mu    sync.Mutex
	known map[[2]string]bool // by namespace and name
}

// NewInstallPlans returns metrics that nothing was counted in yet.
func NewInstallPlans() *InstallPlans {
	return &InstallPlans{
		count: prometheus.NewDesc("install_plan_count", "Number of InstallPlans", nil, nil),
		warnings: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "installplan_warnings_total",
			Help: "Monotonic count of resources that generated warnings when applied as part of an InstallPlan (for example, due to deprecation)",
		}),
		known: map[[2]string]bool{},
	}
}

// Seen counts an InstallPlan, once.
func (m *InstallPlans) Seen(namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[[2]string{namespace, name}] = true
}

// Gone counts an InstallPlan no longer.
func (m *InstallPlans) Gone(namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, [2]string{namespace, name})
}

// Warned counts a resource that the API server warned about.
func (m *InstallPlans) Warned() { m.warnings.Inc() }

// Describe is part of prometheus.Collector.
func (m *InstallPlans) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- m.count
	m.warnings.Describe(descriptions)
}

// Collect is part of prometheus.Collector.
func (m *InstallPlans) Collect(series chan<- prometheus.Metric) {
	m.mu.Lock()
	total := len(m.known)
	m.mu.Unlock()
	series <- prometheus.MustNewConstMetric(m.count, prometheus.GaugeValue, float64(total))
	m.warnings.Collect(series)
}
