package subscription

import (
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	catalog0 "fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"
)

// TestARenamedPackageFailsForward goes past what failed in an upgrade to a package of another name, by each kind of edge: F1 to F4, where the
// InstallPlan of the new package failed, one or several times.
func TestARenamedPackageFailsForward(t *testing.T) {
	bad := renamed("A", "2.0.0", "replaces: a.v1.0.0")
	chain := withEdge(pkg("b", "A", "", "2.0.0", "3.0.0"), "b.v2.0.0", "replaces: a.v1.0.0")
	for name, tc := range map[string]struct{ more, next string }{
		"F1 one with a skipRange":                    {strings.Replace(chain, "  replaces: b.v2.0.0\n", "  replaces: b.v2.0.0\n  skipRange: \"<3.0.0\"\n", 1), "b.v3.0.0"},
		"F2 several bad ones, then a skipRange":      {strings.Replace(withEdge(pkg("b", "A", "", "2.0.0", "2.1.0", "3.0.0"), "b.v2.0.0", "replaces: a.v1.0.0"), "  replaces: b.v2.1.0\n", "  replaces: b.v2.1.0\n  skipRange: \"<3.0.0\"\n", 1), "b.v3.0.0"},
		"F3 one that skips it":                       {strings.Replace(chain, "  replaces: b.v2.0.0\n", "  replaces: a.v1.0.0\n  skips: [b.v2.0.0]\n", 1), "b.v3.0.0"},
		"F4 one that replaces it alone: it stays so": {chain, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := subscribedToA(t, bad)
			w.failForward()
			w.ask("s", "b")
			w.mustReconcile()
			w.fail(w.newestPlan())
			w.mustReconcile()
			if s := w.subscription("s").Status; s.State != v1alpha1.SubscriptionStateFailed || s.InstalledCSV != "a.v1.0.0" || s.CurrentCSV != "b.v2.0.0" {
				t.Fatalf("once the plan failed: %+v", s)
			}
			w.serve("cat", tc.more)
			w.mustReconcile()
			if tc.next == "" { // with the new content the same version is tried once more, and nothing else
				w.fail(w.newestPlan())
				plans := len(w.plans())
				w.mustReconcile()
				p := w.newestPlan()
				if s := w.subscription("s").Status; len(w.plans()) != plans || p.Spec.ClusterServiceVersionNames[0] != "b.v2.0.0" || s.State != v1alpha1.SubscriptionStateFailed {
					t.Errorf("%d plans, the newest for %v, and the status is %+v", len(w.plans()), p.Spec.ClusterServiceVersionNames, s)
				}
				return
			}
			if p := w.newestPlan(); p.Spec.ClusterServiceVersionNames[0] != tc.next || p.Status.BundleLookups[0].Replaces != "a.v1.0.0" {
				t.Errorf("the next plan installs %v with %+v", p.Spec.ClusterServiceVersionNames, p.Status.BundleLookups)
			}
		})
	}
}

