package clusterextension

import (
	"cmp"
	"context"
	"slices"
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
	known []registryv1.CertificateProvider
	until time.Time
}

// Kinds by which the products are known.
var (
	certManagerKind = schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}
	serviceCAKind   = schema.GroupKind{Group: "operator.openshift.io", Kind: "ServiceCA"}
)

// get lists who can: cert-manager first, then the service-ca operator of OpenShift, where they are there, and the controller itself. It is
// empty when that cannot be found out now.
func (p *providers) get(context.Context) []registryv1.CertificateProvider {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clock.Now().Before(p.until) {
		return p.known
	}
	var found []registryv1.CertificateProvider
	for _, product := range []struct {
		kind     schema.GroupKind
		provider registryv1.CertificateProvider
	}{{certManagerKind, registryv1.CertManager}, {serviceCAKind, registryv1.ServiceCA}} {
		_, err := p.kinds.RESTMapping(product.kind)
		switch {
		case err == nil:
			found = append(found, product.provider)
		case !meta.IsNoMatchError(err):
			return p.known
		}
	}
	p.known, p.until = append(found, registryv1.BuiltIn), p.clock.Now().Add(providersLife)
	return p.known
}

// providerFor says who makes serving certificates. What a revision was made with stays, so that a product that is installed later changes
// nothing that runs, but for one that is gone. Where it is not known who could, the controller does, which always works.
func (c *Controller) providerFor(ctx context.Context, newest *olmv1.ClusterObjectSet) registryv1.CertificateProvider {
	return chosenOf(c.providers(ctx), newest)
}

func chosenOf(there []registryv1.CertificateProvider, newest *olmv1.ClusterObjectSet) registryv1.CertificateProvider {
	var before registryv1.CertificateProvider
	if newest != nil {
		before = ProviderOf(newest)
	}
	switch {
	case len(there) == 0:
		return cmp.Or(before, registryv1.BuiltIn)
	case slices.Contains(there, before):
		return before
	}
	return there[0]
}
