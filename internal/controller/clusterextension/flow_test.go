package clusterextension

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/desired"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestInstallAndUpgrade(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	w.expect("my", "Installed", "False/Absent: No bundle installed")
	w.expect("my", "Progressing", "True/RollingOut: Revision 1.0.0 is rolling out.")
	w.settle("my")
	w.expect("my", "Installed", "True/Succeeded: Installed bundle quay.io/a:v1.0.0 successfully")
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	w.expect("my", "Available", "True/ProbesSucceeded: all good")
	if !w.has("bundle a.v1.0.0 is installed") {
		t.Error("no Event tells of the installation")
	}
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	must.Equal(t, "a new version is in the catalog, and", w.installed("my"), "a.v1.1.0")
	must.Equal(t, "names", names(w.revisions("my")), []string{"my-1 1.0.0 Archived", "my-2 1.1.0 Active"})
}

// TestUnchangedCostsNothing shows that a pass of what is as it should be writes, fetches and renders nothing, in a new manager too.
func TestUnchangedCostsNothing(t *testing.T) {
	w := installedWorld(t)
	gets, renders := w.bundles.gets, w.renders
	w.controller.forget("my")
	w.controller.observer.properties = propertyNotes{}
	w.server.Taken()
	w.clock.Step(time.Hour)
	result := w.pass("my")
	if len(w.server.Writes()) > 0 || w.bundles.gets != gets || w.renders != renders || result.RequeueAfter != 0 {
		t.Errorf("writes %v, %d fetches, %d renders, again after %s; want none", w.server.Writes(), w.bundles.gets-gets, w.renders-renders, result.RequeueAfter)
	}
}

// TestStart waits for the content of catalogs that was served before, a while: not to know it yet is no news. What is installed is looked after
// meanwhile.
func TestStart(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	var served olmv1.ClusterCatalog
	w.must(w.client.Get(t.Context(), client.ObjectKey{Name: "cat"}, &served))
	served.Status.ResolvedSource = &olmv1.ResolvedCatalogSource{Image: &olmv1.ResolvedImageSource{Ref: "quay.io/cat@sha256:abc"}}
	w.must(w.client.Update(t.Context(), &served))
	restart := func() {
		w.controller.Catalogs.Withdraw(catalog.Ref{Name: "cat"})
		w.controller.forget("my")
		w.controller.began = sync.OnceValue(w.clock.Now)
		w.server.Taken()
	}
	restart()
	must.Equal(t, "before catalogs are read: looked at again", w.pass("my").RequeueAfter, startTimeout)
	must.Empty(t, "before catalogs are read: writes", w.server.Writes())
	must.Equal(t, "new content wakes", len(w.controller.interests.those(func(d *decision) bool { return d.open })), 1)
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	must.Empty(t, "when they are read", w.server.Writes())
	restart()
	w.pass("my")
	w.must(w.client.Delete(t.Context(), w.secret()))
	w.pass("my")
	w.secret()
	w.clock.Step(startTimeout)
	w.settle("my")
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	must.Contain(t, "a catalog that is not read for long is not named", w.message("my", "Progressing"), "catalog cat cannot be read")
}

// TestOtherVersions go by the edges of the catalog, but for those that the user certifies.
func TestOtherVersions(t *testing.T) {
	w := newWorld(t, want("my", "a", "1.0.0"))
	w.serve("cat", pkg("a", "1.0.0", "1.1.0", "1.2.0"))
	w.settle("my")
	if got := w.installed("my"); got != "a.v1.0.0" {
		t.Fatalf("pinned to 1.0.0, and %s is installed", got)
	}
	w.version("my", "1.2.0")
	w.settle("my")
	w.expect("my", "Progressing", `True/Retrying: error upgrading from currently installed version "1.0.0": no bundles found for package "a" matching version "1.2.0"`)
	w.expect("my", "Installed", "True/Succeeded: Installed bundle quay.io/a:v1.0.0 successfully")
	certify := func(e *olmv1.ClusterExtension) {
		e.Spec.Source.Catalog.UpgradeConstraintPolicy = olmv1.UpgradeConstraintPolicySelfCertified
	}
	w.change("my", certify)
	w.settle("my")
	must.Equal(t, "certified by the user, and", w.installed("my"), "a.v1.2.0")
	w.version("my", "1.0.0")
	w.settle("my")
	must.Equal(t, "the way back certified by the user, and", w.installed("my"), "a.v1.0.0")
}

