package clusterextension

import (
	"cmp"
	"context"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/preflight/crdupgrade"
	"fairlead.dev/fairlead/internal/preflight/permissions"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
)

// What follows is for those who tell what the controller would do, so that they tell the same as it does.

// RenderOptions are those that the bundle of an extension is rendered with.
func RenderOptions(ext *olmv1.ClusterExtension, provider registryv1.CertificateProvider) registryv1.Options {
	return registryv1.Options{Namespace: ext.Spec.Namespace, Config: configOf(ext), Certificates: provider, OperatorCondition: ext.Name}
}

// ProviderIn is who makes serving certificates in a cluster with some kinds, for extensions that are installed now.
func ProviderIn(kinds meta.RESTMapper) registryv1.CertificateProvider {
	return cmp.Or((&providers{kinds: kinds, clock: clock.RealClock{}}).get(context.Background()), registryv1.BuiltIn)
}

// ProviderOf is who made the serving certificates of a revision; empty when it does not say.
func ProviderOf(r *olmv1.ClusterObjectSet) registryv1.CertificateProvider {
	return registryv1.CertificateProvider(r.Annotations[providerKey])
}

// PolicyOf is how strictly the CustomResourceDefinitions of an extension are checked.
func PolicyOf(ext *olmv1.ClusterExtension) (crdupgrade.Policy, error) { return policyOf(ext) }

// Installed is the revision of an extension that is installed; nil when there is none.
func Installed(all []olmv1.ClusterObjectSet) *olmv1.ClusterObjectSet {
	return revisions(all).installed()
}

// IsAcknowledged tells whether somebody has agreed to added permissions with a digest: by the exact version, or by the annotation.
func IsAcknowledged(ext *olmv1.ClusterExtension, digest string) bool {
	said := ext.Annotations[permissions.AcknowledgedKey]
	return said == acknowledgedAll || said != "" && said == digest || isExact(ext)
}
