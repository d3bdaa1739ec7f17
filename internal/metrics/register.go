package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// collectors are several as one.
type collectors []prometheus.Collector

// Describe is part of prometheus.Collector.
func (all collectors) Describe(descriptions chan<- *prometheus.Desc) {
	for _, c := range all {
		c.Describe(descriptions)
	}
}

// Collect is part of prometheus.Collector.
func (all collectors) Collect(series chan<- prometheus.Metric) {
	for _, c := range all {
		c.Collect(series)
	}
}

// Register registers a collector and returns it, or the one that was registered in its place before: several managers of one process, as
// in tests, share theirs.
func Register[C prometheus.Collector](r prometheus.Registerer, c C) (C, error) {
	err := r.Register(c)
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) {
		if known, same := already.ExistingCollector.(C); same {
			return known, nil
		}
	}
	if err != nil {
		return c, fmt.Errorf("register metrics: %w", err)
	}
	return c, nil
}
