package subscription

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"fairlead.dev/fairlead/test/must"
	corev1 "k8s.io/api/core/v1"
)

// TestADeadCatalogConcernsOnlyWhomItCouldHaveServed: five Subscriptions are served, one has no answer, and a dependency of one more would
// have to be looked for in a catalog that cannot be had.
func TestADeadCatalogConcernsOnlyWhomItCouldHaveServed(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), catalogSource("dead"),
		subscribe("a", "a", ""), subscribe("b", "b", ""), subscribe("c", "c", ""), subscribe("d", "d", ""), subscribe("e", "e", ""),
		subscribe("none", "none", ""), subscribe("needy", "needy", ""))
	w.publish("dead", catalogstore.Entry{Problem: "connection refused"})
	content := pkg("needy", "Needy", "Elsewhere", "1.0.0")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		content += pkg(name, strings.ToUpper(name), "", "1.0.0")
	}
	w.serve("cat", content)
	w.mustReconcile()
	for _, p := range w.plans() {
		w.carryOut(&p)
	}
	w.mustReconcile()
	got := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d", "e", "none", "needy"} {
		sub := w.subscription(name)
		c := sub.Status.GetCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy)
		got[name] = ready(sub) + "; " + string(c.Status) + " " + c.Message
	}
	const fine = "; False all available catalogsources are healthy"
	want := map[string]string{"none": "False ResolutionFailed" + fine,
		"needy": "False ResolutionFailed; True catalogsource ns/dead, which would have to be asked as well, unhealthy: connection refused"}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		want[name] = "True Installed" + fine
	}
	must.Equal(t, "conditions", got, want)
	health := w.subscription("a").Status.CatalogHealth
	if len(health) != 2 || !health[0].Healthy || health[1].Healthy || health[1].CatalogSourceRef.Name != "dead" || health[1].LastUpdated == nil {
		t.Errorf("catalogHealth is %+v", health)
	}
}

// TestTogetherADeadCatalogConcernsAll is the documented behaviour, which an annotation brings back.
func TestTogetherADeadCatalogConcernsAll(t *testing.T) {
	og := operatorGroup("og")
	og.Annotations = map[string]string{snapshot.TogetherAnnotation: "true"}
	w := newWorld(t, og, catalogSource("cat"), catalogSource("dead"), subscribe("a", "a", ""))
	w.publish("dead", catalogstore.Entry{Problem: "connection refused"})
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	sub := w.subscription("a")
	if c := sub.Status.GetCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy); c.Status != corev1.ConditionTrue || ready(sub) != "False ResolutionFailed" || len(w.plans()) > 0 {
		t.Errorf("%d plans, and the status is %+v", len(w.plans()), sub.Status)
	}
}

// TestStates leads a Subscription through the documented states.
func TestStates(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	check := func(when string, state v1alpha1.SubscriptionState, current, installed string, reason v1alpha1.ConditionReason) {
		t.Helper()
		s := w.subscription("a").Status
		if s.State != state || s.CurrentCSV != current || s.InstalledCSV != installed || s.Reason != reason {
			t.Errorf("%s: state %q, current %q, installed %q, reason %q", when, s.State, s.CurrentCSV, s.InstalledCSV, s.Reason)
		}
	}
	w.mustReconcile()
	check("before anything is known", "", "", "", "")
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	check("with a plan", "UpgradePending", "a.v1.0.0", "", "")
	w.fail(w.onlyPlan())
	w.mustReconcile()
	check("when the plan failed", "UpgradeFailed", "a.v1.0.0", "", "")
	w.remove(w.onlyPlan())
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	check("when it runs", "AtLatestKnown", "a.v1.0.0", "a.v1.0.0", "UpgradeSucceeded")
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
	w.tamper = func(g *group) { g.fetching = []string{"a.v1.1.0"} }
	w.tampered("a")
	check("while the next version is fetched", "UpgradeAvailable", "a.v1.0.0", "a.v1.0.0", "")
	w.mustReconcile()
	check("with the next plan", "UpgradePending", "a.v1.1.0", "a.v1.0.0", "")
	w.fail(w.newestPlan())
	w.mustReconcile()
	check("when the next plan failed", "UpgradeFailed", "a.v1.1.0", "a.v1.0.0", "")
	w.publish("cat", catalogstore.Entry{Problem: "connection refused"})
	w.mustReconcile()
	check("when the catalog is gone besides", "UpgradeFailed", "a.v1.1.0", "a.v1.0.0", "InvalidCatalog")
}

func TestPlanThatCannotBeWrittenIsTold(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.KillAt(1, false)
	if w.reconcile() == nil {
		t.Fatal("the write did not fail")
	}
	sub := w.subscription("a")
	c := sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed)
	if c.Status != corev1.ConditionTrue || c.Reason != "EnsureInstallPlanFailed" || !strings.HasPrefix(c.Message, "error ensuring InstallPlan: create InstallPlan ns/install-") {
		t.Errorf("the condition is %+v", c)
	}
	w.mustReconcile()
	if c = w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed); c.Status == corev1.ConditionTrue {
		t.Errorf("it outlives its cause: %+v", c)
	}
}

