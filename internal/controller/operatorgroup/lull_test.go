package operatorgroup

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"
)

// TestRolesWaitForALull: the APIs of operators that are being installed come to the ClusterRoles of the group all at once, when these are at
// rest, and in any case after a while; those that go, go at once.
func TestRolesWaitForALull(t *testing.T) {
	k := newCluster(t, groupIn("a"))
	look := func(roles int) time.Duration {
		t.Helper()
		result := must.Value(k.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "a", Name: "group"}}))(t)
		// How many APIs the ClusterRoles of the group gather, all together.
		got := 0
		for _, role := range k.roles() {
			for _, s := range role.AggregationRule.ClusterRoleSelectors {
				for label := range s.MatchLabels {
					if !strings.HasPrefix(label, nothing) {
						got++
					}
				}
			}
		}
		must.Equal(t, "APIs that the three roles gather", got, 3*roles)
		return result.RequeueAfter
	}
	status := func(csv *v1alpha1.ClusterServiceVersion, phase v1alpha1.ClusterServiceVersionPhase) {
		t.Helper()
		csv.Status.Phase, csv.Status.LastUpdateTime = phase, &metav1.Time{Time: k.Clock.Now()}
		k.update(csv)
	}
	look(0)
	goose, duck := operator("a", "goose.v1", "Goose"), operator("a", "duck.v1", "Duck")
	k.create(goose)
	k.create(duck)
	status(goose, v1alpha1.CSVPhasePending)
	status(duck, v1alpha1.CSVPhasePending)
	if again := look(0); again <= 0 || again > reconcile.QuietPeriod {
		t.Errorf("looked at again after %s", again)
	}
	k.wantAPIs("a", "Duck.v1.example.com,Goose.v1.example.com") // their installation waits for that
	status(goose, v1alpha1.CSVPhaseSucceeded)
	if again := look(0); again <= 0 || again > reconcile.QuietPeriod {
		t.Errorf("while another is being installed: looked at again after %s", again)
	}
	status(duck, v1alpha1.CSVPhaseSucceeded)
	must.Equal(t, "requeue at rest", look(2), 0)

	// One that never comes to rest puts nothing off for ever, and one that goes is not waited for.
	swan := operator("a", "swan.v1", "Swan")
	k.create(swan)
	status(swan, v1alpha1.CSVPhaseSucceeded)
	for end := k.Clock.Now().Add(reconcile.MaxQuietWait); k.Clock.Now().Before(end); k.Clock.SetTime(k.Clock.Now().Add(reconcile.QuietPeriod / 5)) {
		status(duck, v1alpha1.CSVPhaseInstalling)
		look(2)
	}
	look(3)
	must.NoError(t, k.client.Delete(t.Context(), goose))
	status(duck, v1alpha1.CSVPhaseInstalling)
	look(2)
}
