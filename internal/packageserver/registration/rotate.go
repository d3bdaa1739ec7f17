package registration

import (
	"time"

	"fairlead.dev/fairlead/internal/certs"
)

// overlap is how long the API server has known a new certificate's authority before the certificate is shown. The one before it is good
// for much longer: a third of its life is left.
const overlap = 10 * time.Second

// decision is what becomes of the serving certificate.
type decision struct {
	// issue says why a new certificate is needed; nil when the stored one is good.
	issue error
	// show is the certificate to be shown now.
	show certs.Serving
	// next is when to look again.
	next time.Time
}

// shown is the certificate that clients see, and since when it was known that another one is stored.
type shown struct {
	certs.Serving
	outdated time.Time // zero when what is shown is what is stored
}

// decide looks at the certificates themselves: that in the Secret, which may be anything, and that which is shown.
func decide(stored certs.Serving, now shown, hosts []string, at time.Time, wait time.Duration) decision {
	if err := stored.Due(hosts, at); err != nil {
		return decision{issue: err, show: now.Serving, next: at}
	}
	rotate, err := stored.RotateAt()
	if err != nil {
		return decision{issue: err, show: now.Serving, next: at}
	}
	switch {
	case same(stored, now.Serving):
		return decision{show: stored, next: rotate}
	case now.Check(hosts, at) != nil: // there is none, or nobody can trust it any more
		return decision{show: stored, next: rotate}
	case at.Before(now.outdated.Add(wait)):
		return decision{show: now.Serving, next: now.outdated.Add(wait)}
	}
	return decision{show: stored, next: rotate}
}
