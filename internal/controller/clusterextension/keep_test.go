package clusterextension

import (
	"context"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestDefinitionsThatNoRevisionHas: what Helm has installed goes with an extension that is deleted before a revision has taken it over, but no
// custom resources do that no one has named.
func TestDefinitionsThatNoRevisionHas(t *testing.T) {
	yes, no := true, false
	ours := metav1.OwnerReference{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: "my", UID: uidOf("my"), Controller: &yes}
	shared := ours
	shared.Controller = &no
	theirs := metav1.OwnerReference{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind, Name: "other-1", UID: "other-1", Controller: &yes}
	for name, test := range map[string]struct {
		owners  []metav1.OwnerReference
		count   int64
		deletes string
		kept    bool
	}{
		"with custom resources":       {[]metav1.OwnerReference{ours}, 3, "", true},
		"shared":                      {[]metav1.OwnerReference{shared}, 3, "", true},
		"without":                     {[]metav1.OwnerReference{ours}, 0, "", false},
		"named":                       {[]metav1.OwnerReference{ours}, 3, "things.example.com", false},
		"a revision of another's":     {[]metav1.OwnerReference{shared, theirs}, 3, "", false},
		"not of the extension at all": {nil, 3, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			ext := want("my", "a", "")
			ext.Finalizers, ext.Annotations = []string{olmv1.CleanupContentManagerCacheFinalizer}, map[string]string{revision.DeleteCRDsKey: test.deletes}
			w := newWorld(t, ext)
			w.controller.count = func(context.Context, client.Reader, *apiextensionsv1.CustomResourceDefinition) (int64, bool, error) {
				return test.count, false, nil
			}
			crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.com", OwnerReferences: test.owners}}
			crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
				ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "hook"}}}}
			w.add(crd)
			w.add(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hook", OwnerReferences: []metav1.OwnerReference{ours}}})
			w.must(w.client.Delete(t.Context(), w.extension("my")))
			w.pass("my")
			w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(crd), crd))
			if kept := len(crd.OwnerReferences) == 0 && crd.Annotations[revision.KeptKey] == "my/uid-my" && crd.Spec.Conversion.Strategy == apiextensionsv1.NoneConverter; kept != test.kept {
				t.Errorf("it is %+v, %+v", crd.ObjectMeta, crd.Spec.Conversion)
			}
			if !test.kept && len(crd.OwnerReferences) != len(test.owners) {
				t.Errorf("its owners are %v", crd.OwnerReferences)
			}
			must.Equal(t, "told", w.has("CRDKept"), test.kept)
		})
	}
}
