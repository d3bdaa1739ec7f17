package subscription

import (
	"errors"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution"

	"fairlead.dev/fairlead/test/must"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kstatus says what sigs.k8s.io/cli-utils/pkg/kstatus says of an object of a kind that it does not know, by its documented rules.
func kstatus(sub *v1alpha1.Subscription) string {
	switch {
	case sub.DeletionTimestamp != nil:
		return "Terminating"
	case sub.Status.ObservedGeneration != 0 && sub.Status.ObservedGeneration != sub.Generation:
		return "InProgress"
	case sub.Status.GetCondition("Reconciling").Status == corev1.ConditionTrue:
		return "InProgress"
	case sub.Status.GetCondition("Stalled").Status == corev1.ConditionTrue:
		return "Failed"
	}
	for _, c := range sub.Status.Conditions {
		if c.Type == "Ready" && c.Status != corev1.ConditionTrue {
			return "InProgress"
		}
	}
	return "Current"
}

// argo says what the health check that Argo CD has for Subscriptions says, by its rules: everything counts that is said about plans,
// catalogs and resolution, and nothing else. Newer releases pass over a plan that waits for approval while something is installed.
func argo(sub *v1alpha1.Subscription, newer bool) string {
	if len(sub.Status.Conditions) == 0 {
		return "Progressing"
	}
	pending, degraded := false, false
	waits := newer && sub.Spec.InstallPlanApproval == v1alpha1.ApprovalManual && sub.Status.InstalledCSV != "" && sub.Status.State == v1alpha1.SubscriptionStateUpgradePending
	for _, c := range sub.Status.Conditions {
		switch c.Type {
		case "InstallPlanPending":
			pending = pending || c.Status == corev1.ConditionTrue && !waits
		case "InstallPlanMissing":
			degraded = degraded || c.Reason != "ReferencedInstallPlanNotFound"
		case "CatalogSourcesUnhealthy", "InstallPlanFailed", "ResolutionFailed":
			degraded = degraded || c.Status == corev1.ConditionTrue
		}
	}
	switch {
	case degraded:
		return "Degraded"
	case pending:
		return "Progressing"
	}
	return "Healthy"
}

// TestToolsReadTheVerdictRight has every state that a Subscription can be in, and what tools that know no Fairlead make of it.
func TestToolsReadTheVerdictRight(t *testing.T) {
	one := func(w *world) { w.serve("cat", pkg("a", "A", "", "1.0.0")) }
	planned := func(w *world) { one(w); w.mustReconcile() }
	installed := func(w *world) { planned(w); w.carryOut(w.onlyPlan()) }
	newer := func(w *world) {
		installed(w)
		w.mustReconcile()
		w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
	}
	phase := func(p v1alpha1.InstallPlanPhase) func(w *world) {
		return func(w *world) { planned(w); w.setPhase(w.onlyPlan(), p) }
	}
	csv := func(p v1alpha1.ClusterServiceVersionPhase) func(w *world) {
		return func(w *world) { installed(w); w.setCSVPhase("a.v1.0.0", p) }
	}
	found := func(change func(g *group)) func(w *world) {
		return func(w *world) { one(w); w.tamper = change }
	}
	tests := map[string]struct {
		approval v1alpha1.Approval
		to       func(w *world)
		// what Ready says, what kstatus makes of it, and what the older and the newer check of Argo CD do
		ready, kstatus, argo, newerArgo string
	}{
		"its catalog is being loaded":         {"", func(*world) {}, "False CatalogLoading", "InProgress", "Progressing", "Progressing"},
		"its catalog is missing":              {"", func(w *world) { w.remove(catalogSource("cat")) }, "False ResolutionFailed", "InProgress", "Degraded", "Degraded"},
		"its catalog cannot be had":           {"", func(w *world) { w.publish("cat", catalogstore.Entry{Problem: "refused"}) }, "False ResolutionFailed", "InProgress", "Degraded", "Degraded"},
		"there is no OperatorGroup":           {"", func(w *world) { one(w); w.remove(operatorGroup("og")) }, "False ResolutionFailed", "InProgress", "Degraded", "Degraded"},
		"there are two OperatorGroups":        {"", func(w *world) { one(w); w.add(operatorGroup("two")) }, "False ResolutionFailed", "Failed", "Degraded", "Degraded"},
		"there is no such package":            {"", func(w *world) { w.serve("cat", pkg("b", "B", "", "1.0.0")) }, "False ResolutionFailed", "Failed", "Degraded", "Degraded"},
		"its bundle is being fetched":         {"", found(func(g *group) { g.fetching = []string{"a.v1.0.0"} }), "False BundleUnpacking", "InProgress", "Progressing", "Progressing"},
		"its bundle cannot be fetched":        {"", found(func(g *group) { g.failures = []fetchFailure{{err: errors.New("denied")}} }), "False BundleUnpackFailed", "InProgress", "Progressing", "Progressing"},
		"its bundle cannot be rendered":       {"", found(func(g *group) { g.problem = "no kind" }), "False BundleUnpackFailed", "InProgress", "Progressing", "Progressing"},
		"its plan cannot be written":          {"", found(func(g *group) { g.unwritten = "quota" }), "False InstallPlanNotWritten", "InProgress", "Progressing", "Progressing"},
		"its plan is about to be written":     {"", found(func(*group) {}), "False InstallPlanPending", "InProgress", "Progressing", "Progressing"},
		"its plan has not been looked at":     {"", phase(v1alpha1.InstallPlanPhaseNone), "False InstallPlanPending", "InProgress", "Progressing", "Progressing"},
		"its plan is carried out":             {"", planned, "False InstallPlanPending", "InProgress", "Progressing", "Progressing"},
		"its plan waits for approval":         {v1alpha1.ApprovalManual, planned, "False RequiresApproval", "InProgress", "Progressing", "Progressing"},
		"its plan failed":                     {"", func(w *world) { planned(w); w.fail(w.onlyPlan()) }, "False InstallPlanFailed", "Failed", "Degraded", "Degraded"},
		"its plan failed, something is there": {"", func(w *world) { installed(w); w.fail(w.onlyPlan()) }, "False InstallPlanFailed", "Failed", "Degraded", "Degraded"},
		"the operator waits":                  {"", csv(v1alpha1.CSVPhasePending), "False Pending", "InProgress", "Progressing", "Progressing"},
		"the operator is being installed":     {"", csv(v1alpha1.CSVPhaseInstalling), "False Installing", "InProgress", "Progressing", "Progressing"},
		"the operator failed":                 {"", csv(v1alpha1.CSVPhaseFailed), "False Failed", "Failed", "Degraded", "Degraded"},
		"the operator runs":                   {"", installed, "True Installed", "Current", "Healthy", "Healthy"},
		"the operator was deleted": {"", func(w *world) { installed(w); w.mustReconcile(); w.removeCSV("a.v1.0.0") },
			"False OperatorDeleted", "Failed", "Degraded", "Degraded"},
		"an upgrade is carried out":     {"", newer, "False InstallPlanPending", "InProgress", "Progressing", "Progressing"},
		"an upgrade waits for approval": {v1alpha1.ApprovalManual, newer, "True RequiresApproval", "Current", "Progressing", "Healthy"},
		"a failed operator's upgrade waits for approval": {v1alpha1.ApprovalManual, func(w *world) {
			newer(w)
			w.failForward()
			w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseFailed)
		}, "False Failed", "Failed", "Degraded", "Degraded"},
		"an upgrade failed":                 {"", func(w *world) { newer(w); w.mustReconcile(); w.fail(w.newestPlan()) }, "False InstallPlanFailed", "Failed", "Degraded", "Degraded"},
		"an upgrade is held back":           {"", func(w *world) { newer(w); w.annotate("a", resolution.VersionRangeAnnotation, "<1.1.0") }, "True Installed", "Current", "Healthy", "Healthy"},
		"its version range cannot be read":  {"", func(w *world) { newer(w); w.annotate("a", resolution.VersionRangeAnnotation, "one") }, "True Installed", "Current", "Healthy", "Healthy"},
		"what runs has lost its catalog":    {"", func(w *world) { installed(w); w.publish("cat", catalogstore.Entry{Problem: "refused"}) }, "True Installed", "Current", "Degraded", "Degraded"},
		"what runs follows no such channel": {"", func(w *world) { installed(w); w.follow("a", "none") }, "False ResolutionFailed", "Failed", "Degraded", "Degraded"},
		"its plan is gone, the operator runs": {"", func(w *world) { installed(w); w.mustReconcile(); w.remove(w.onlyPlan()) },
			"True Installed", "Current", "Healthy", "Healthy"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", tc.approval))
			if tc.to(w); w.tamper != nil {
				w.tampered("a")
			} else {
				w.mustReconcile()
			}
			sub := w.subscription("a")
			if sub.Spec.InstallPlanApproval != tc.approval {
				t.Fatal("the world has another approval")
			}
			want := []string{tc.ready, tc.kstatus, tc.argo, tc.newerArgo}
			got := []string{ready(sub), kstatus(sub), argo(sub, false), argo(sub, true)}
			must.Equal(t, "Ready, kstatus, Argo CD, newer Argo CD", got, want)
			for _, complaint := range contradictions(sub) {
				t.Error(complaint)
			}
		})
	}
	t.Run("a change that was not looked at yet", func(t *testing.T) {
		sub := subscribe("a", "a", "")
		sub.Generation, sub.Status.ObservedGeneration = 2, 1
		sub.Status.SetCondition(isTrue(readyCondition, "Installed", ""), metav1.Time{Time: time.Unix(1, 0)})
		must.Equal(t, "kstatus of an old verdict", kstatus(sub), "InProgress")
	})
}

// failForward lets operators that failed be upgraded.
func (w *world) failForward() {
	w.t.Helper()
	og := operatorGroup("og")
	must.NoError(w.t, w.client.Get(w.t.Context(), client.ObjectKeyFromObject(og), og))
	og.Spec.UpgradeStrategy = operatorsv1.UpgradeStrategyUnsafeFailForward
	must.NoError(w.t, w.client.Update(w.t.Context(), og))
}

// tampered writes the status that follows when the decision for the namespace is changed.
func (w *world) tampered(name string) {
	w.t.Helper()
	seen, err := w.controller.observe(w.t.Context(), w.client, ns)
	must.NoError(w.t, err)
	found, err := w.controller.decide(w.t.Context(), seen)
	must.NoError(w.t, err)
	w.tamper(&found.groups[0])
	if _, err := w.controller.report(w.t.Context(), seen, found); err != nil {
		w.t.Fatal(err)
	}
}
