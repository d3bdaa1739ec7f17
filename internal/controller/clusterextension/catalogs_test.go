package clusterextension

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unread makes a catalog that has no content, for a reason; without one it is still being loaded.
func (w *world) unread(name, problem string) {
	w.t.Helper()
	w.add(&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{olmv1.MetadataNameKey: name}}})
	w.fails(name, problem)
}

func (w *world) fails(name, problem string) {
	w.controller.Catalogs.Publish(catalog.Ref{Name: name}, catalogstore.Entry{Problem: problem})
}

// broken publishes a catalog that may break any rule.
func (w *world) broken(name, text string) {
	w.t.Helper()
	c, err := catalog.Load(w.t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(text)}}, catalog.LoadOptions{})
	if c == nil {
		w.t.Fatal(err)
	}
	x, err := catalog.NewIndex(c, "sha256:"+name+text[len(text)/2:])
	w.must(err)
	w.controller.Catalogs.Publish(catalog.Ref{Name: name}, catalogstore.Entry{Index: x})
}

const (
	reachedState = "True/Succeeded: Desired state reached"
	// unreachable is what an extension says that has only a catalog which cannot be read.
	unreachable = `True/Retrying: error walking catalogs: error getting package "a" from catalog "dog": connection refused`
)

func selecting(ext *olmv1.ClusterExtension, catalog string) *olmv1.ClusterExtension {
	ext.Spec.Source.Catalog.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: catalog}}
	return ext
}

// TestUnreadCatalogBlocksOnlyItsOwn: a catalog that was never read stops those whose selector names it alone, and those that require all.
func TestUnreadCatalogBlocksOnlyItsOwn(t *testing.T) {
	strict := want("strict", "a", "")
	strict.Annotations = map[string]string{snapshot.RequireAllCatalogsAnnotation: "true"}
	w := newWorld(t, want("my", "a", ""), selecting(want("only", "a", ""), "dog"), strict)
	w.serve("cat", pkg("a", "1.0.0"))
	w.unread("dog", "connection refused")
	for _, name := range []string{"my", "only", "strict"} {
		w.settle(name)
	}
	w.expect("my", "Progressing", reachedState)
	if text := w.message("my", "Progressing"); !strings.Contains(text, "catalog dog cannot be read") || strings.Contains(text, "refused") {
		t.Errorf("what is left out is not named, or with a text that changes at every attempt: %s", text)
	}
	w.expect("only", "Progressing", unreachable)
	w.expect("strict", "Progressing", unreachable)
	w.serve("dog", pkg("b", "1.0.0"))
	w.settle("my")
	w.settle("strict")
	if text := w.message("my", "Progressing"); text != reached {
		t.Errorf("once the catalog is read: %s", text)
	}
	w.expect("strict", "Progressing", reachedState)
}

// TestInstalledStaysWithoutCatalogs: whatever becomes of catalogs, what is installed and suffices is never Retrying.
func TestInstalledStaysWithoutCatalogs(t *testing.T) {
	sound := pkg("a", "1.0.0")
	for what, test := range map[string]struct {
		happens func(w *world)
		says    string
	}{
		"it cannot be read":     {func(w *world) { w.fails("cat", "connection refused") }, "catalog cat cannot be read"},
		"the package is broken": {func(w *world) { w.broken("cat", sound+pkg("a", "2.0.0")) }, "the package is already defined"},
		"the bundle is broken":  {func(w *world) { w.broken("cat", strings.ReplaceAll(sound, "version: 1.0.0}", "version: one}")) }, "a.v1.0.0"},
		"a file cannot be read": {func(w *world) { w.broken("cat", pkg("b", "1.0.0")+"---\n{\"schema\": [") }, "[syntax]"},
		"the channel has heads": {func(w *world) {
			w.broken("cat", strings.Replace(pkg("a", "1.0.0", "2.0.0"), "  replaces: a.v1.0.0\n", "", 1))
		}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, want("my", "a", "1.x"))
			w.serve("cat", sound)
			w.settle("my")
			before := len(w.revisions("my"))
			test.happens(w)
			w.settle("my")
			w.expect("my", "Progressing", reachedState)
			if text := w.message("my", "Progressing"); !strings.Contains(text, test.says) || test.says == "" && text != reached {
				t.Errorf("the message is %q, want it to say %q", text, test.says)
			}
			if got := len(w.revisions("my")); got != before || w.installed("my") != "a.v1.0.0" {
				t.Errorf("there are %d revisions instead of %d, and %s is installed", got, before, w.installed("my"))
			}
		})
	}
}

