package clusterextension

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// exists tells whether an extension is there.
func (w *world) exists(name string) bool {
	w.t.Helper()
	err := w.client.Get(w.t.Context(), client.ObjectKey{Name: name}, &olmv1.ClusterExtension{})
	w.must(client.IgnoreNotFound(err))
	return err == nil
}

// remove deletes an extension, with what the controller of ClusterObjectSets does.
func (w *world) remove(name string) {
	w.t.Helper()
	w.must(w.client.Delete(w.t.Context(), w.extension(name)))
	for range 10 {
		w.pass(name)
		if !w.exists(name) {
			return
		}
	}
	w.t.Fatalf("%s is still there", name)
}

// TestMissingDependency is reported with the ClusterExtension that would have it.
func TestMissingDependency(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0=db"), pkg("db", "1.0.0"))
	w.pass("my")
	w.expect("my", "Progressing", `True/Retrying: bundle "a.v1.0.0" has a dependency declared via property "olm.package.required" that is not met`)
	_, text, found := strings.Cut(progressOf(w.extension("my")).Message, "apiVersion:")
	if !found {
		t.Fatalf("no manifest in %s", progressOf(w.extension("my")).Message)
	}
	ext := &olmv1.ClusterExtension{}
	w.must(yaml.Unmarshal([]byte("apiVersion:"+text), ext))
	w.add(ext)
	if got := packageOf(ext); got != "db" || ext.Spec.Namespace != "ns" || ext.Spec.Source.Catalog.Version != ">=1.0.0" {
		t.Errorf("the manifest is %s", text)
	}
	w.pass("my")
	if got := progressOf(w.extension("my")).Message; !strings.Contains(got, "ClusterExtension db is for package db") {
		t.Error(got)
	}
	w.settle("db")
	if got := w.controller.open(t.Context(), w.extension("db")); len(got) != 1 || got[0].Name != "my" {
		t.Errorf("the installation of the dependency wakes %v", got)
	}
	w.settle("my")
	if got := w.installed("my"); got != "a.v1.0.0" {
		t.Errorf("%q is installed", got)
	}
}

// TestInstallDependencies makes them, through several levels, and removes them when the last one that needs them goes.
func TestInstallDependencies(t *testing.T) {
	w := newWorld(t, want("my", "a", ""), want("other", "b", ""))
	w.serve("cat", pkg("a", "1.0.0=db"), pkg("b", "1.0.0=db"), pkg("db", "1.0.0=disk"), pkg("disk", "1.0.0"))
	w.annotate("my", InstallDependenciesKey, "true")
	for _, name := range []string{"my", "db", "disk", "db", "my", "other"} {
		w.settle(name)
	}
	if w.installed("my") == "" || w.installed("db") == "" || w.installed("disk") == "" || w.installed("other") == "" {
		t.Fatalf("my: %s; db: %s", w.condition("my", "Progressing"), w.condition("db", "Progressing"))
	}
	if got := w.extension("db"); got.Annotations[requiredByKey] != "my" || got.Labels[dependencyLabel] != "true" {
		t.Errorf("db has labels %v and annotations %v", got.Labels, got.Annotations)
	}
	w.remove("my")
	if got := w.extension("db"); got.Annotations[requiredByKey] != "other" || !got.DeletionTimestamp.IsZero() {
		t.Errorf("what another one needs is removed, or not handed over: %v", got.Annotations)
	}
	w.remove("other")
	if w.extension("db").DeletionTimestamp.IsZero() {
		t.Fatal("what nobody needs stays")
	}
	for range 5 {
		w.pass("db")
	}
	if w.exists("db") || w.extension("disk").DeletionTimestamp.IsZero() {
		t.Error("the dependency of the dependency stays")
	}
}

// TestPinnedNeedsNothing: what a version would need that is not wanted now is not installed.
func TestPinnedNeedsNothing(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.annotate("my", InstallDependenciesKey, "true")
	w.serve("cat", pkg("a", "1.0.0"), pkg("db", "1.0.0"))
	w.settle("my")
	w.annotate("my", RollbackToKey, "1")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0=db"), pkg("db", "1.0.0"))
	w.settle("my")
	if w.exists("db") {
		t.Error("a dependency is installed for a version that is not")
	}
	w.annotate("my", RollbackToKey, "")
	w.pass("my")
	if !w.exists("db") {
		t.Error("the dependency of the version that is wanted is not installed")
	}
}

// TestNeedThatEnds removes what an upgrade needs no more. What the user made stays.
func TestNeedThatEnds(t *testing.T) {
	w := newWorld(t, want("my", "a", "1.0.0"), want("disk", "disk", ""))
	w.annotate("my", InstallDependenciesKey, "true")
	w.serve("cat", pkg("a", "1.0.0=db", "1.1.0"), pkg("db", "1.0.0"), pkg("disk", "1.0.0"))
	for _, name := range []string{"disk", "my", "db", "my"} {
		w.settle(name)
	}
	if w.installed("my") != "a.v1.0.0" || !w.exists("db") {
		t.Fatal(w.condition("my", "Progressing"))
	}
	w.version("my", "1.1.0")
	w.settle("my")
	w.pass("my")
	if got := w.extension("db"); got.DeletionTimestamp.IsZero() {
		t.Error("what is not needed any more stays")
	}
	if !w.exists("disk") || !w.extension("disk").DeletionTimestamp.IsZero() {
		t.Error("what the user made is removed")
	}
}
