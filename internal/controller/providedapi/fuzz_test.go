package providedapi

import (
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// FuzzReconcile makes passes over random partial objects of all kinds that the controller reads: nothing panics, it comes to rest, and what
// has no owner that ends with it is not made.
func FuzzReconcile(f *testing.F) {
	for seed := range int64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		fill := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(6).Funcs(
			func(s *string, c randfill.Continue) {
				*s = []string{"", etcd, ".", "geese", "v1", "v1.a.io", "a.io", "a.", "Goose", "a-group", "olm.managed", kindCRD, kindAPIService, "true", "system:x"}[c.Intn(15)]
			},
			func(s *metav1.Time, _ randfill.Continue) { *s = metav1.NewTime(time.Unix(1893553445, 0)) },
			func(m *metav1.ObjectMeta, c randfill.Continue) {
				*m = metav1.ObjectMeta{UID: types.UID([]string{"crd", "uid"}[c.Intn(2)])}
				c.Fill(&m.Labels)
				c.Fill(&m.Annotations)
				c.Fill(&m.OwnerReferences)
			},
			func(*metav1.TypeMeta, randfill.Continue) {},
		)
		definition, apiService, role := crd(), &apiregistrationv1.APIService{}, &rbacv1.ClusterRole{}
		fill.Fill(apiService)
		fill.Fill(role)
		apiService.Name, role.Name = "v1.a.io", []string{etcd + "-v1-view", "geese-v1-view", "geese-v1-admin"}[uint64(seed)%3]
		objects := []client.Object{definition, apiService, role}
		for _, namespace := range []string{"a", "b"} {
			csv := &v1alpha1.ClusterServiceVersion{}
			fill.Fill(&csv.ObjectMeta)
			fill.Fill(&csv.Spec.CustomResourceDefinitions)
			fill.Fill(&csv.Spec.APIServiceDefinitions)
			csv.Namespace, csv.Name, csv.Status.Phase = namespace, "op.v1", v1alpha1.CSVPhaseSucceeded
			objects = append(objects, csv)
		}
		k := newCluster(t, objects...)
		wake := func() {
			for _, o := range objects {
				for _, r := range append(append(ofOperator(t.Context(), o), ofDefinition(t.Context(), o)...), ofRole(t.Context(), o)...) {
					_ = k.try(r.Namespace, r.Name) // a name that the API server does not take is an error
				}
			}
		}
		wake()
		wake()
		k.Taken()
		wake()
		must.Empty(t, "writes though nothing has changed", k.Taken())
		for name, r := range k.roles() {
			if name != role.Name && len(r.OwnerReferences) == 0 {
				t.Errorf("ClusterRole %s goes with nothing", name)
			}
		}
	})
}