// TestStuckRollOut shows that another spec is acted on at once, and another catalog after a while.
func TestStuckRollOut(t *testing.T) {
	w := installedWorld(t)
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.pass("my")
	stuck := w.newest("my")
	stuck.CreationTimestamp = metav1.NewTime(w.clock.Now())
	w.must(w.client.Update(t.Context(), stuck))
	w.says(stuck, rolling...)
	w.serve("cat", strings.Replace(pkg("a", "1.0.0", "1.2.0"), "replaces: a.v1.0.0", "replaces: a.v1.0.0\n  skips: [a.v1.1.0]", 1))
	result := w.pass("my")
	if got := w.newest("my"); got.Annotations[olmv1.BundleVersionKey] != "1.1.0" || result.RequeueAfter <= 0 {
		t.Errorf("a roll-out that has just begun is exchanged for %s, again after %s", got.Annotations[olmv1.BundleVersionKey], result.RequeueAfter)
	}
	w.clock.Step(result.RequeueAfter)
	w.pass("my")
	must.Equal(t, "a stuck roll-out is not exchanged for what repairs it", w.newest("my").Annotations[olmv1.BundleVersionKey], "1.2.0")
	w.says(w.newest("my"), rolling...)
	w.version("my", "1.0.0")
	w.pass("my")
	if got := w.newest("my"); got.Annotations[olmv1.BundleVersionKey] != "1.0.0" || got.Spec.Revision != 4 {
		t.Errorf("a new spec waits for a stuck roll-out: %v", names(w.revisions("my")))
	}
	w.settle("my")
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
}

// TestRollOutWithoutCatalog goes on, however long it takes, and takes another configuration.
func TestRollOutWithoutCatalog(t *testing.T) {
	for name, lose := range map[string]func(*world){
		"the catalog is gone":        func(w *world) { w.unserve("cat") },
		"its content is another one": func(w *world) { w.serve("cat", pkg("b", "1.0.0")) },
		"it cannot be read any more": func(w *world) {
			w.controller.Catalogs.Publish(catalog.Ref{Name: "cat"}, catalogstore.Entry{Problem: "down"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := installedWorld(t)
			w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
			w.pass("my")
			w.says(w.newest("my"), rolling...)
			lose(w)
			w.clock.Step(time.Hour)
			w.pass("my")
			must.Equal(t, "want -, got +", names(w.revisions("my")), []string{"my-1 1.0.0 Active", "my-2 1.1.0 Active"})
			w.configure("my", `{"x":1}`)
			w.settle("my")
			must.Equal(t, "another configuration makes", w.newest("my").Spec.Revision, 3)
			must.Equal(t, "another configuration makes", w.installed("my"), "a.v1.1.0")
		})
	}
}

// TestConfiguration is acted on without a change of version, and refused in words for people.
func TestConfiguration(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0"))
	w.configure("my", `{"bad":1}`)
	w.pass("my")
	w.expect("my", "Progressing", `False/InvalidConfiguration: invalid ClusterExtension configuration: invalid configuration: unknown field "bad"`)
	w.configure("my", `{"x":1, "y":2}`)
	w.settle("my")
	must.Equal(t, "revision", w.newest("my").Spec.Revision, 1)
	renders := w.renders
	w.configure("my", `{"y":2,"x":1}`)
	w.settle("my")
	if w.renders != renders {
		t.Error("the same configuration, written otherwise, is rendered again")
	}
	w.unserve("cat")
	w.configure("my", `{"x":2}`)
	w.settle("my")
	if got := w.newest("my"); got.Spec.Revision != 2 || got.Annotations[olmv1.BundleNameKey] != "a.v1.0.0" {
		t.Errorf("without a catalog, another configuration makes %v", names(w.revisions("my")))
	}
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	w.expect("my", "Deprecated", "Unknown/DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable")
}

// TestVanishedContent is told, and goes on running; another configuration is acted on all the same.
func TestVanishedContent(t *testing.T) {
	w := installedWorld(t)
	w.serve("cat", pkg("b", "1.0.0"))
	w.settle("my")
	w.expect("my", "Progressing", `True/Retrying: error upgrading from currently installed version "1.0.0": no bundles found for package "a"`)
	message := progressOf(w.extension("my")).Message
	must.Contain(t, "it is not said what goes on", message, "a.v1.0.0 stays installed")
	next := func(within string) desired.Step {
		return desired.Next(w.extension("my"), desired.Observed{Revisions: w.revisions("my"), Providers: w.providers}, desired.Offer{Conflict: &resolution.Conflict{}, Range: within}, w.clock.Now())
	}
	if kept, out := next(""), next(">1.0.0"); kept.Action != desired.Keep || out.Action != desired.Stay {
		t.Errorf("a plan prints %s, and %s where another version is desired", kept.Action, out.Action)
	}
	w.configure("my", `{"x":2}`)
	if kept := next(""); kept.Action != desired.Write || kept.Target.Name != "a.v1.0.0" {
		t.Errorf("a plan prints %+v with another configuration", kept)
	}
	w.settle("my")
	must.Equal(t, "another configuration makes", w.newest("my").Spec.Revision, 2)
	must.Equal(t, "another configuration makes", w.installed("my"), "a.v1.0.0")
}

// TestNamespace is waited for.
func TestNamespace(t *testing.T) {
	ext := want("my", "a", "")
	ext.Spec.Namespace = "late"
	w := newWorld(t, ext)
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	w.expect("my", "Progressing", `True/Retrying: namespaces "late" not found: create namespace late, which spec.namespace of ClusterExtension my names; the installation begins when it is there`)
	late := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "late"}}
	w.add(late)
	if got := w.controller.interests.forNamespace(t.Context(), late); len(got) != 1 || got[0].Name != "my" {
		t.Errorf("the namespace wakes %v", got)
	}
	w.settle("my")
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
}

