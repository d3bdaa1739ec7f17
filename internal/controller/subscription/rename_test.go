package subscription

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
)

// renamed is the text of package b, which provides an API and whose only entry has the given edge.
func renamed(provides, version, edge string) string {
	return withEdge(pkg("b", provides, "", version), "b.v"+version, edge)
}

// withEdge gives an entry of a catalog an edge besides those that it has.
func withEdge(catalog, entry, edge string) string {
	if edge == "" {
		return catalog
	}
	return strings.Replace(catalog, "- name: "+entry+"\n", "- name: "+entry+"\n  "+edge+"\n", 1)
}

// subscribedToA is a world in which a.v1.0.0 is installed, with API A, and the catalog has further content.
func subscribedToA(t *testing.T, content string) *world {
	t.Helper()
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("s", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	w.serve("cat", pkg("a", "A", "", "1.0.0")+content)
	return w
}

// named gives a package another name; its bundles keep theirs.
func named(from, to, content string) string {
	return strings.NewReplacer("package: "+from+"\n", "package: "+to+"\n", "\nname: "+from+"\n", "\nname: "+to+"\n", "packageName: "+from+",", "packageName: "+to+",").Replace(content)
}

func (w *world) ask(name, pkg string) {
	w.t.Helper()
	w.change(name, func(s *v1alpha1.Subscription) { s.Spec.Package = pkg })
}

// TestARenamedPackageUpgrades changes a Subscription to another package whose bundle continues from what is installed: it replaces that, as one
// of the same package does.
func TestARenamedPackageUpgrades(t *testing.T) {
	tests := map[string]struct {
		content  string
		plan     string // what is installed next; none when empty
		replaces string
		ready    string
		text     string // in the message of Ready or of HeldBack
	}{
		"that replaces it":                                   {renamed("A", "2.0.0", "replaces: a.v1.0.0"), "b.v2.0.0", "a.v1.0.0", "False InstallPlanPending", ""},
		"that replaces it and has another API":               {renamed("B", "2.0.0", "replaces: a.v1.0.0"), "b.v2.0.0", "a.v1.0.0", "False InstallPlanPending", ""},
		"that replaces it and begins to count again":         {renamed("A", "0.1.0", "replaces: a.v1.0.0"), "b.v0.1.0", "a.v1.0.0", "False InstallPlanPending", ""},
		"that skips it":                                      {renamed("A", "2.0.0", "skips: [a.v1.0.0]"), "b.v2.0.0", "a.v1.0.0", "False InstallPlanPending", ""},
		"with the same API and a skipRange":                  {renamed("A", "2.0.0", `skipRange: "<2.0.0"`), "b.v2.0.0", "a.v1.0.0", "False InstallPlanPending", ""},
		"whose later entry replaces it":                      {withEdge(pkg("b", "A", "", "2.0.0", "3.0.0"), "b.v2.0.0", "replaces: a.v1.0.0"), "b.v2.0.0", "a.v1.0.0", "False InstallPlanPending", ""},
		"that has the same bundle":                           {named("a", "b", pkg("a", "A", "", "1.0.0")), "", "", "True Installed", ""},
		"that has nothing to do with it":                     {renamed("B", "2.0.0", ""), "b.v2.0.0", "", "False InstallPlanPending", ""},
		"that only has a skipRange with its version":         {renamed("B", "2.0.0", `skipRange: "<2.0.0"`), "b.v2.0.0", "", "False InstallPlanPending", ""},
		"that replaces another one, with the same API":       {renamed("A", "2.0.0", "replaces: a.v1.1.0"), "", "", "False ResolutionFailed", "there can be only one provider of A.v1.example.com"},
		"that the catalog does not have":                     {"", "", "", "False ResolutionFailed", "no operators found in package b"},
		"that replaces it in a channel that is not followed": {strings.ReplaceAll(renamed("A", "2.0.0", "replaces: a.v1.0.0"), "stable", "fast") + "---\nschema: olm.channel\npackage: b\nname: stable\nentries:\n- name: b.v1.5.0\n" + bundleOf(pkg("b", "A", "", "1.5.0")), "", "", "True Installed", "no entry of channel stable of package b upgrades from the installed a.v1.0.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := subscribedToA(t, tc.content)
			w.ask("s", "b")
			w.mustReconcile()
			w.mustReconcile()
			sub := w.subscription("s")
			text := sub.Status.GetCondition(readyCondition).Message + sub.Status.GetCondition(heldBackCondition).Message
			if ready(sub) != tc.ready || !strings.Contains(text, tc.text) {
				t.Errorf("Ready is %q, and the texts are %q", ready(sub), text)
			}
			for _, complaint := range contradictions(sub) {
				t.Error(complaint)
			}
			if tc.plan == "" {
				if len(w.plans()) != 1 || sub.Status.CurrentCSV != "a.v1.0.0" {
					t.Errorf("%d plans, and the status is %+v", len(w.plans()), sub.Status)
				}
				return
			}
			p := w.newestPlan()
			if got := p.Spec.ClusterServiceVersionNames; len(got) != 1 || got[0] != tc.plan || p.Status.BundleLookups[0].Replaces != tc.replaces {
				t.Fatalf("the plan installs %v with %+v", got, p.Status.BundleLookups)
			}
			installed := tc.replaces // what it had of another package is not its own
			if s := sub.Status; s.InstalledCSV != installed || s.CurrentCSV != tc.plan || s.State != v1alpha1.SubscriptionStateUpgradePending {
				t.Errorf("installed is %q, current %q, state %q", s.InstalledCSV, s.CurrentCSV, s.State)
			}
		})
	}
}

