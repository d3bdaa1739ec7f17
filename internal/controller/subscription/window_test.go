package subscription

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// holdPlan does what the InstallPlan controller does with a plan whose upgrade waits.
func (w *world) holdPlan(p *v1alpha1.InstallPlan, message string) {
	w.t.Helper()
	p.Status.Message = message
	p.Status.SetCondition(v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonInstallCheckFailed, message), metav1.Time{Time: w.Clock.Now()})
	w.setPhase(p, v1alpha1.InstallPlanPhaseInstalling)
}

// TestAnUpgradeThatIsHeld: its plan is made, with its content, and waits. The Subscription reports until when, what runs stays ready, nothing is
// written while it waits, and what the catalog has by then takes the place of the plan.
func TestAnUpgradeThatIsHeld(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.0.1"))
	w.mustReconcile()
	plan := w.newestPlan()
	must.Equal(t, "the content is there", len(plan.Status.Plan) > 0, true)
	message := schedule.Judge(w.Clock.Now(), schedule.Upgrade{Object: "Subscription a", Bundle: "a.v1.0.1",
		Rules: schedule.Read("", schedule.Layer{Object: "Namespace ns", Annotations: map[string]string{schedule.WindowKey: "Sat 02:00-04:00 UTC"}})}).Message
	w.holdPlan(plan, message)
	w.mustReconcile()
	sub := w.subscription("a")
	must.Equal(t, "Ready", ready(sub), "True UpgradeHeld")
	must.Contain(t, "Ready", sub.Status.GetCondition(readyCondition).Message, "upgrade held until 2023-11-18T02:00:00Z")
	pending := sub.Status.GetCondition(v1alpha1.SubscriptionInstallPlanPending)
	must.Equal(t, "InstallPlanPending", string(pending.Status)+" "+pending.Message, "True "+message)
	must.Equal(t, "state", sub.Status.State, v1alpha1.SubscriptionStateUpgradePending)

	w.Taken()
	for range 3 {
		w.Clock.SetTime(w.Clock.Now().Add(time.Hour))
		w.mustReconcile()
	}
	must.Empty(t, "writes while it waits", w.Taken())

	w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseFailed)
	w.mustReconcile()
	must.Equal(t, "Ready when it fails meanwhile", ready(w.subscription("a")), "False Failed")
	w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseSucceeded)

	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.0.2"))
	w.mustReconcile()
	must.Equal(t, "the plan that takes its place", w.newestPlan().Spec.ClusterServiceVersionNames, []string{"a.v1.0.2"})
	must.Equal(t, "plans", len(w.plans()), 2)
}
