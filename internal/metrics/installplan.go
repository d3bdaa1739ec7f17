package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// InstallPlans counts InstallPlans, and the resources of theirs that the API server warned about. It is safe for concurrent use.
type InstallPlans struct {
	collectors
	count    prometheus.Gauge
	warnings prometheus.Counter

	mu    sync.Mutex
	known map[[2]string]bool // by namespace and name
}

// NewInstallPlans returns metrics that nothing was counted in yet.
func NewInstallPlans() *InstallPlans {
	m := &InstallPlans{
		count: prometheus.NewGauge(prometheus.GaugeOpts{Name: "install_plan_count", Help: "Number of InstallPlans"}),
		warnings: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "installplan_warnings_total",
			Help: "Monotonic count of resources that generated warnings when applied as part of an InstallPlan (for example, due to deprecation)",
		}),
		known: map[[2]string]bool{},
	}
	m.collectors = collectors{m.count, m.warnings}
	return m
}

// Seen counts an InstallPlan, once.
func (m *InstallPlans) Seen(namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[[2]string{namespace, name}] = true
	m.count.Set(float64(len(m.known)))
}

// Gone counts an InstallPlan no longer.
func (m *InstallPlans) Gone(namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, [2]string{namespace, name})
	m.count.Set(float64(len(m.known)))
}

// Warned counts a resource that the API server warned about.
func (m *InstallPlans) Warned() { m.warnings.Inc() }
