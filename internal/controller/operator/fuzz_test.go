package operator

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// FuzzReconcile makes passes over random partial objects of all kinds: nothing panics, and it comes to rest.
func FuzzReconcile(f *testing.F) {
	for seed := range int64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		fill := randfill.NewWithSeed(seed).NilChance(0.4).NumElements(0, 2).MaxDepth(5).Funcs(
			func(s *string, c randfill.Continue) {
				*s = []string{"", "etcd", "etcd.v1", ns, key, "ClusterServiceVersion", "operators.coreos.com/v1alpha1", "True"}[c.Intn(8)]
			},
			func(s *metav1.Time, _ randfill.Continue) { *s = metav1.NewTime(time.Unix(1893553445, 0)) },
			func(m *metav1.ObjectMeta, c randfill.Continue) {
				*m = metav1.ObjectMeta{Namespace: ns, Name: "etcd.v1", UID: types.UID([]string{"etcd.v1", "uid"}[c.Intn(2)])}
				c.Fill(&m.Labels)
				c.Fill(&m.OwnerReferences)
			},
			func(*metav1.TypeMeta, randfill.Continue) {},
		)
		var objects []client.Object
		for _, k := range kinds {
			o := k.object()
			if _, partial := o.(*metav1.PartialObjectMetadata); partial {
				o = map[string]client.Object{"Secret": &corev1.Secret{}, "ConfigMap": &corev1.ConfigMap{}, "ServiceAccount": &corev1.ServiceAccount{}}[k.gvk.Kind]
			}
			if csv, ok := o.(*v1alpha1.ClusterServiceVersion); ok { // random versions could not be read
				fill.Fill(&csv.ObjectMeta)
				fill.Fill(&csv.Status)
				fill.Fill(&csv.Spec.CustomResourceDefinitions)
			} else {
				fill.Fill(o)
			}
			objects = append(objects, o)
		}
		operator := &v1.Operator{}
		fill.Fill(&operator.Status)
		operator.Name = name
		k := newCluster(t, append(objects, operator)...)
		for range 4 {
			k.Taken()
			must.NoError(t, k.pass(name))
		}
		if k.Writes() != nil {
			t.Errorf("it does not come to rest: %v", k.Writes())
		}
		for _, o := range objects {
			for _, kind := range kinds {
				k.c.concerned(t.Context(), kind, o)
			}
		}
	})
}
