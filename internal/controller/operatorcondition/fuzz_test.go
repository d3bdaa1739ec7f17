package operatorcondition

import (
	"slices"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	v2 "fairlead.dev/fairlead/api/operators/v2"
)

// FuzzReconcile makes passes over random partial objects: nothing panics, what the spec reports is in the status, and it comes to rest.
func FuzzReconcile(f *testing.F) {
	for seed := range int64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		fill := randfill.NewWithSeed(seed).NilChance(0.4).NumElements(0, 3).MaxDepth(8).Funcs(
			func(s *string, c randfill.Continue) {
				*s = []string{"", "a", "default", name, v2.ConditionUpgradeable, "True"}[c.Intn(6)]
			},
			func(s *metav1.Time, _ randfill.Continue) { *s = metav1.NewTime(time.Unix(1893553445, 0)) },
			func(m *metav1.ObjectMeta, c randfill.Continue) {
				*m = metav1.ObjectMeta{Namespace: ns, Name: name, UID: "uid"}
				c.Fill(&m.Labels)
				c.Fill(&m.OwnerReferences)
			},
			func(*metav1.TypeMeta, randfill.Continue) {},
		)
		condition, csv, role, binding := &v2.OperatorCondition{}, newCSV(), &rbacv1.Role{}, &rbacv1.RoleBinding{}
		fill.Fill(&csv.ObjectMeta)
		fill.Fill(&csv.Spec.InstallStrategy.StrategySpec.Permissions)
		fill.Fill(&csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs)
		objects := []client.Object{csv}
		for i, o := range []client.Object{condition, role, binding} {
			fill.Fill(o)
			if seed>>i&1 == 0 {
				objects = append(objects, o)
			}
		}
		k := newCluster(t, objects...)
		var failure error
		for range 4 {
			k.Taken()
			failure = k.pass()
		}
		live := &v2.OperatorCondition{}
		if failure != nil || !k.read(live) {
			return
		}
		if len(k.Taken()) > 0 {
			t.Errorf("it does not come to rest: %+v", live)
		}
		for _, c := range live.Spec.Conditions {
			if !slices.ContainsFunc(live.Status.Conditions, func(s metav1.Condition) bool { return s.Type == c.Type && s.Status == c.Status }) {
				t.Errorf("%s is not in the status: %v", c.Type, live.Status.Conditions)
			}
		}
	})
}
