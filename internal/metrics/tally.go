package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Tally counts things by one property of theirs: each thing has one value at a time, and the series are as many as there are values. It is
// safe for concurrent use; a nil one counts nothing.
type Tally struct {
	gauge *prometheus.GaugeVec

	mu sync.Mutex
	is map[string]string
}

// NewTally returns a Tally, unregistered, that begins with 0 for every value that is known beforehand.
func NewTally(name, help, label string, values ...string) *Tally {
	t := &Tally{gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label}), is: map[string]string{}}
	for _, v := range values {
		t.gauge.WithLabelValues(v)
	}
	return t
}

// Register registers the gauge, or takes the one that is registered already.
func (t *Tally) Register(r prometheus.Registerer) error {
	var err error
	t.gauge, err = Register(r, t.gauge)
	return err
}

// Set counts a thing under a value, and no other any more; an empty value is none.
func (t *Tally) Set(thing, value string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.is[thing]
	if was == value {
		return
	}
	if was != "" {
		t.gauge.WithLabelValues(was).Dec()
	}
	delete(t.is, thing)
	if value != "" {
		t.gauge.WithLabelValues(value).Inc()
		t.is[thing] = value
	}
}
