package clusterextension

import (
	"context"
	"sync"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// providersLife is how long it is remembered who can make certificates in the cluster: to ask for kinds that are not there costs requests.
const providersLife = time.Minute

// providers finds out who makes serving certificates in the cluster.
type providers struct {
	kinds meta.RESTMapper
	clock clock.PassiveClock

	mu    sync.Mutex
	known registryv1.CertificateProvider
	until time.Time
}

// Kinds by which the products are known.
var (
	certManagerKind = schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}
	serviceCAKind   = schema.GroupKind{Group: "operator.openshift.io", Kind: "ServiceCA"}
)

// get prefers cert-manager, then the service-ca operator of OpenShift. Where neither is there, and when it cannot be found out, the
// controller makes certificates itself, which always works.
func (p *providers) get(context.Context) registryv1.CertificateProvider {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != "" && p.clock.Now().Before(p.until) {
		return p.known
	}
	switch {
	case p.has(certManagerKind):
		p.known = registryv1.CertManager
	case p.has(serviceCAKind):
		p.known = registryv1.ServiceCA
	default:
		p.known = registryv1.BuiltIn
	}
	p.until = p.clock.Now().Add(providersLife)
	return p.known
}

func (p *providers) has(kind schema.GroupKind) bool {
	_, err := p.kinds.RESTMapping(kind)
	return err == nil
}

// providerFor says who makes serving certificates. What a revision was made with stays, so that a product that is installed later changes
// nothing that runs, but for one that is gone.
func (c *Controller) providerFor(ctx context.Context, newest *olmv1.ClusterObjectSet) registryv1.CertificateProvider {
	if newest != nil {
		if p := registryv1.CertificateProvider(newest.Annotations[providerKey]); p == registryv1.BuiltIn || p != "" && p == c.provider(ctx) {
			return p
		}
	}
	return c.provider(ctx)
}