// TestPlanPhasesAreProjected has the documented table of phases and conditions.
func TestPlanPhasesAreProjected(t *testing.T) {
	for phase, want := range map[v1alpha1.InstallPlanPhase]string{
		"":                 "InstallPlanPending InstallPlanNotYetReconciled",
		"Planning":         "InstallPlanPending Planning",
		"Installing":       "InstallPlanPending Installing",
		"RequiresApproval": "InstallPlanPending RequiresApproval",
		"Failed":           "InstallPlanFailed InstallComponentFailed",
		"Complete":         "",
	} {
		t.Run(string(phase), func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
			w.serve("cat", pkg("a", "A", "", "1.0.0"))
			w.mustReconcile()
			switch p := w.onlyPlan(); phase {
			case v1alpha1.InstallPlanPhaseNone: // a plan without steps gets them at once
				w.tamper = func(g *group) { g.installPlan = p; p.Status = v1alpha1.InstallPlanStatus{} }
				w.tampered("a")
			case v1alpha1.InstallPlanPhaseFailed:
				w.fail(p)
				w.mustReconcile()
			default:
				w.setPhase(p, phase)
				w.mustReconcile()
			}
			got := ""
			for _, c := range w.subscription("a").Status.Conditions {
				if strings.HasPrefix(string(c.Type), "InstallPlan") && c.Status == corev1.ConditionTrue {
					got += string(c.Type) + " " + c.Reason
				}
			}
			must.Equal(t, "conditions about the plan", got, want)
		})
	}
}

// TestSwitches moves an installed operator to another channel, another package and other catalogs.
func TestSwitches(t *testing.T) {
	two := strings.Replace(pkg("a", "A", "", "1.0.0", "2.0.0"), "- name: a.v2.0.0\n  replaces: a.v1.0.0\n",
		"---\nschema: olm.channel\npackage: a\nname: fast\nentries:\n- name: a.v1.0.0\n- name: a.v2.0.0\n  replaces: a.v1.0.0\n", 1)
	tests := map[string]struct {
		change     func(*v1alpha1.Subscription)
		plan       string // what is to be installed; none when empty
		ready      string
		otherThing string // in the message of Ready or of HeldBack
	}{
		"to a channel with an upgrade":    {func(s *v1alpha1.Subscription) { s.Spec.Channel = "fast" }, "a.v2.0.0", "False InstallPlanPending", ""},
		"to no channel in particular":     {func(s *v1alpha1.Subscription) { s.Spec.Channel = "" }, "a.v2.0.0", "False InstallPlanPending", ""},
		"to a channel that is not there":  {func(s *v1alpha1.Subscription) { s.Spec.Channel = "none" }, "", "False ResolutionFailed", "its channels are"},
		"to a catalog with an older head": {func(s *v1alpha1.Subscription) { s.Spec.CatalogSource = "older" }, "", "True Installed", "no entry of channel stable of package a upgrades from the installed a.v1.0.0"},
		"to a catalog with a newer head":  {func(s *v1alpha1.Subscription) { s.Spec.CatalogSource = "newer" }, "a.v1.5.0", "False InstallPlanPending", ""},
		"to a catalog that is not there":  {func(s *v1alpha1.Subscription) { s.Spec.CatalogSource = "none" }, "", "True Installed", "there is no such CatalogSource"},
		"to another package":              {func(s *v1alpha1.Subscription) { s.Spec.Package = "b" }, "b.v1.0.0", "False InstallPlanPending", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), catalogSource("older"), catalogSource("newer"), subscribe("a", "a", ""))
			w.serve("cat", two+pkg("b", "B", "", "1.0.0"))
			w.serve("older", pkg("a", "A", "", "0.9.0"))
			w.serve("newer", pkg("a", "A", "", "1.0.0", "1.5.0"))
			w.mustReconcile()
			w.carryOut(w.onlyPlan())
			w.mustReconcile()
			w.change("a", tc.change)
			w.mustReconcile()
			sub := w.subscription("a")
			text := sub.Status.GetCondition(readyCondition).Message + sub.Status.GetCondition(heldBackCondition).Message
			if ready(sub) != tc.ready || !strings.Contains(text, tc.otherThing) {
				t.Errorf("Ready is %q, and the texts are %q", ready(sub), text)
			}
			if p := w.newestPlan(); tc.plan != "" && (p.Spec.ClusterServiceVersionNames[0] != tc.plan || p.Spec.Generation != 2) || tc.plan == "" && p.Spec.Generation != 1 {
				t.Errorf("plan %d installs %v", p.Spec.Generation, p.Spec.ClusterServiceVersionNames)
			}
			for _, complaint := range contradictions(sub) {
				t.Error(complaint)
			}
		})
	}
}
