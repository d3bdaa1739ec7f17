package clusterserviceversion

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// trustDelay is how long everybody who asks a server knows its next certificate before the server shows it. An API server hears of new
// authorities a moment later, and goes on with those that it knew for requests that are under way, which take up to a minute.
const trustDelay = time.Minute

// announcement is a certificate that everything that is registered trusts, since some time. It is kept in memory alone: a manager that is
// started in between announces another one.
type announcement struct {
	serving serving.Certificate
	at      time.Time
}

// key is the name of the Secret.
func (c *certificate) key() types.NamespacedName {
	return key(c.namespace, bundle.ServingSecretName(c.deployment))
}

// trusted are the authorities for what is registered: that of the certificate that is shown is always among them.
func (c *certificate) trusted() []byte {
	if c.announced != nil {
		return c.announced.serving.CABundle
	}
	return c.serving.CABundle
}

// findAnnounced looks for what takes the place of a certificate. It is forgotten when nothing has to, or when it has become too old itself.
func (f *facts) findAnnounced(c *certificate) {
	c.announced = nil
	stored, ok := f.c.announced.Load(c.key())
	if !ok {
		return
	}
	a := stored.(announcement)
	if c.due == nil || a.serving.Due(c.hosts, f.c.clock.Now()) != nil {
		f.c.announced.Delete(c.key())
		return
	}
	c.announced = &a
	if ripe := a.at.Add(trustDelay); f.ripeAt.IsZero() || ripe.Before(f.ripeAt) {
		f.ripeAt = ripe
	}
}

// replaceable is why a certificate is to be replaced now; nil when it is good, or is good enough until the next one is trusted.
func (f *facts) replaceable(c *certificate) error {
	if c.unusable == nil && (c.announced == nil || f.c.clock.Since(c.announced.at) < trustDelay) {
		return nil
	}
	return c.due
}

// unannounced is why a certificate that works is to be replaced, where nothing was done about that yet.
func (f *facts) unannounced(c *certificate) error {
	if c.unusable != nil || c.announced != nil {
		return nil
	}
	return c.due
}

// certificatesUnannounced looks for certificates that are to be renewed, and whose successors nobody trusts yet.
func (f *facts) certificatesUnannounced(ctx context.Context) (finding, error) {
	return f.firstCertificate(ctx, f.unannounced)
}

// announce makes the certificates that take the place of others, and lets everything that is registered trust them. Servers show them
// later.
func (f *facts) announce(ctx context.Context, reason func(*certificate) error) error {
	certificates, err := f.readCertificates(ctx)
	if err != nil {
		return err
	}
	due := f.choose(certificates, reason)
	for _, c := range due {
		renewed, err := f.issue(c)
		if err != nil {
			return err
		}
		c.announced = &announcement{serving: renewed}
	}
	f.wanted = nil
	if err := f.spreadTrust(ctx); err != nil {
		err = fmt.Errorf("spread trust in the next serving certificates of ClusterServiceVersion %s: %w", f.name(), err)
		if !isTransient(err) {
			f.c.tell(f.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonNeedsCertRotation, err.Error())
		}
		return err
	}
	now := f.c.clock.Now()
	for _, c := range due {
		c.announced.at = now
		f.c.announced.Store(c.key(), *c.announced)
		f.findAnnounced(c)
	}
	return nil
}
