package subscription

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"

	"fairlead.dev/fairlead/test/must"
	corev1 "k8s.io/api/core/v1"
)

// TestAnUpgradeThatWaitsForAnOperatorToRunIsTold: it may wait for ever, and be what would mend the operator.
func TestAnUpgradeThatWaitsForAnOperatorToRunIsTold(t *testing.T) {
	for phase, why := range map[v1alpha1.ClusterServiceVersionPhase]string{
		v1alpha1.CSVPhasePending:    "a.v1.0.0 does not run (its phase is Pending)",
		v1alpha1.CSVPhaseInstalling: "a.v1.0.0 does not run (its phase is Installing)",
		v1alpha1.CSVPhaseFailed:     "the installed a.v1.0.0 has failed",
	} {
		t.Run(string(phase), func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
			w.serve("cat", pkg("a", "A", "", "1.0.0"))
			w.mustReconcile()
			w.carryOut(w.onlyPlan())
			w.setCSVPhase("a.v1.0.0", phase)
			w.mustReconcile()
			if sub := w.subscription("a"); sub.Status.GetCondition(heldBackCondition).Status == corev1.ConditionTrue || sub.Status.State != v1alpha1.SubscriptionStateAtLatest {
				t.Fatalf("nothing newer is there: %+v", sub.Status)
			}

			w.serve("cat", pkg("a", "A", "", "1.0.0", "1.0.1"))
			w.mustReconcile()
			sub := w.subscription("a")
			held := sub.Status.GetCondition(heldBackCondition)
			if held.Status != corev1.ConditionTrue || held.Reason != "NewerVersionNotPossible" || !strings.Contains(held.Message, why) {
				t.Errorf("HeldBack is %+v, want %q", held, why)
			}
			if phase != v1alpha1.CSVPhaseFailed && !strings.Contains(held.Message, "delete Subscription a and ClusterServiceVersion a.v1.0.0, then create the Subscription again, which reinstalls a.v1.0.1") {
				t.Errorf("HeldBack does not tell the way out: %s", held.Message)
			}
			if sub.Status.State != v1alpha1.SubscriptionStateUpgradeAvailable || sub.Status.CurrentCSV != "a.v1.0.0" {
				t.Errorf("state is %s, current %s", sub.Status.State, sub.Status.CurrentCSV)
			}
			if c := sub.Status.GetCondition(readyCondition); ready(sub) != "False "+string(phase) || !strings.Contains(c.Message, "a.v1.0.1 is not installed") {
				t.Errorf("Ready is %s: %s", ready(sub), c.Message)
			}

			w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseSucceeded)
			w.mustReconcile()
			sub = w.subscription("a")
			if held = sub.Status.GetCondition(heldBackCondition); held.Status == corev1.ConditionTrue || sub.Status.State != v1alpha1.SubscriptionStateUpgradePending {
				t.Errorf("once it runs: state %s, HeldBack %+v", sub.Status.State, held)
			}
		})
	}
}

// TestWhatTheRangeHoldsBackDoesNotWait: that the operator does not run is not what keeps it from a version which its range refuses.
func TestWhatTheRangeHoldsBackDoesNotWait(t *testing.T) {
	for limit, want := range map[string]string{
		"<1.0.1":   "True " + reasonVersionRange,
		"<2.0.0":   "True NewerVersionNotPossible",
		"no range": "True " + reasonVersionRangeInvalid,
		">=2.0.0":  "True NewerVersionNotPossible",
	} {
		w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
		w.serve("cat", pkg("a", "A", "", "1.0.0"))
		w.mustReconcile()
		w.carryOut(w.onlyPlan())
		w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhasePending)
		w.annotate("a", resolution.VersionRangeAnnotation, limit)
		next := "1.0.1"
		if strings.HasPrefix(limit, ">=") {
			next = "2.0.0"
		}
		w.serve("cat", pkg("a", "A", "", "1.0.0", next))
		w.mustReconcile()
		held := w.subscription("a").Status.GetCondition(heldBackCondition)
		must.Equal(t, "HeldBack of range "+limit, string(held.Status)+" "+held.Reason, want)
	}
}
