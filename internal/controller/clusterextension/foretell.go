package clusterextension

import (
	"context"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/resolution"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
)

// What follows is for those who tell what the controller would do, so that they tell the same as it does.

// RenderOptions are those that the bundle of an extension is rendered with.
func RenderOptions(ext *olmv1.ClusterExtension, provider registryv1.CertificateProvider) registryv1.Options {
	return registryv1.Options{Namespace: ext.Spec.Namespace, Config: configOf(ext), Certificates: provider, OperatorCondition: ext.Name}
}

// ProviderIn is who makes serving certificates in a cluster with some kinds, for an extension with an installed revision, or none.
func ProviderIn(kinds meta.RESTMapper, installed *olmv1.ClusterObjectSet) registryv1.CertificateProvider {
	return chosenOf((&providers{kinds: kinds, clock: clock.RealClock{}}).get(context.Background()), installed)
}

// ProviderOf is who made the serving certificates of a revision; empty when it does not say.
func ProviderOf(r *olmv1.ClusterObjectSet) registryv1.CertificateProvider {
	return registryv1.CertificateProvider(r.Annotations[providerKey])
}

// Kept is the revision whose bundle an extension keeps, with the configuration that is asked for, when catalogs have nothing for it; nil
// when a range of versions is asked for that has none of its own. The revisions are in their order.
func Kept(all []olmv1.ClusterObjectSet, in string) *olmv1.ClusterObjectSet {
	return keptOf(all, in, func(r *olmv1.ClusterObjectSet) (*resolution.Installed, error) {
		return ops.InstalledBundle(r, ops.ParseProperties)
	})
}

// GoesBack returns the revision whose objects an extension takes again because the rollout of another has failed, and that one; nil when it
// does not go back. The revisions are in their order.
func GoesBack(ext *olmv1.ClusterExtension, all []olmv1.ClusterObjectSet) (to, failed *olmv1.ClusterObjectSet) {
	s := &state{ext: ext, revisions: all}
	if t := s.goBack(s.revisions.newest()); t != nil {
		return t.source, t.undone
	}
	return nil, nil
}

// UndoneBefore is why a bundle is not tried again: its rollout failed, and was gone back from. Nil is no reason.
func UndoneBefore(ext *olmv1.ClusterExtension, all []olmv1.ClusterObjectSet, bundle string, provider registryv1.CertificateProvider) error {
	s := &state{ext: ext, revisions: all}
	newest := s.revisions.newest()
	if newest == nil {
		return nil
	}
	for i := range all {
		if r := &all[i]; r.Name == newest.Annotations[failedNameKey] && r.Annotations[olmv1.BundleNameKey] == bundle {
			return s.undoneBefore(kept(r).inputs(ext, provider))
		}
	}
	return nil
}

// IsMadeFor tells whether a revision is of its bundle as an extension asks for it, so that there is nothing to do.
func IsMadeFor(r *olmv1.ClusterObjectSet, ext *olmv1.ClusterExtension, provider registryv1.CertificateProvider) bool {
	t := kept(r)
	return t.is(r, t.inputs(ext, provider))
}
