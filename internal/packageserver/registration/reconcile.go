package registration

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/internal/apply"
	"fairlead.dev/fairlead/internal/certs"
)

// attempts bounds how often a certificate is made before its Secret is believed to be somebody else's.
const attempts = 3

// Prepare makes a certificate that can be shown, where there is none.
func (r *Registration) Prepare(ctx context.Context) error {
	namespace := r.engine.Apply(ctx, []apply.Phase{r.options.namespace()})
	if err := namespace.Err(); err != nil {
		return fmt.Errorf("make the namespace of the package server: %w", err)
	}
	_, decided, err := r.settle(ctx)
	if err != nil {
		return err
	}
	r.show(decided.show)
	return nil
}

// reconcile brings everything about, and returns when to look again.
func (r *Registration) reconcile(ctx context.Context) (time.Time, error) {
	stored, decided, err := r.settle(ctx)
	if err != nil {
		return time.Time{}, err
	}
	// What is shown is trusted before it is, and as long as it is.
	trusted := union(stored.Authorities, r.showing.Authorities)
	if err := r.engine.Apply(ctx, r.options.phases(trusted)).Err(); err != nil {
		return time.Time{}, fmt.Errorf("register the package server: %w", err)
	}
	r.show(decided.show)
	return decided.next, nil
}

// settle reads the stored certificate, and makes one until a good one is stored.
func (r *Registration) settle(ctx context.Context) (certs.Serving, decision, error) {
	var why error
	for range attempts {
		secret, stored, err := r.load(ctx)
		if err != nil {
			return certs.Serving{}, decision{}, err
		}
		now := r.options.Clock.Now()
		if same(stored, r.showing.Serving) {
			r.showing.outdated = time.Time{}
		} else if r.showing.outdated.IsZero() {
			r.showing.outdated = now
		}
		d := decide(stored, r.showing, r.options.hosts(), now, r.options.overlap())
		if d.issue == nil {
			return stored, d, nil
		}
		why = d.issue
		r.log.Info("making a new serving certificate", "why", why.Error())
		if err := r.issue(ctx, secret, stored); err != nil {
			return certs.Serving{}, decision{}, err
		}
	}
	return certs.Serving{}, decision{}, fmt.Errorf("store a serving certificate in Secret %s/%s: it is changed as soon as it is written, and then: %w; "+
		"find out by whom", r.options.Namespace, secretName, why)
}

// show exchanges the certificate that is shown.
func (r *Registration) show(s certs.Serving) {
	if same(s, r.showing.Serving) {
		return
	}
	r.certificate.set(s)
	r.showing = shown{Serving: s}
}
