package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// InstallPlans counts InstallPlans, those that wait for approval, and the resources of theirs that the API server warned about. It is safe for
// concurrent use.
type InstallPlans struct {
	collectors
	count    prometheus.Gauge
	warnings prometheus.Counter
	waiting  *prometheus.Desc
	oldest   *prometheus.Desc

	mu    sync.Mutex
	known map[[2]string]time.Time // by namespace and name: since when it waits for approval, zero when it does not
}

// NewInstallPlans returns metrics that nothing was counted in yet.
func NewInstallPlans() *InstallPlans {
	m := &InstallPlans{
		count: prometheus.NewGauge(prometheus.GaugeOpts{Name: "install_plan_count", Help: "Number of InstallPlans"}),
		warnings: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "installplan_warnings_total",
			Help: "Monotonic count of resources that generated warnings when applied as part of an InstallPlan (for example, due to deprecation)",
		}),
		waiting: prometheus.NewDesc("fairlead_installplans_requiring_approval", "Number of InstallPlans that wait until a user approves them", nil, nil),
		oldest: prometheus.NewDesc("fairlead_installplans_requiring_approval_oldest_timestamp_seconds",
			"When the oldest of the InstallPlans was created that wait until a user approves them, in seconds since 1970; absent when none does", nil, nil),
		known: map[[2]string]time.Time{},
	}
	m.collectors = collectors{m.count, m.warnings}
	return m
}

// Describe is part of prometheus.Collector.
func (m *InstallPlans) Describe(descriptions chan<- *prometheus.Desc) {
	m.collectors.Describe(descriptions)
	descriptions <- m.waiting
	descriptions <- m.oldest
}

// Collect is part of prometheus.Collector.
func (m *InstallPlans) Collect(series chan<- prometheus.Metric) {
	m.collectors.Collect(series)
	m.mu.Lock()
	defer m.mu.Unlock()
	waiting, oldest := 0, time.Time{}
	for _, since := range m.known {
		if since.IsZero() {
			continue
		}
		if waiting++; oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	series <- prometheus.MustNewConstMetric(m.waiting, prometheus.GaugeValue, float64(waiting))
	if waiting > 0 {
		series <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, float64(oldest.Unix()))
	}
}

// Seen counts an InstallPlan, once, and that it waits for approval since a time; a zero time is that it does not.
func (m *InstallPlans) Seen(namespace, name string, waiting time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[[2]string{namespace, name}] = waiting
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
