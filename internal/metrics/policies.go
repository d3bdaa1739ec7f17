package metrics

import "github.com/prometheus/client_golang/prometheus"

// NewMissingPolicies returns the gauge of admission policies that the v1 API relies on and that are not in force: 1 for each, by its name.
func NewMissingPolicies() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "fairlead_admission_policy_missing",
		Help: "1 for each ValidatingAdmissionPolicy of the v1 API that is missing or weaker than the shipped one",
	}, []string{"policy"})
}
