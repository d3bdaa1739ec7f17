package installplan

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestServiceAccountsAreShared: an operator uses an account that is there already, and the account goes with the operator only if it is
// not a user's.
func TestServiceAccountsAreShared(t *testing.T) {
	other := metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: "other.v1", UID: "other"}
	tests := map[string]struct {
		labels  map[string]string
		owners  []metav1.OwnerReference
		want    []string
		managed bool
	}{
		"a user's":                     {map[string]string{"app": "mine"}, nil, nil, false},
		"a user's, given to operators": {map[string]string{v1alpha1.ManagedLabel: "true"}, nil, []string{"op.v1"}, true},
		"another operator's":           {nil, []metav1.OwnerReference{other}, []string{"op.v1", "other.v1"}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op", Labels: tc.labels, OwnerReferences: tc.owners}}
			w := newWorld(t, account, newPlan(step(t, csvYAML), step(t, accountYAML)))
			for _, pass := range []string{"first", "second"} { // the first must not leave what the second takes for a sign
				p := w.settle(t, time.Minute)
				if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
					t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
				}
				got := &corev1.ServiceAccount{}
				w.get(t, got, "ns", "op")
				checkOwners(t, pass, got.OwnerReferences, tc.want)
				if is := got.Labels[v1alpha1.ManagedLabel] == "true"; is != tc.managed {
					t.Errorf("%s pass: labels %v", pass, got.Labels)
				}
				again := newPlan(step(t, csvYAML), step(t, accountYAML))
				p.Status = again.Status
				if err := w.Status().Update(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func checkOwners(t *testing.T, pass string, got []metav1.OwnerReference, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s pass: owners %+v, want %v", pass, got, want)
		return
	}
	for i, name := range want {
		if got[i].Name != name || got[i].UID == "" {
			t.Errorf("%s pass: owner %+v, want %s", pass, got[i], name)
		}
	}
}
