package installplan

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ofPackage gives a ClusterServiceVersion the annotation that says which package it is of.
func ofPackage(csv *v1alpha1.ClusterServiceVersion, name string) *v1alpha1.ClusterServiceVersion {
	csv.Annotations = map[string]string{v1alpha1.PropertiesAnnotation: `{"properties":[{"type":"olm.package","value":{"packageName":"` + name + `","version":"1.0.0"}}]}`}
	return csv
}

// TestWhatBelongsToOthersIsNotTaken has objects that a plan wants, and that are there already and belong to somebody else.
func TestWhatBelongsToOthersIsNotTaken(t *testing.T) {
	ownedBy := func(csv, namespace string) map[string]string {
		return map[string]string{v1alpha1.ManagedLabel: "true", v1alpha1.OwnerLabel: csv, v1alpha1.OwnerNamespaceLabel: namespace, v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind}
	}
	role := func(labels map[string]string) *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "op.v1-1", Labels: labels}}
	}
	service := func(labels map[string]string, of string) *corev1.Service {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: labels}}
		if of != "" {
			s.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: of, UID: "x"}}
		}
		return s
	}
	const unmarked = "exists, and nothing says that it belongs to an operator: delete or rename it, or let operators have it by giving it the label olm.managed=true"
	tests := map[string]struct {
		objects []client.Object
		refused string // empty: it is taken
		told    string // in an Event
	}{
		"an operator of another namespace has it": {[]client.Object{csv("elsewhere", "other.v1", ""), role(ownedBy("other.v1", "elsewhere"))},
			"ClusterRole op.v1-1 is wanted by ClusterServiceVersion op.v1 but belongs to ClusterServiceVersion elsewhere/other.v1; remove or rename one of the two", ""},
		"another version of the same operator has it, in another namespace": {[]client.Object{ofPackage(csv("elsewhere", "op.v7", ""), "op"), role(ownedBy("op.v7", "elsewhere"))},
			"", "it belonged to ClusterServiceVersion elsewhere/op.v7, which is of the same package"},
		"the same operator has it, in another namespace": {[]client.Object{csv("elsewhere", "op.v1", ""), role(ownedBy("op.v1", "elsewhere"))},
			"", "it belonged to ClusterServiceVersion elsewhere/op.v1"},
		"its operator is gone":               {[]client.Object{role(ownedBy("other.v1", "elsewhere"))}, "", ""},
		"a user's for the cluster":           {[]client.Object{role(nil)}, "ClusterRole op.v1-1 is wanted by ClusterServiceVersion op.v1 but " + unmarked, ""},
		"a user's with labels":               {[]client.Object{role(map[string]string{"app": "mine"})}, unmarked, ""},
		"a user's in the namespace":          {[]client.Object{service(map[string]string{"app": "mine"}, "")}, "Service ns/web is wanted by ClusterServiceVersion op.v1 but " + unmarked, ""},
		"a user's that operators may have":   {[]client.Object{service(map[string]string{v1alpha1.ManagedLabel: "true"}, "")}, "", ""},
		"nobody's, for its operator is gone": {[]client.Object{service(nil, "gone.v1")}, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			incoming := step(t, csvYAML)
			incoming.Resource.Manifest = strings.Replace(incoming.Resource.Manifest, `"name":"op.v1"`,
				`"name":"op.v1","annotations":{"`+v1alpha1.PropertiesAnnotation+`":"{\"properties\":[{\"type\":\"olm.package\",\"value\":{\"packageName\":\"op\",\"version\":\"1.0.0\"}}]}"}`, 1)
			w := newWorld(t, append(deepCopies(tc.objects), newPlan(incoming, step(t, serviceYAML), step(t, clusterRoleYAML)))...)
			p := w.settle(t, 2*time.Minute)
			if tc.refused != "" {
				must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
				must.Contain(t, "message", p.Status.Message, tc.refused)
				if strings.Contains(tc.refused, unmarked) && strings.Contains(p.Status.Message, "rename one of the two") {
					t.Errorf("it gives two different remedies: %s", p.Status.Message)
				}
				if w.get(t, csv("", "", ""), "ns", "op.v1") {
					t.Error("half installed")
				}
				return
			}
			hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
			told := ""
			for len(w.Events.Events) > 0 {
				told += <-w.Events.Events
			}
			if tc.told == "" && told != "" || !strings.Contains(told, tc.told) {
				t.Errorf("Events %q, want %q", told, tc.told)
			}
		})
	}
}