// bundleOf leaves of a package its bundles.
func bundleOf(text string) string { return text[strings.Index(text, "---\nschema: olm.bundle"):] }

// TestARenamedPackageIsFollowed goes through an upgrade to another package and the one after it. While both operators are there they count as
// one: nothing is in conflict.
func TestARenamedPackageIsFollowed(t *testing.T) {
	w := subscribedToA(t, renamed("A", "2.0.0", "replaces: a.v1.0.0"))
	w.ask("s", "b")
	w.mustReconcile()
	w.carryOut(w.newestPlan(), true)
	w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseReplacing)
	w.setCSVPhase("b.v2.0.0", v1alpha1.CSVPhaseInstalling)
	for range 2 {
		w.mustReconcile()
		sub := w.subscription("s")
		if s := sub.Status; s.InstalledCSV != "b.v2.0.0" || s.CurrentCSV != "b.v2.0.0" || s.GetCondition(v1alpha1.SubscriptionResolutionFailed).Status == corev1.ConditionTrue {
			t.Fatalf("while it takes over: %+v", s)
		}
	}
	w.removeCSV("a.v1.0.0")
	w.setCSVPhase("b.v2.0.0", v1alpha1.CSVPhaseSucceeded)
	w.mustReconcile()
	if sub := w.subscription("s"); ready(sub) != "True Installed" || sub.Status.State != v1alpha1.SubscriptionStateAtLatest {
		t.Errorf("once it took over: %s, %+v", ready(sub), sub.Status)
	}
	w.serve("cat", withEdge(pkg("b", "A", "", "2.0.0", "3.0.0"), "b.v2.0.0", "replaces: a.v1.0.0"))
	w.mustReconcile()
	if p := w.newestPlan(); p.Spec.ClusterServiceVersionNames[0] != "b.v3.0.0" || p.Status.BundleLookups[0].Replaces != "b.v2.0.0" {
		t.Errorf("the next plan installs %v with %+v", p.Spec.ClusterServiceVersionNames, p.Status.BundleLookups)
	}
}

