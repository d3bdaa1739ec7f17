package desired

import (
	"cmp"
	"encoding/json"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle/registryv1"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// products are those that can issue serving certificates in a cluster, the preferred one first, by a kind of each.
var products = []struct {
	kind     schema.GroupKind
	provider registryv1.CertificateProvider
}{
	{schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}, registryv1.CertManager},
	{schema.GroupKind{Group: "operator.openshift.io", Kind: "ServiceCA"}, registryv1.ServiceCA},
}

// Providers returns who can issue serving certificates in a cluster with some kinds, the preferred one first and the controller itself last. It is
// false when that is not known.
func Providers(kinds meta.RESTMapper) ([]registryv1.CertificateProvider, bool) {
	var found []registryv1.CertificateProvider
	for _, product := range products {
		_, err := kinds.RESTMapping(product.kind)
		switch {
		case err == nil:
			found = append(found, product.provider)
		case !meta.IsNoMatchError(err):
			return nil, false
		}
	}
	return append(found, registryv1.BuiltIn), true
}

// Provider returns who issues the serving certificates of the revision after the newest one. The provider of that stays, so that a product that is
// installed later changes nothing that runs, unless the product is gone. Where the available ones are not known, the controller issues
// them, which always works.
func Provider(available []registryv1.CertificateProvider, newest *olmv1.ClusterObjectSet) registryv1.CertificateProvider {
	var before registryv1.CertificateProvider
	if newest != nil {
		before = registryv1.CertificateProvider(newest.Annotations[ProviderKey])
	}
	switch {
	case len(available) == 0:
		return cmp.Or(before, registryv1.BuiltIn)
	case slices.Contains(available, before):
		return before
	}
	return available[0]
}

// RenderOptions returns those that the bundle of an extension is rendered with.
func RenderOptions(ext *olmv1.ClusterExtension, provider registryv1.CertificateProvider) registryv1.Options {
	return registryv1.Options{Namespace: ext.Spec.Namespace, Config: configOf(ext), Certificates: provider, OperatorCondition: ext.Name}
}

func configOf(ext *olmv1.ClusterExtension) json.RawMessage {
	if ext.Spec.Config == nil || ext.Spec.Config.Inline == nil {
		return nil
	}
	return ext.Spec.Config.Inline.Raw
}

// Objects returns the rendered objects that a revision has: all but the OperatorCondition, which outlives revisions.
func Objects(rendered *registryv1.Rendered) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(rendered.Objects), IsCondition)
}

// IsCondition reports whether an object is an OperatorCondition.
func IsCondition(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == v2.GroupVersion.WithKind(v2.OperatorConditionKind).GroupKind()
}
