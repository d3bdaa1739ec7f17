package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcomes of a resolution, as the label of olm_resolution_duration_seconds has them.
const (
	outcomeSucceeded = "succeeded"
	outcomeFailed    = "failed"
)

// Subscription is what is counted of a Subscription.
type Subscription struct {
	Name, Installed, Channel, Package, Approval string
}

func (s Subscription) labels() []string {
	return []string{s.Name, s.Installed, s.Channel, s.Package, s.Approval}
}

// Subscriptions counts Subscriptions, how often each was checked, and how long resolution takes. It is safe for concurrent use.
type Subscriptions struct {
	collectors
	count      prometheus.Gauge
	synced     *prometheus.CounterVec
	resolution *prometheus.SummaryVec

	mu    sync.Mutex
	known map[string]map[string]Subscription // by namespace and name: names repeat in other namespaces
	users map[Subscription]int               // how many Subscriptions share a series, as it does not tell their namespace
}

// NewSubscriptions returns metrics that nothing was counted in yet.
func NewSubscriptions() *Subscriptions {
	m := &Subscriptions{
		count: prometheus.NewGauge(prometheus.GaugeOpts{Name: "subscription_count", Help: "Number of Subscriptions"}),
		synced: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "subscription_sync_total",
			Help: "Monotonic count of Subscription syncs",
		}, []string{"name", "installed", "channel", "package", "approval"}),
		resolution: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name:       "olm_resolution_duration_seconds",
			Help:       "The duration of an attempt to resolve the dependencies of a namespace",
			Objectives: map[float64]float64{0.95: 0.05, 0.9: 0.01, 0.99: 0.001},
		}, []string{"outcome"}),
		known: map[string]map[string]Subscription{},
		users: map[Subscription]int{},
	}
	m.collectors = collectors{m.count, m.synced, m.resolution}
	return m
}

// Synced counts a check of the Subscriptions of a namespace, which are all that it has: the series of others that it had go.
func (m *Subscriptions) Synced(namespace string, all []Subscription) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := make(map[string]Subscription, len(all))
	for _, s := range all {
		now[s.Name] = s
	}
	for name, old := range m.known[namespace] {
		if now[name] == old {
			continue
		}
		if m.users[old]--; m.users[old] <= 0 { // the series goes when no one is left in it
			delete(m.users, old)
			m.synced.DeleteLabelValues(old.labels()...)
		}
	}
	for name, s := range now {
		if m.known[namespace][name] != s {
			m.users[s]++
		}
		m.synced.WithLabelValues(s.labels()...).Inc()
	}
	m.count.Add(float64(len(now) - len(m.known[namespace])))
	if m.known[namespace] = now; len(now) == 0 {
		delete(m.known, namespace)
	}
}

// Resolved records how long it took to decide on a namespace.
func (m *Subscriptions) Resolved(took time.Duration, succeeded bool) {
	outcome := outcomeFailed
	if succeeded {
		outcome = outcomeSucceeded
	}
	m.resolution.WithLabelValues(outcome).Observe(took.Seconds())
}