// TestARenamedPackageLeavesOthersAlone: what another Subscription stands for is not replaced, and what needs the old package keeps it.
func TestARenamedPackageLeavesOthersAlone(t *testing.T) {
	t.Run("another Subscription has it", func(t *testing.T) {
		w := subscribedToA(t, renamed("B", "2.0.0", "replaces: a.v1.0.0"))
		w.add(subscribe("t", "a", ""))
		other := w.subscription("t")
		other.Status.CurrentCSV, other.Status.InstalledCSV = "a.v1.0.0", "a.v1.0.0"
		must.NoError(t, w.client.Status().Update(t.Context(), other))
		w.ask("s", "b")
		w.mustReconcile()
		if p := w.newestPlan(); p.Spec.ClusterServiceVersionNames[0] != "b.v2.0.0" || p.Status.BundleLookups[0].Replaces != "" {
			t.Errorf("the plan installs %v with %+v", p.Spec.ClusterServiceVersionNames, p.Status.BundleLookups)
		}
		must.Equal(t, "the other Subscription has", w.subscription("t").Status.InstalledCSV, "a.v1.0.0")
	})
	t.Run("another operator needs it", func(t *testing.T) {
		w := subscribedToA(t, renamed("B", "2.0.0", "replaces: a.v1.0.0"))
		w.add(running("x.v1.0.0", `{"properties":[{"type":"olm.package.required","value":{"packageName":"a","versionRange":">=1.0.0"}}]}`))
		w.ask("s", "b")
		w.mustReconcile()
		sub := w.subscription("s")
		if held := sub.Status.GetCondition(heldBackCondition); len(w.plans()) != 1 || !strings.Contains(held.Message, "x.v1.0.0 requires an operator from package a") {
			t.Errorf("%d plans, and HeldBack is %+v", len(w.plans()), held)
		}
	})
	t.Run("two Subscriptions go on from it", func(t *testing.T) {
		w := subscribedToA(t, renamed("B", "2.0.0", "replaces: a.v1.0.0")+strings.ReplaceAll(named("b", "c", renamed("C", "2.0.0", "replaces: a.v1.0.0")), "b.v", "c.v"))
		w.add(subscribe("t", "a", ""))
		other := w.subscription("t")
		other.Status.CurrentCSV, other.Status.InstalledCSV = "a.v1.0.0", "a.v1.0.0"
		must.NoError(t, w.client.Status().Update(t.Context(), other))
		w.ask("t", "c")
		w.ask("s", "b")
		w.mustReconcile()
		replaced := map[string]string{}
		for _, p := range w.plans() {
			for _, l := range p.Status.BundleLookups {
				replaced[l.Identifier] = l.Replaces
			}
		}
		if replaced["b.v2.0.0"] != "a.v1.0.0" || replaced["c.v2.0.0"] != "" {
			t.Errorf("replaced are %v, want a.v1.0.0 by the first Subscription alone", replaced)
		}
	})
}

// TestARenamedPackageWaitsForItsCatalog: as long as the content is not known, what is installed stays what the Subscription has.
func TestARenamedPackageWaitsForItsCatalog(t *testing.T) {
	w := subscribedToA(t, "")
	w.change("s", func(s *v1alpha1.Subscription) { s.Spec.Package, s.Spec.CatalogSource = "b", "other" })
	for range 2 {
		w.mustReconcile()
		if s := w.subscription("s").Status; s.InstalledCSV != "a.v1.0.0" || s.CurrentCSV != "a.v1.0.0" || len(w.plans()) != 1 {
			t.Fatalf("without its catalog: %+v", s)
		}
	}
	w.remove(w.onlyPlan()) // which is what an old reference may come to
	w.mustReconcile()
	w.add(catalogSource("other"))
	w.serve("other", renamed("A", "2.0.0", "replaces: a.v1.0.0"))
	w.mustReconcile()
	if p := w.newestPlan(); p.Spec.ClusterServiceVersionNames[0] != "b.v2.0.0" || p.Status.BundleLookups[0].Replaces != "a.v1.0.0" {
		t.Errorf("the plan installs %v with %+v", p.Spec.ClusterServiceVersionNames, p.Status.BundleLookups)
	}
}

// TestARenamedPackageWhoseNewVersionWasDeleted is replaced again once the plan is deleted.
func TestARenamedPackageWhoseNewVersionWasDeleted(t *testing.T) {
	w := subscribedToA(t, renamed("A", "2.0.0", "replaces: a.v1.0.0"))
	w.ask("s", "b")
	w.mustReconcile()
	w.carryOut(w.newestPlan(), true)
	w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseReplacing)
	w.mustReconcile()
	w.removeCSV("b.v2.0.0")
	w.mustReconcile()
	if sub := w.subscription("s"); ready(sub) != "False OperatorDeleted" || !strings.Contains(sub.Status.GetCondition(readyCondition).Message, "a.v1.0.0, which it was replacing, is still there") {
		t.Errorf("once it was deleted: %s: %s", ready(sub), sub.Status.GetCondition(readyCondition).Message)
	}
	w.remove(w.newestPlan())
	w.mustReconcile()
	if p := w.newestPlan(); p.Spec.ClusterServiceVersionNames[0] != "b.v2.0.0" || p.Status.BundleLookups[0].Replaces != "a.v1.0.0" {
		t.Errorf("once its plan was deleted: a plan for %v with %+v", p.Spec.ClusterServiceVersionNames, p.Status.BundleLookups)
	}
}
