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

// NewCatalogRequests returns the histogram of how long answers of the HTTP API of catalogs take, by their status code. Name, label and
// buckets are those that dashboards know.
func NewCatalogRequests() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "catalogd_http_request_duration_seconds",
		Help:    "Time that answers of the HTTP API of ClusterCatalogs take, in seconds",
		Buckets: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.6, 2, 2.4, 2.8, 3.2, 3.6, 4, 10},
	}, []string{"code"})
}

// NewMissingPolicies returns the gauge of admission policies that the v1 API relies on and that are not in force: 1 for each, by its name.
func NewMissingPolicies() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "fairlead_admission_policy_missing",
		Help: "1 for each ValidatingAdmissionPolicy of the v1 API that is missing or weaker than the shipped one",
	}, []string{"policy"})
}

// Results of verifications. With the last two the image is not used.
const (
	Signed     = "Signed"     // the image has the signature that its rule requires
	Covered    = "Covered"    // a signed catalog names it by digest
	Accepted   = "Accepted"   // a rule accepts it without a signature
	Unverified = "Unverified" // the policy refuses it
	Undecided  = "Undecided"  // its signatures could not be read
)

// NewVerifications returns the counter of decisions about signatures, by result. Every result is there from the beginning, so that the first
// refusal is an increase.
func NewVerifications() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fairlead_signature_verifications_total",
		Help: "Number of decisions of the signature policy on images, by result: Signed, Covered, Accepted, Unverified or Undecided",
	}, []string{"result"})
	for _, result := range []string{Signed, Covered, Accepted, Unverified, Undecided} {
		v.WithLabelValues(result)
	}
	return v
}
