package clusterserviceversion

import (
	"fmt"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestReplacedWithTheSameDeployment: the new version takes the Deployment over, which keeps running.
func TestReplacedWithTheSameDeployment(t *testing.T) {
	w := newWorld(t)
	w.install(w.operator("op.v1"))
	w.Succeeds("op.v1")
	before := w.deployment("manager").UID
	w.install(w.operator("op.v2", fixture.Replacing("op.v1"), withImage("example.com/manager:2")))
	w.Succeeds("op.v2")
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	d := w.deployment("manager")
	if d == nil || d.UID != before || d.Labels["olm.owner"] != "op.v2" || d.Spec.Template.Spec.Containers[0].Image != "example.com/manager:2" {
		t.Errorf("the Deployment was not taken over: %+v", d)
	}
	w.rolledOut("manager", 2)
	w.stands("op.v2")
}

// TestReplacedWithAnotherDeployment: the old one goes with its version.
func TestReplacedWithAnotherDeployment(t *testing.T) {
	w := newWorld(t)
	w.install(w.operator("op.v1"))
	w.Succeeds("op.v1")
	w.install(w.operator("op.v2", fixture.Replacing("op.v1"), withDeployments("other")))
	w.Succeeds("op.v2")
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	w.Goes("manager", &appsv1.Deployment{})
}

// TestReplacedWithAnotherSelector, which a Deployment cannot get: that is told with what to do, the old version runs on and is healed, and once
// the Deployment is deleted the new one makes it anew.
func TestReplacedWithAnotherSelector(t *testing.T) {
	w := newWorld(t)
	w.install(w.operator("op.v1"))
	w.Succeeds("op.v1")
	w.install(w.operator("op.v2", fixture.Replacing("op.v1"), withImage("example.com/manager:2"), strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
		spec := &s.DeploymentSpecs[0].Spec
		spec.Template.Labels = map[string]string{"control-plane": "manager"}
		spec.Selector = &metav1.LabelSelector{MatchLabels: spec.Template.Labels}
	})))
	csv := w.Is("op.v2", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonComponentFailedNoRetry)
	want := fmt.Sprintf("install strategy failed: Deployment %s/manager exists with the selector app=manager, which cannot be changed to control-plane=manager: "+
		"delete the Deployment, and it is recreated (none of its pods runs in between), or have the author of the operator name it otherwise", w.Namespace)
	must.Equal(t, "message", csv.Status.Message, want)

	w.Is("op.v1", v1alpha1.CSVPhaseReplacing, v1alpha1.CSVReasonBeingReplaced)
	edit(w, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "example.com/evil:1" })
	w.runs("manager", "example.com/manager:1")

	before := w.deployment("manager").UID
	w.Remove(w.deployment("manager"))
	w.Succeeds("op.v2")
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	if d := w.deployment("manager"); d == nil || d.UID == before || d.Spec.Selector.MatchLabels["control-plane"] != "manager" {
		t.Errorf("the Deployment was not made anew: %+v", d)
	}
	w.runs("manager", "example.com/manager:2")
}

// TestReplacedOverIntermediates that were made at once: only the last one is left.
func TestReplacedOverIntermediates(t *testing.T) {
	sweep.Nightly(t, "TestUpgradeOverSeveralVersionsGoesFromTheOldestEnd of internal/controller/clusterserviceversion with a fake API server")
	w := newWorld(t)
	w.install(w.operator("op.v1"))
	for i := 2; i <= 4; i++ {
		w.install(w.operator(fmt.Sprintf("op.v%d", i), fixture.Replacing(fmt.Sprintf("op.v%d", i-1)), withImage(fmt.Sprintf("example.com/manager:%d", i))))
	}
	w.Succeeds("op.v4")
	for i := 1; i <= 3; i++ {
		w.Goes(fmt.Sprintf("op.v%d", i), &v1alpha1.ClusterServiceVersion{})
	}
	w.runs("manager", "example.com/manager:4")
}

// TestVersionsOfACRDComeAndGo over a chain of versions of the operator.
func TestVersionsOfACRDComeAndGo(t *testing.T) {
	sweep.Nightly(t, "TestCRDRows and TestUpgradeWithoutAnOldVersionOfACRD of internal/controller/clusterserviceversion with a fake API server")
	w := newWorld(t)
	w.makeCRD("v1alpha1")
	w.install(w.operator("op.v1", w.owns("v1alpha1")))
	w.Succeeds("op.v1")
	w.install(w.operator("op.v2", w.owns("v1alpha1", "v1alpha2"), fixture.Replacing("op.v1")))
	w.Succeeds("op.v2")
	w.install(w.operator("op.v3", w.owns("v1alpha2"), fixture.Replacing("op.v2")))
	w.waits("op.v3", "CustomResourceDefinition", w.crdName("things"), "NotPresent", "CRD version not served")
	edit(w, w.crdName("things"), &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions = w.crd("v1alpha1", "v1alpha2").Spec.Versions
	})
	w.Succeeds("op.v3")
	w.Goes("op.v2", &v1alpha1.ClusterServiceVersion{})
}

// TestReplacementThatNeverComes: what is being replaced says so when its successor is deleted, runs on, and is replaced by another one.
func TestReplacementThatNeverComes(t *testing.T) {
	w := newWorld(t)
	w.install(w.operator("op.v1"))
	w.Succeeds("op.v1")
	broken := w.operator("op.v2", fixture.Replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.MinKubeVersion = "99.0.0" })
	w.install(broken)
	w.Is("op.v1", v1alpha1.CSVPhaseReplacing, v1alpha1.CSVReasonBeingReplaced)
	w.Is("op.v2", v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsNotMet)
	w.Remove(broken)
	w.Goes("op.v2", &v1alpha1.ClusterServiceVersion{})
	must.Eventually(w, "the loss of the successor to be told", func() error {
		csv := &v1alpha1.ClusterServiceVersion{}
		if err := w.Check(csv, "op.v1", v1alpha1.CSVPhaseReplacing, v1alpha1.CSVReasonBeingReplaced); err != nil {
			return err
		}
		if want := "no ClusterServiceVersion replaces this one any more: create one with spec.replaces op.v1, or delete this one"; csv.Status.Message != want {
			return fmt.Errorf("message %q", csv.Status.Message)
		}
		return nil
	})
	if w.deployment("manager") == nil {
		t.Error("the operator does not run any more")
	}
	w.install(w.operator("op.v3", fixture.Replacing("op.v1")))
	w.Succeeds("op.v3")
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
}

// TestGroupThatGoesAndComes: without one the operator runs on, and the status says which group to apply.
func TestGroupThatGoesAndComes(t *testing.T) {
	sweep.Nightly(t, "TestGates of internal/controller/clusterserviceversion with a fake API server, TestNoAndSeveralGroups of test/e2e/operatorgroup with a real one")
	w := newWorld(t)
	w.install(w.operator("op.v1"))
	w.Succeeds("op.v1")
	before := w.deployment("manager").UID
	w.Remove(w.operatorGroup())
	w.Is("op.v1", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonNoOperatorGroup)
	w.Make(w.operatorGroup())
	w.Succeeds("op.v1")
	second := &operatorsv1.OperatorGroup{ObjectMeta: w.Named("second")}
	w.Make(second)
	w.Is("op.v1", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonTooManyOperatorGroups)
	w.Remove(second)
	w.Succeeds("op.v1")
	if d := w.deployment("manager"); d == nil || d.UID != before {
		t.Error("the Deployment was made anew")
	}
	w.rolledOut("manager", 1)
}
