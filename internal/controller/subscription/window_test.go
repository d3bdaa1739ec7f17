package subscription

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
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

// TestAWindowThatCannotBeRead is reported before an upgrade waits for it; the Subscription is ready all the same.
func TestAWindowThatCannotBeRead(t *testing.T) {
	sub := subscribe("a", "a", "")
	sub.Annotations = map[string]string{schedule.WindowKey: "Mon 22:00-25:00 UTC"}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Annotations: map[string]string{schedule.WindowKey: "never"}}}
	w := newWorld(t, namespace, operatorGroup("og"), catalogSource("cat"), sub)
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	must.Equal(t, "Ready", ready(w.subscription("a")), "True Installed")
	for _, text := range []string{"a.v1.0.0 is installed and running; no upgrade can begin: annotation " + schedule.WindowKey + " of Subscription a cannot be read: at character 5", "Namespace ns (never) allows no upgrade"} {
		must.Contain(t, "Ready", w.subscription("a").Status.GetCondition(readyCondition).Message, text)
	}
	w.Taken()
	w.mustReconcile()
	must.Empty(t, "writes when nothing has changed", w.Taken())
}
