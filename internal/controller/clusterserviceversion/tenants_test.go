package clusterserviceversion

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

const gooseAPI = "Goose.v1.example.com"

func providesGeese(csv *v1alpha1.ClusterServiceVersion) {
	csv.Spec.APIServiceDefinitions.Owned = nil
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "geese.example.com", Version: "v1", Kind: "Goose"}}
}

// rivalGroup lists geese in a namespace, and has done so for longer than any group of newGroup.
func rivalGroup(target string) *v1.OperatorGroup {
	at := metav1.NewTime(time.Unix(0, 0))
	g := &v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "rivals", Name: "rival", Annotations: map[string]string{"olm.providedAPIs": gooseAPI}}}
	g.Spec.StaticProvidedAPIs = true
	g.Status = v1.OperatorGroupStatus{Namespaces: []string{target}, LastUpdated: &at}
	return g
}

// runningGeese is a cluster with an operator that provides geese in namespace a, and runs.
func runningGeese(t *testing.T) *cluster {
	t.Helper()
	k := newCluster(t, newGroup("a"), newCRD("geese.example.com", "v1"))
	k.installed(newCSV("op.v1", providesGeese))
	return k
}

// TestIntersectionStopsAnOperator: the group of another operator comes to reach the namespace. Both sides are named, the
// Deployments go, and everything comes back once the other group is gone.
func TestIntersectionStopsAnOperator(t *testing.T) {
	k := runningGeese(t)
	k.create(rivalGroup("a"))
	csv := k.pass("op.v1")
	expect(t, csv, toFailed, "InterOperatorGroupOwnerConflict", "")
	if m := csv.Status.Message; !strings.HasPrefix(m, "intersecting operatorgroups provide the same apis: ") || !strings.Contains(m, "rivals/rival") || !strings.Contains(m, "operators/group") || !strings.Contains(m, gooseAPI) {
		t.Errorf("message %q", m)
	}
	must.Equal(t, "the Deployment of an operator that may not run is still there", k.deployment("manager") != nil, false)
	k.rests("op.v1")
	k.delete(rivalGroup("a"))
	k.pass("op.v1")
	k.rollsOut("op.v1")
	if !slices.Contains(history(csv), "Failed/InterOperatorGroupOwnerConflict") {
		t.Errorf("history %v", history(csv))
	}
}

// TestStaticGroupRefusesWhatItDoesNotList, until it does.
func TestStaticGroupRefusesWhatItDoesNotList(t *testing.T) {
	k := runningGeese(t)
	static := func(apis string) func(*v1.OperatorGroup) {
		return func(g *v1.OperatorGroup) {
			g.Spec.StaticProvidedAPIs = true
			g.Annotations = map[string]string{"olm.providedAPIs": apis}
		}
	}
	edit(k, ns, "group", &v1.OperatorGroup{}, static("Swan.v1.example.com"))
	csv := k.pass("op.v1")
	expect(t, csv, toFailed, "CannotModifyStaticOperatorGroupProvidedAPIs", "")
	if !strings.Contains(csv.Status.Message, "add "+gooseAPI) || k.deployment("manager") != nil {
		t.Errorf("message %q; Deployment %v", csv.Status.Message, k.deployment("manager"))
	}
	edit(k, ns, "group", &v1.OperatorGroup{}, static("Swan.v1.example.com,"+gooseAPI))
	k.pass("op.v1")
	k.rollsOut("op.v1")
}

// TestUnlistedAPIsAreWaitedFor: nothing is installed before the group lists what was brought for the operator, and an operator
// that runs goes on running meanwhile.
func TestUnlistedAPIsAreWaitedFor(t *testing.T) {
	geese := newCRD("geese.example.com", "v1")
	geese.SetAnnotations(map[string]string{bundle.InstalledAlongsideKey(ns, "op.v1"): ns + "/op.v1"})
	k := newCluster(t, newGroup("a"), geese, newCSV("op.v1", providesGeese))
	alone(k)
	expect(t, k.csv("op.v1"), toPending, "RequirementsUnknown", "waiting for OperatorGroup group to list "+gooseAPI+" among its provided APIs")
	k = runningGeese(t)
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned[0].Version = "v2"
	})
	alone(k)
	expect(t, k.csv("op.v1"), toSucceeded, "InstallSucceeded", "")
}

// alone makes a pass without the controller of OperatorGroups.
func alone(k *cluster) {
	k.t.Helper()
	if _, err := k.c.Reconcile(k.t.Context(), reconcile.Request{NamespacedName: key(ns, "op.v1")}); err != nil {
		k.t.Fatal(err)
	}
}

// TestCompetitorsAreWokenUp by the groups that list what they provide.
func TestCompetitorsAreWokenUp(t *testing.T) {
	k := newCluster(t, newGroup("a"), newCSV("op.v1", providesGeese), newCSV("other.v1"))
	if got := k.c.triggers().competing(t.Context(), rivalGroup("a")); len(got) != 1 || got[0].NamespacedName != client.ObjectKeyFromObject(newCSV("op.v1")) {
		t.Errorf("woken up: %v", got)
	}
}
