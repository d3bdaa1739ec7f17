package metrics

import "github.com/prometheus/client_golang/prometheus"

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