// TestAFailedOperatorIsReplacedByARenamedPackage is F5 to F7 where the operator of the old name failed, and where that of the new name did, which
// the one of the old name waits behind. Without fail forward it stays, and that is reported.
func TestAFailedOperatorIsReplacedByARenamedPackage(t *testing.T) {
	edges := map[string]struct{ old, next string }{
		"F5 skipRange": {`skipRange: "<2.0.0"`, `skipRange: "<3.0.0"`},
		"F6 skips":     {"skips: [a.v1.0.0]", "skips: [b.v2.0.0]"},
		"F7 replaces":  {"replaces: a.v1.0.0", "replaces: b.v2.0.0"},
	}
	for name, edge := range edges {
		for _, forward := range []bool{true, false} {
			kind := map[bool]string{true: ", fail forward", false: ", by default"}[forward]
			start := func(t *testing.T) *world {
				w := subscribedToA(t, renamed("A", "2.0.0", edge.old))
				if forward {
					w.failForward()
				}
				return w
			}
			check := func(t *testing.T, w *world, plans int, next, replaces string) {
				t.Helper()
				w.mustReconcile()
				if forward {
					if p := w.newestPlan(); len(w.plans()) != plans+1 || p.Spec.ClusterServiceVersionNames[0] != next || p.Status.BundleLookups[0].Replaces != replaces {
						t.Fatalf("%d plans, the newest installs %v with %+v", len(w.plans()), p.Spec.ClusterServiceVersionNames, p.Status.BundleLookups)
					}
					return
				}
				held := w.subscription("s").Status.GetCondition(heldBackCondition)
				if want := next + " is available, but the installed " + replaces + " has failed"; len(w.plans()) != plans || !strings.Contains(held.Message, want) {
					t.Fatalf("%d plans, and HeldBack says %q", len(w.plans()), held.Message)
				}
			}
			t.Run(name+kind+", of the old name", func(t *testing.T) {
				w := start(t)
				w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseFailed)
				w.ask("s", "b")
				check(t, w, 1, "b.v2.0.0", "a.v1.0.0")
			})
			t.Run(name+kind+", of the new name", func(t *testing.T) {
				w := start(t)
				w.ask("s", "b")
				w.mustReconcile()
				w.carryOut(w.newestPlan(), true)
				w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseReplacing)
				w.setCSVPhase("b.v2.0.0", v1alpha1.CSVPhaseFailed)
				w.mustReconcile()
				w.serve("cat", renamed("A", "3.0.0", edge.next))
				check(t, w, 2, "b.v3.0.0", "b.v2.0.0")
			})
		}
	}
}

// TestARenamedPackageChoosesCatalogs takes what the new package needs from the catalogs in the documented order: S19 to S22.
func TestARenamedPackageChoosesCatalogs(t *testing.T) {
	provider := pkg("store", "Store", "", "1.0.0")
	for name, tc := range map[string]struct {
		own        bool           // the catalog of the Subscription has a provider, too
		priorities map[string]int // of other catalogs, which all have one
		want       string
	}{
		"S19 the first by name":                       {false, map[string]int{"x": 0, "y": 0}, "x"},
		"S20 the catalog of the one who needs it":     {true, map[string]int{"x": 9, "y": 0}, "cat"},
		"S21 the highest priority":                    {false, map[string]int{"x": 0, "y": 7}, "y"},
		"S21 priority before what the names would be": {false, map[string]int{"x": 3, "y": 7, "z": 5}, "y"},
		"S22 the same namespace before another":       {false, map[string]int{"olm/a": 0, "y": 0}, "y"},
		"S21 priority before the same namespace":      {false, map[string]int{"olm/a": 1, "y": 0}, "olm/a"},
	} {
		t.Run(name, func(t *testing.T) {
			content := withEdge(pkg("b", "A", "Store", "2.0.0"), "b.v2.0.0", "replaces: a.v1.0.0")
			if tc.own {
				content += provider
			}
			w := subscribedToA(t, content)
			for catalog, priority := range tc.priorities {
				w.t.Helper()
				ref := catalog0.Ref{Namespace: ns, Name: catalog}
				if namespace, inside, ok := strings.Cut(catalog, "/"); ok {
					ref = catalog0.Ref{Namespace: namespace, Name: inside}
				}
				object := catalogSource(ref.Name)
				object.Namespace, object.Spec.Priority = ref.Namespace, priority
				w.add(object)
				c, err := catalog0.Load(w.t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(provider)}}, catalog0.LoadOptions{})
				must.NoError(w.t, err)
				x, err := catalog0.NewIndex(c, "sha256:"+ref.Name)
				must.NoError(w.t, err)
				w.controller.Catalogs.Publish(ref, catalogstore.Entry{Index: x})
			}
			w.ask("s", "b")
			w.mustReconcile()
			from := map[string]string{}
			for _, l := range w.newestPlan().Status.BundleLookups {
				from[l.Identifier] = l.CatalogSourceRef.Namespace + "/" + l.CatalogSourceRef.Name
				if l.Identifier == "b.v2.0.0" && l.Replaces != "a.v1.0.0" {
					t.Errorf("it replaces %q", l.Replaces)
				}
			}
			want := tc.want
			if !strings.Contains(want, "/") {
				want = ns + "/" + want
			}
			if from["store.v1.0.0"] != want || from["b.v2.0.0"] != ns+"/cat" {
				t.Errorf("the bundles come from %v, want store.v1.0.0 from %s", from, want)
			}
		})
	}
}
