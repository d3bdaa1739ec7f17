package clusterserviceversion

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// TestHealedWhileReplaced: as long as the next version waits for its requirements, the old one is healed; not any more from
// when the next one has begun, or has taken over what the old one had.
func TestHealedWhileReplaced(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v1", Kind: "Thing"}}
	}))
	k.pass("op.v2")
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	k.delete(managerDeployment())
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	expect(t, k.pass("op.v2"), toPending, "RequirementsNotMet", "")
	d := &appsv1.Deployment{}
	if !k.get(ns, "manager", d) || d.Labels[v1alpha1.OwnerLabel] != "op.v1" {
		t.Fatalf("nothing runs: %v", d.Labels)
	}

	k.create(newCRD("things.example.com", "v1"))
	before := k.csv("op.v2").Status
	expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
	after := k.csv("op.v2").Status
	k.wrote()
	for _, status := range []v1alpha1.ClusterServiceVersionStatus{before, after} {
		csv := k.csv("op.v2")
		csv.Status = status // what the cache shows
		if err := k.client.Status().Update(t.Context(), csv); err != nil {
			t.Fatal(err)
		}
		k.pass("op.v1")
		if writes := k.wrote(); writes != nil {
			t.Errorf("while the next version is %s: %v", status.Phase, writes)
		}
	}
}
