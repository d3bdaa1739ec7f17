package metrics

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Polls tell when the registries of the catalogs of a kind were last asked with success whether there is newer content, and how often they are to be. It
// is the same for both kinds. A nil value counts nothing.
type Polls struct {
	last, interval *prometheus.Desc
	namespaced     bool

	mu    sync.Mutex
	known map[[2]string]poll // by namespace and name
}

type poll struct {
	last     time.Time
	interval time.Duration
}

// NewPolls makes the metrics of a kind, unregistered.
func NewPolls(kind string, namespaced bool) *Polls {
	labels := []string{"name"}
	if namespaced {
		labels = []string{"namespace", "name"}
	}
	prefix := "fairlead_" + strings.ToLower(kind) + "_"
	return &Polls{namespaced: namespaced, known: map[[2]string]poll{},
		last: prometheus.NewDesc(prefix+"last_poll_timestamp_seconds",
			"When the registry of a "+kind+" that is polled was last asked with success for newer content, in seconds since 1970; until it was, since when the manager tries to", labels, nil),
		interval: prometheus.NewDesc(prefix+"poll_interval_seconds", "How often the registry of a "+kind+" is to be asked for newer content, in seconds", labels, nil)}
}

// Polled says that a catalog is polled, and when that last succeeded; a zero time is that it has not since the manager began to, which is now.
func (m *Polls) Polled(namespace, name string, last, now time.Time, interval time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{namespace, name}
	before, there := m.known[key]
	switch {
	case last.IsZero() && there:
		last = before.last
	case last.IsZero():
		last = now
	}
	m.known[key] = poll{last, interval}
}

// Gone forgets a catalog, or one that is not polled any more.
func (m *Polls) Gone(namespace, name string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, [2]string{namespace, name})
}

// Describe is part of prometheus.Collector.
func (m *Polls) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- m.last
	descriptions <- m.interval
}

// Collect is part of prometheus.Collector.
func (m *Polls) Collect(series chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, p := range m.known {
		labels := key[1:]
		if m.namespaced {
			labels = key[:]
		}
		series <- prometheus.MustNewConstMetric(m.last, prometheus.GaugeValue, float64(p.last.UnixMilli())/1000, labels...)
		series <- prometheus.MustNewConstMetric(m.interval, prometheus.GaugeValue, p.interval.Seconds(), labels...)
	}
}
