package subscription

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// TestAnUpgradeWhoseNewVersionWasDeletedGoesOn: the version before is still there, being replaced by nothing. It stays so until the plan is
// deleted, as the status says, and then it is replaced by what the catalog has by then.
func TestAnUpgradeWhoseNewVersionWasDeletedGoesOn(t *testing.T) {
	for name, tc := range map[string]struct{ catalog, want string }{
		"by the same version":                      {pkg("a", "A", "", "1.0.0", "1.1.0"), "a.v1.1.0"},
		"by the one that came after it":            {pkg("a", "A", "", "1.0.0", "1.1.1"), "a.v1.1.1"},
		"where the catalog forgot what is there":   {strings.ReplaceAll(pkg("a", "A", "", "1.1.1"), "- name: a.v1.1.1\n", "- name: a.v1.1.1\n  replaces: a.v1.0.0\n"), "a.v1.1.1"},
		"by none, as there is none in the catalog": {pkg("a", "A", "", "1.0.0"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
			w.serve("cat", pkg("a", "A", "", "1.0.0"))
			w.mustReconcile()
			w.carryOut(w.onlyPlan())
			w.mustReconcile()
			w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
			w.mustReconcile()
			w.carryOut(w.newestPlan(), true)
			w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseReplacing)
			w.setCSVPhase("a.v1.1.0", v1alpha1.CSVPhaseInstalling)
			w.mustReconcile()

			w.removeCSV("a.v1.1.0")
			w.serve("cat", tc.catalog)
			for range 3 {
				w.mustReconcile()
				sub := w.subscription("a")
				if s := sub.Status; s.InstalledCSV != "a.v1.0.0" || s.CurrentCSV != "a.v1.1.0" || s.State != v1alpha1.SubscriptionStateUpgradePending || len(w.plans()) != 2 {
					t.Fatalf("once it was deleted: installed is %q, current %q, state %q, with %d plans", s.InstalledCSV, s.CurrentCSV, s.State, len(w.plans()))
				}
				if told := sub.Status.GetCondition(readyCondition); ready(sub) != "False OperatorDeleted" ||
					!strings.Contains(told.Message, "ClusterServiceVersion a.v1.0.0, which it was replacing, is still there") || !strings.Contains(told.Message, "delete the InstallPlan") {
					t.Fatalf("once it was deleted: %s: %s", ready(sub), told.Message)
				}
			}

			w.remove(w.newestPlan())
			w.mustReconcile()
			w.mustReconcile()
			sub := w.subscription("a")
			if tc.want == "" {
				if got := ready(sub); got != "False Replacing" || sub.Status.InstalledCSV != "a.v1.0.0" || sub.Status.CurrentCSV != "a.v1.0.0" {
					t.Errorf("without a version that replaces it: %s, %+v", got, sub.Status)
				}
				return
			}
			next := w.newestPlan()
			if got := next.Spec.ClusterServiceVersionNames; len(got) != 1 || got[0] != tc.want || next.Status.BundleLookups[0].Replaces != "a.v1.0.0" {
				t.Fatalf("once its plan was deleted: a plan for %q, %+v", got, next.Status.BundleLookups)
			}
			w.carryOut(next)
			w.mustReconcile()
			if sub := w.subscription("a"); sub.Status.InstalledCSV != tc.want || ready(sub) != "True Installed" {
				t.Errorf("in the end %q is installed, and it is %s", sub.Status.InstalledCSV, ready(sub))
			}
		})
	}
}
