package clusterserviceversion

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func ownsThing(csv *v1alpha1.ClusterServiceVersion) {
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v1", Kind: "Thing"}}
}

// withDeployments gives a CSV Deployments of other names, or none.
func withDeployments(names ...string) func(*v1alpha1.ClusterServiceVersion) {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = nil
		for _, name := range names {
			csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = append(csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs, newStrategy(name))
		}
	}
}

func managerDeployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager"}}
}

// TestRefusedNeighbour: a CSV that owns the same CRD and comes later changes nothing for the one that runs.
func TestRefusedNeighbour(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.installed(newCSV("two.v1", withoutAccounts, ownsThing))
	k.create(newCSV("one.v1", withoutAccounts, ownsThing, withDeployments("other")))
	expect(t, k.pass("one.v1"), toFailed, "OwnerConflict", "")
	k.delete(managerDeployment())
	k.pass("two.v1")
	if !k.get(ns, "manager", &appsv1.Deployment{}) {
		s := k.csv("two.v1").Status
		t.Errorf("the Deployment of the one that was there first is not made again: %s/%s %q", s.Phase, s.Reason, s.Message)
	}

	// The next version of the one that runs is not kept back by the one that was refused, though that one is older.
	k.rollOut()
	k.pass("two.v1")
	k.create(newCSV("two.v2", withoutAccounts, ownsThing, replacing("two.v1")))
	k.pass("two.v1")
	expect(t, k.pass("two.v2"), toInstalling, "InstallWaiting", "")
}

// TestNeighboursAtOnce: of two CSVs that are created at once the first by name is installed.
func TestNeighboursAtOnce(t *testing.T) {
	for _, order := range [][]string{{"one.v1", "two.v1"}, {"two.v1", "one.v1"}} {
		k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
		k.create(newCSV("one.v1", withoutAccounts, ownsThing), newCSV("two.v1", withoutAccounts, ownsThing, withDeployments("other")))
		for _, name := range order {
			k.pass(name)
		}
		expect(t, k.csv("one.v1"), toInstalling, "InstallWaiting", "")
		expect(t, k.csv("two.v1"), toFailed, "OwnerConflict", "")
	}
}

// TestOwnerConflictStays as long as there is one, whatever the CSV has of its own, and ends with it.
func TestOwnerConflictStays(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.installed(newCSV("one.v1", withoutAccounts, ownsThing))
	k.create(newCSV("two.v1", withoutAccounts, ownsThing, withDeployments()))
	for range 3 {
		expect(t, k.pass("two.v1"), toFailed, "OwnerConflict", "")
	}
	k.delete(k.csv("one.v1"))
	k.pass("two.v1")
	expect(t, k.pass("two.v1"), toSucceeded, "InstallSucceeded", "")
}

// TestDeploymentOfAnother: two CSVs with a Deployment of the same name do not take it from each other.
func TestDeploymentOfAnother(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("one.v1", withoutAccounts))
	k.create(newCSV("two.v1", withoutAccounts))
	k.wrote()
	for range 5 {
		k.rollOut()
		k.pass("one.v1")
		k.pass("two.v1")
	}
	for _, w := range k.wrote() {
		if strings.HasPrefix(applied(w), "apply Deployment") {
			t.Errorf("%s", w)
		}
	}
	expect(t, k.csv("one.v1"), toSucceeded, "InstallSucceeded", "")
	expect(t, k.csv("two.v1"), toFailed, "OwnerConflict", "conflicting Deployment owner in namespace: Deployment manager is one of ClusterServiceVersion one.v1; delete one of the two, or let one replace the other")
	if woken := k.c.triggers().neighbours(t.Context(), k.csv("one.v1")); len(woken) != 1 || woken[0].Name != "two.v1" {
		t.Errorf("the end of one.v1 wakes %v", woken)
	}
	k.delete(k.csv("one.v1"))
	expect(t, k.pass("two.v1"), toInstalling, "InstallWaiting", "")
}

// TestTwoSuccessors of one version: one of them adopts, and the other one reports why it does not.
func TestTwoSuccessors(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1")), newCSV("op.v3", withoutAccounts, replacing("op.v1")))
	k.wrote()
	rollouts := 0
	for range 6 {
		for _, name := range []string{"op.v1", "op.v2", "op.v3"} {
			if k.csv(name) != nil {
				k.pass(name)
			}
		}
		k.rollOut()
		for _, w := range k.wrote() {
			if strings.HasPrefix(applied(w), "apply Deployment") {
				rollouts++
			}
		}
	}
	must.Equal(t, "rollouts of the Deployment", rollouts, 1)
	must.Equal(t, "op.v1 is still there", k.csv("op.v1") != nil, false)
	expect(t, k.csv("op.v2"), toSucceeded, "InstallSucceeded", "")
	expect(t, k.csv("op.v3"), toFailed, "OwnerConflict", "")
}

// TestSecondSuccessorWaits: a version that comes while another one adopts does not stop that.
func TestSecondSuccessorWaits(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1")))
	k.pass("op.v1")
	expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
	later := newCSV("op.v3", withoutAccounts, replacing("op.v1"), withDeployments("other"))
	later.CreationTimestamp.Time = later.CreationTimestamp.AddDate(1, 0, 0)
	k.create(later)
	expect(t, k.pass("op.v3"), toPending, "AllRequirementsMet", "all requirements found, waiting for ClusterServiceVersion op.v2, which replaces op.v1 too, to be deleted, or to replace or be replaced by this one")
	k.rollsOut("op.v2")
	expect(t, k.pass("op.v1"), toDeleting, "Replaced", "")
}
