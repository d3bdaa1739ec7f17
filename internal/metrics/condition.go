package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Condition is one of an object's.
type Condition struct{ Type, Status, Reason string }

// Conditions are those of all objects of a kind that has no namespaces. A nil value counts nothing.
type Conditions struct {
	description *prometheus.Desc

	mu    sync.Mutex
	known map[string][]Condition
}

// NewConditions makes the metric of a kind, unregistered.
func NewConditions(kind string) *Conditions {
	return &Conditions{known: map[string][]Condition{}, description: prometheus.NewDesc("fairlead_"+strings.ToLower(kind)+"_condition",
		"1 where a condition of a "+kind+" is True, 0 where it is False, -1 where it is Unknown.", []string{"name", "type", "reason"}, nil)}
}

// Seen takes the conditions of an object in the place of those that it had: no scrape finds it without.
func (m *Conditions) Seen(name string, all ...Condition) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[name] = all
}

// Gone forgets an object.
func (m *Conditions) Gone(name string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, name)
}

// Describe is part of prometheus.Collector.
func (m *Conditions) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- m.description }

// Collect is part of prometheus.Collector.
func (m *Conditions) Collect(series chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, all := range m.known {
		for _, c := range all {
			value := -1.0
			switch c.Status {
			case "True":
				value = 1
			case "False":
				value = 0
			}
			series <- prometheus.MustNewConstMetric(m.description, prometheus.GaugeValue, value, name, c.Type, c.Reason)
		}
	}
}
