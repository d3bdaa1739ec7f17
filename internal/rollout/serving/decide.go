package serving

import (
	"time"
)

// decision is what becomes of the serving certificate.
type decision struct {
	// issue is why a new certificate is needed; nil when the stored one is good.
	issue error
	// show is the certificate to serve now.
	show Certificate
	// next is when to decide again.
	next time.Time
}

// shown is the certificate that clients get, and since when another one is known to be stored.
type shown struct {
	Certificate
	outdated time.Time // zero when what is served is what is stored
}

// decide judges the certificates themselves: the one in the Secret, which may be anything, and the one that is served.
func decide(stored Certificate, now shown, hosts []string, at time.Time, wait time.Duration) decision {
	if err := stored.Due(hosts, at); err != nil {
		return decision{issue: err, show: now.Certificate, next: at}
	}
	rotate, err := stored.RotateAt()
	if err != nil {
		return decision{issue: err, show: now.Certificate, next: at}
	}
	switch {
	case Same(stored, now.Certificate):
		return decision{show: stored, next: rotate}
	case now.Check(hosts, at) != nil: // there is none, or no client can trust it any more
		return decision{show: stored, next: rotate}
	case at.Before(now.outdated.Add(wait)):
		return decision{show: now.Certificate, next: now.outdated.Add(wait)}
	}
	return decision{show: stored, next: rotate}
}