// TestOtherCatalogLoads: while another catalog is being loaded nothing is decided and nothing reported of catalogs, for a while.
func TestOtherCatalogLoads(t *testing.T) {
	w := installedWorld(t)
	w.unread("dog", "")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.server.Taken()
	must.Equal(t, "while it is loaded: looked at again", w.pass("my").RequeueAfter, loadTimeout)
	must.Empty(t, "while it is loaded: writes", w.server.Writes())
	must.Equal(t, "its content wakes", len(w.controller.interests.those(func(d *decision) bool { return d.open })), 1)
	degraded := metav1.Condition{Type: olmv1.TypeAvailable, Status: metav1.ConditionFalse, Reason: olmv1.ReasonProbeFailure, Message: "no replicas"}
	w.says(w.newest("my"), append(done[:len(done):len(done)], degraded)...)
	w.pass("my")
	w.expect("my", "Available", "False/ProbeFailure: no replicas")
	w.expect("my", "Progressing", reachedState)
	w.clock.Step(loadTimeout)
	w.settle("my")
	if got := w.installed("my"); got != "a.v1.1.0" {
		t.Errorf("after %s %s is installed", loadTimeout, got)
	}
	for _, problem := range []string{"connection refused", "", "no such host", ""} {
		w.fails("dog", problem)
		w.server.Taken()
		w.pass("my")
		must.Empty(t, "when the catalog", w.server.Writes())
	}
}

// TestFirstWaitsForLoading: which catalog a new extension follows must not depend on which is faster.
func TestFirstWaitsForLoading(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0"))
	w.unread("dog", "")
	must.Equal(t, "it is looked at again", w.pass("my").RequeueAfter, loadTimeout)
	w.expect("my", "Progressing", `True/Retrying: error walking catalogs: error getting package "a" from catalog "dog": it is still being loaded`)
	w.serve("dog", pkg("a", "2.0.0"))
	w.settle("my")
	w.expect("my", "Progressing", `True/Retrying: found bundles for package "a" in multiple catalogs with the same priority [cat dog]`)
	must.Empty(t, "something was installed", w.revisions("my"))
}

// TestOtherVersionDuringLoading: who asks for something else is answered at once.
func TestOtherVersionDuringLoading(t *testing.T) {
	w := newWorld(t, want("my", "a", "1.0.0"))
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	w.unread("dog", "")
	w.version("my", "1.1.0")
	w.settle("my")
	if got := w.installed("my"); got != "a.v1.1.0" {
		t.Errorf("%s is installed: %s", got, w.message("my", "Progressing"))
	}
}

// TestLoadings: a catalog that could not be read is not loading again until it was read.
func TestLoadings(t *testing.T) {
	w := installedWorld(t)
	w.unread("dog", "connection refused")
	w.settle("my")
	w.fails("dog", "")
	must.Equal(t, "it is waited for again", w.pass("my").RequeueAfter, 0)
	w.serve("dog", pkg("b", "1.0.0"))
	w.settle("my")
	w.fails("dog", "")
	must.Equal(t, "one that had content is waited", w.pass("my").RequeueAfter, loadTimeout)
	w.clock.Step(loadTimeout - time.Second)
	must.Equal(t, "a second before the end it is waited", w.pass("my").RequeueAfter, time.Second)
}

// TestTwoHeads: versions decide, and a bundle that cannot be used is named where it would have been chosen.
func TestTwoHeads(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("b", "1.0.0"))
	heads := strings.Replace(pkg("a", "1.0.0", "2.0.0"), "  replaces: a.v1.0.0\n", "", 1)
	w.broken("cat", heads)
	w.settle("my")
	if got := w.installed("my"); got != "a.v2.0.0" || w.message("my", "Progressing") != reached {
		t.Errorf("%s is installed: %s", got, w.message("my", "Progressing"))
	}
	w.broken("cat", pkg("a", "2.0.0", "3.0.0")+"- {type: olm.gvk.required, value: {group: example.com, version: v1, kind: []}}\n")
	w.settle("my")
	w.expect("my", "Progressing", reachedState)
	if text := w.message("my", "Progressing"); !strings.Contains(text, `something of the package cannot be used in catalog cat`) || !strings.Contains(text, "a.v3.0.0") {
		t.Errorf("the message is %q", text)
	}
	if !w.has(eventLeftOut) {
		t.Error("there is no Event about it")
	}
	if !meta.IsStatusConditionFalse(w.extension("my").Status.Conditions, olmv1.TypeDeprecated) {
		t.Error("whether it is deprecated is not known any more")
	}
}