// TestBundles that are slow, or cannot be had, are told of.
func TestBundles(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0"))
	w.bundles.slow["a.v1.0.0"] = true
	w.pass("my")
	w.expect("my", "Progressing", "True/RollingOut: fetching bundle a.v1.0.0, slowly: 1 of 9 MB")
	queue := newQueue(t, w.controller.Notify)
	w.controller.Notify.BundleArrived()
	must.Equal(t, "a bundle that has arrived wakes", queue.Len(), 1)
	delete(w.bundles.slow, "a.v1.0.0")
	w.bundles.failed["a.v1.0.0"] = errGone
	must.Equal(t, "tried again", w.pass("my").RequeueAfter, minPause)
	w.expect("my", "Progressing", "True/Retrying: connection refused")
	delete(w.bundles.failed, "a.v1.0.0")
	w.settle("my")
	w.controller.Notify.BundleArrived()
	must.Equal(t, "another bundle wakes an extension that waits for none", queue.Len(), 1)
}

// TestUninstall tears all revisions down at once, so that none that rolls out hands its objects back to the one before it, which would start
// the old version again; and tells how far it is.
func TestUninstall(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.version("my", "1.0.0")
	w.settle("my")
	w.version("my", "")
	w.pass("my")
	for _, r := range w.revisions("my") {
		r.Finalizers = []string{olmv1.TeardownFinalizer}
		w.must(w.client.Update(t.Context(), &r))
	}
	w.says(w.newest("my"), rolling...)
	w.must(w.client.Delete(t.Context(), w.extension("my")))
	w.server.Taken()
	w.pass("my")
	deleted := slices.DeleteFunc(w.server.Writes(), func(what string) bool { return !strings.HasPrefix(what, "delete ") })
	must.Equal(t, "an heir goes before who might leave something to it", deleted, []string{"delete ClusterObjectSet my-1", "delete ClusterObjectSet my-2"})
	w.says(w.newest("my"), is("Progressing", "RollingOut", "3 objects are left"))
	w.pass("my")
	w.expect("my", "Progressing", "True/RollingOut: Uninstalling: revision my-2 is being torn down: 3 objects are left")
	w.expect("my", "PackageDeprecated", "False/NotDeprecated: package not deprecated")
	for range 2 {
		gone := w.newest("my")
		gone.Finalizers = nil
		w.must(w.client.Update(t.Context(), gone))
		w.pass("my")
	}
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: "my"}, &olmv1.ClusterExtension{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the extension is still there: %v", err)
	}
	w.pass("my")
}

// TestRetention keeps five revisions, and the one that the user goes back to.
func TestRetention(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0"))
	for i := range 8 {
		w.configure("my", `{"x":`+string(rune('0'+i))+`}`)
		w.settle("my")
	}
	if got := names(w.revisions("my")); len(got) != 5 || got[0] != "my-4 1.0.0 Archived" || got[4] != "my-8 1.0.0 Active" {
		t.Errorf("kept are %v", got)
	}
}
