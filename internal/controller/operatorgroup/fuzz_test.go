package operatorgroup

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// FuzzPartialObjects makes passes over random partial objects of all kinds that the controller reads: nothing panics, and it comes to rest.
// What is woken by each of them is asked too.
func FuzzPartialObjects(f *testing.F) {
	for seed := range int64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		fill := randfill.NewWithSeed(seed).NilChance(0.4).NumElements(0, 2).MaxDepth(6).Funcs(
			func(s *string, c randfill.Continue) {
				*s = []string{"", "group", "other", ns, "a", "x", "In", "OperatorGroup", "Goose.v1.example.com", "geese.example.com", "v1", "Goose", "example.com", "True"}[c.Intn(14)]
			},
			func(s *metav1.Time, _ randfill.Continue) { *s = metav1.NewTime(time.Unix(1893553445, 0)) },
			func(m *metav1.ObjectMeta, c randfill.Continue) {
				*m = metav1.ObjectMeta{Namespace: ns, Name: "group", UID: types.UID([]string{"group-uid", "uid"}[c.Intn(2)])}
				c.Fill(&m.Labels)
				c.Fill(&m.Annotations)
			},
			func(*metav1.TypeMeta, randfill.Continue) {},
		)
		namespace, account, role := &corev1.Namespace{}, &corev1.ServiceAccount{}, &rbacv1.ClusterRole{}
		one, other, csv := &v1.OperatorGroup{}, &v1.OperatorGroup{}, &v1alpha1.ClusterServiceVersion{}
		for _, o := range []client.Object{namespace, account, role, one, other} {
			fill.Fill(o)
		}
		fill.Fill(&csv.ObjectMeta)
		fill.Fill(&csv.Spec.CustomResourceDefinitions)
		fill.Fill(&csv.Spec.APIServiceDefinitions)
		fill.Fill(&csv.Spec.InstallModes)
		fill.Fill(&csv.Status)
		namespace.Name, namespace.Namespace, role.Namespace = "a", "", ""
		one.UID, other.UID = "group-uid", "other-uid" // no two objects have the same
		if other.Name = "other"; seed%2 == 0 {
			other.Namespace = "a"
		}
		objects := []client.Object{namespace, account, role, one, other, csv}
		k := newCluster(t, objects...)
		for range 3 {
			for _, name := range []string{"group", "other"} {
				_ = k.try(name) // what cannot be is said, such as an account that is not there
			}
		}
		k.Taken()
		for _, name := range []string{"group", "other"} {
			_ = k.try(name)
		}
		if len(k.Writes()) > 0 {
			t.Errorf("it does not come to rest: %v", k.Writes())
		}
		for _, o := range objects {
			k.c.watches().siblings(t.Context(), o)
			k.c.watches().rivals(t.Context(), o)
			k.c.watches().groupsOfNamespace(t.Context(), o)
			k.c.watches().groupsOfAccount(t.Context(), o)
			_ = k.c.watches().groupOfRole(t.Context(), o)
		}
	})
}
