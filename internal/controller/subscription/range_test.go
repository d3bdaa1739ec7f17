package subscription

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"

	"fairlead.dev/fairlead/test/must"
	corev1 "k8s.io/api/core/v1"
)

// TestVersionRangeHolds follows an operator with a range through updates of its catalog, a manager that starts again, and changes of the
// range: it stays put, and the status says what is held back.
func TestVersionRangeHolds(t *testing.T) {
	a := subscribe("a", "a", "")
	a.Annotations = map[string]string{resolution.VersionRangeAnnotation: "<2.0.0"}
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), a)
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0", "2.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	held := func(when, installed, desired, reason string) {
		t.Helper()
		w.mustReconcile()
		sub := w.subscription("a")
		c := sub.Status.GetCondition(heldBackCondition)
		if sub.Status.InstalledCSV != installed || ready(sub) != "True Installed" || c.Status != corev1.ConditionTrue || c.Reason != reason ||
			!strings.Contains(c.Message, desired) || !strings.Contains(c.Message, resolution.VersionRangeAnnotation) {
			t.Errorf("%s: %+v", when, sub.Status)
		}
		must.Equal(t, "the state", reason == reasonVersionRange, sub.Status.State == v1alpha1.SubscriptionStateUpgradeAvailable)
		must.Equal(t, "count of plans", len(w.plans()), 1)
	}
	held("at the end of the range", "a.v1.1.0", "a.v2.0.0 is available, and annotation", reasonVersionRange)
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0", "2.0.0", "2.1.0"))
	held("after an update of the catalog", "a.v1.1.0", "the head of channel stable is a.v2.1.0", reasonVersionRange)
	w.annotate("a", resolution.VersionRangeAnnotation, "less than two")
	held("with a range that cannot be read", "a.v1.1.0", `version range "less than two" is not a range such as`, reasonVersionRangeInvalid)
	w.annotate("a", resolution.VersionRangeAnnotation, "<2.1.0")
	w.mustReconcile()
	must.Equal(t, "version that is installed with a wider range", w.newestPlan().Spec.ClusterServiceVersionNames[0], "a.v2.0.0")
}

func TestRangeThatCannotBeReadInstallsNothing(t *testing.T) {
	a := subscribe("a", "a", "")
	a.Annotations = map[string]string{resolution.VersionRangeAnnotation: "newest"}
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), a, subscribe("b", "b", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "", "1.0.0"))
	w.mustReconcile()
	failed := w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionResolutionFailed)
	if failed.Status != corev1.ConditionTrue || !strings.Contains(failed.Message, resolution.VersionRangeAnnotation) || !strings.Contains(failed.Message, `"newest"`) {
		t.Errorf("the condition is %+v", failed)
	}
	must.Equal(t, "the plan of the other Subscription installs", w.onlyPlan().Spec.ClusterServiceVersionNames[0], "b.v1.0.0")
}

// TestRangeTakesAnUnapprovedPlanBack: what is held back by now cannot be approved any more.
func TestRangeTakesAnUnapprovedPlanBack(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.approve(w.onlyPlan())
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
	w.mustReconcile()
	if w.newestPlan().Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval {
		t.Fatal("no plan waits for approval")
	}
	w.annotate("a", resolution.VersionRangeAnnotation, "<1.1.0")
	w.mustReconcile()
	w.mustReconcile()
	sub := w.subscription("a")
	if n := len(w.plans()); n != 1 || sub.Status.CurrentCSV != "a.v1.0.0" || ready(sub) != "True Installed" {
		t.Errorf("%d plans, and the status is %+v", n, sub.Status)
	}
}

// TestRangeHoldsDependenciesOfOthersToo: what needs a newer version than the range allows is not installed, and says why.
func TestRangeHoldsDependenciesOfOthersToo(t *testing.T) {
	a := subscribe("a", "a", "")
	a.Annotations = map[string]string{resolution.VersionRangeAnnotation: "<2.0.0"}
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), a, subscribe("b", "b", ""))
	content := pkg("b", "B", "", "1.0.0")
	content = strings.Replace(content, "- type: olm.gvk\n", "- type: olm.package.required\n  value: {packageName: a, versionRange: \">=2.0.0\"}\n- type: olm.gvk\n", 1)
	w.serve("cat", pkg("a", "A", "", "1.0.0", "2.0.0")+content)
	w.mustReconcile()
	failed := w.subscription("b").Status.GetCondition(v1alpha1.SubscriptionResolutionFailed)
	must.Contain(t, "the condition", failed.Message, resolution.VersionRangeAnnotation+" allows only <2.0.0")
}
