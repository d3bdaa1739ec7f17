package clusterextension

import (
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/desired"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/yaml"
)

// exists reports whether an extension is there.
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
	if got := w.controller.interests.open(t.Context(), w.extension("db")); len(got) != 1 || got[0].Name != "my" {
		t.Errorf("the installation of the dependency wakes %v", got)
	}
	w.settle("my")
	if got := w.installed("my"); got != "a.v1.0.0" {
		t.Errorf("%q is installed", got)
	}
}

// TestDependencyThatGoes is told by whoever needs it, at once; others are not looked at.
func TestDependencyThatGoes(t *testing.T) {
	w := newWorld(t, want("my", "a", ""), want("db", "db", ""), want("free", "c", ""))
	w.serve("cat", pkg("a", "1.0.0=db"), pkg("db", "1.0.0"), pkg("c", "1.0.0"))
	for _, name := range []string{"db", "my", "free"} {
		w.settle(name)
	}
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	goes := w.extension("db")
	if !installedChanged.Delete(event.DeleteEvent{Object: goes}) {
		t.Error("that an extension goes is no news")
	}
	if got := w.controller.interests.open(t.Context(), goes); len(got) != 1 || got[0].Name != "my" {
		t.Errorf("it wakes %v", got)
	}
	w.remove("db")
	w.pass("my")
	if got := w.condition("my", "Progressing"); got != "True/Succeeded: Desired state reached" || !strings.Contains(progressOf(w.extension("my")).Message, "a.v1.0.0, which is installed, requires ") || !w.has("Warning DependencyMissing a.v1.0.0, which is installed, requires") {
		t.Errorf("that what it needs is gone is not told: %s", got)
	}
	must.Equal(t, "what is installed does not stay", w.installed("my"), "a.v1.0.0")
	w.add(want("db", "db", ""))
	w.settle("db")
	w.settle("my")
	must.Equal(t, "it is told although what it needs is there again", progressOf(w.extension("my")).Message, "Desired state reached")
}

// TestDependencyThatNeverComes: what was created for a need that has ended goes, although it was never installed.
func TestDependencyThatNeverComes(t *testing.T) {
	w := newWorld(t, want("my", "a", "1.0.0"))
	w.annotate("my", InstallDependenciesKey, "true")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0=db"), pkg("db", "1.0.0"))
	w.settle("my")
	w.version("my", "1.1.0")
	w.bundles.failed["db.v1.0.0"] = errGone
	for range 3 {
		w.pass("my")
		w.pass("db")
	}
	if !w.exists("db") {
		t.Fatalf("what is needed is not created, or does not stay: %s", w.condition("my", "Progressing"))
	}
	w.version("my", "1.0.0")
	w.settle("my")
	if w.exists("db") {
		w.pass("db")
	}
	if w.exists("db") {
		t.Error("what nobody needs any more waits for ever")
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

// TestDependencyWhoseNamesAreTaken by ClusterExtensions for other packages is not said to be created, nor given a manifest that would change
// one of those.
func TestDependencyWhoseNamesAreTaken(t *testing.T) {
	for _, create := range []string{"", "true"} {
		w := newWorld(t, want("my", "a", ""), want("b", "x", ""), want("b-for-my", "y", ""))
		w.annotate("my", InstallDependenciesKey, create)
		w.serve("cat", pkg("a", "1.0.0=b"), pkg("b", "1.0.0"))
		w.pass("my")
		got := progressOf(w.extension("my")).Message
		if !strings.Contains(got, "no ClusterExtension can be created for that: b and b-for-my are there for other packages; create one for package b under another name") || strings.Contains(got, "apiVersion") {
			t.Errorf("with %q it is said: %s", create, got)
		}
		w.add(want("database", "b", ""))
		w.settle("database")
		w.settle("my")
		must.Equal(t, "with one of another name", w.installed("my"), "a.v1.0.0")
	}
}

// TestDependencyThatWasCreatedMeanwhile, so that caches do not tell of it yet, is looked at again and not reported.
func TestDependencyThatWasCreatedMeanwhile(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.annotate("my", InstallDependenciesKey, "true")
	w.serve("cat", pkg("a", "1.0.0=b"), pkg("b", "1.0.0"))
	w.add(want("b", "b", ""))
	w.server.Answer = func(list client.ObjectList) bool {
		_, all := list.(*olmv1.ClusterExtensionList)
		return all
	}
	if _, err := w.controller.Reconcile(t.Context(), requestFor("my")); !apierrors.IsAlreadyExists(err) || len(w.extension("my").Status.Conditions) > 0 {
		t.Errorf("%v; %s", err, w.condition("my", "Progressing"))
	}
	w.server.Answer = nil
	w.pass("my")
	if got := progressOf(w.extension("my")).Message; !strings.Contains(got, "ClusterExtension b is for package b; it has to have") {
		t.Error(got)
	}
}

// TestPinnedNeedsNothing: what a version would need that is not wanted now is not installed.
func TestPinnedNeedsNothing(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.annotate("my", InstallDependenciesKey, "true")
	w.serve("cat", pkg("a", "1.0.0"), pkg("db", "1.0.0"))
	w.settle("my")
	w.annotate("my", desired.RollbackToKey, "1")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0=db"), pkg("db", "1.0.0"))
	w.settle("my")
	if w.exists("db") {
		t.Error("a dependency is installed for a version that is not")
	}
	w.annotate("my", desired.RollbackToKey, "")
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

// TestNeedOfARollOut keeps what an extension needs that is being installed for the first time.
func TestNeedOfARollOut(t *testing.T) {
	w := newWorld(t, want("my", "a", ""), want("other", "b", ""))
	w.serve("cat", pkg("a", "1.0.0=db"), pkg("b", "1.0.0=db"), pkg("db", "1.0.0"))
	w.annotate("my", InstallDependenciesKey, "true")
	for _, name := range []string{"my", "db", "my"} {
		w.settle(name)
	}
	w.pass("other") // its first revision rolls out
	if w.newest("other"); w.installed("other") != "" {
		t.Fatal("other is installed already")
	}
	w.remove("my")
	if d := w.extension("db"); !d.DeletionTimestamp.IsZero() || d.Annotations[requiredByKey] != "other" {
		t.Errorf("db, which other needs to roll out, is %v", d.ObjectMeta)
	}
}

// TestNeedThatIsNotKnown keeps a dependency: of bundles with too many properties, and of those with broken ones, no one knows what they need.
func TestNeedThatIsNotKnown(t *testing.T) {
	large := strings.Replace(pkg("a", "1.0.0=db"), "- type: olm.package.required", "- type: example.big\n  value: "+strings.Repeat("x", desired.MaxProperties)+"\n- type: olm.package.required", 1)
	for name, test := range map[string]struct {
		packages string
		change   func(annotations map[string]string)
	}{
		"too many properties": {large, func(all map[string]string) {
			must.Equal(t, "the properties are kept", all[snapshot.PropertiesKey], "")
		}},
		"broken properties": {pkg("a", "1.0.0=db"), func(all map[string]string) { all[snapshot.PropertiesKey] = "{" }},
		"a broken version":  {pkg("a", "1.0.0=db"), func(all map[string]string) { all[olmv1.BundleVersionKey] = "?" }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""), want("other", "c", ""))
			w.serve("cat", test.packages, pkg("db", "1.0.0"), pkg("c", "1.0.0=db"))
			w.annotate("my", InstallDependenciesKey, "true")
			for _, name := range []string{"my", "db", "my"} {
				w.settle(name)
			}
			r := w.newest("my")
			test.change(r.Annotations)
			w.must(w.client.Update(t.Context(), r))
			w.pass("my")
			if d := w.extension("db"); !d.DeletionTimestamp.IsZero() || d.Annotations[requiredByKey] != "my" {
				t.Errorf("db is %v", d.ObjectMeta)
			}
			// The same of others.
			w.settle("other")
			w.annotate("db", requiredByKey, "other")
			w.remove("other")
			if d := w.extension("db"); !d.DeletionTimestamp.IsZero() || d.Annotations[requiredByKey] != "my" {
				t.Errorf("after other is gone, db is %v", d.ObjectMeta)
			}
		})
	}
}

// TestDependencyWithData stays, and is the user's from then on: no one has asked for its custom resources to be deleted.
func TestDependencyWithData(t *testing.T) {
	for name, test := range map[string]struct {
		n       int64
		err     error
		upgrade bool
	}{
		"removal":           {n: 2},
		"upgrade":           {n: 2, upgrade: true},
		"it is not known":   {err: errors.New("the webhook is down")},
		"none, at removal":  {},
		"none, at upgrade":  {upgrade: true},
		"not known, either": {err: errors.New("the webhook is down"), upgrade: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", "1.0.0"))
			w.brings("db.v1.0.0", definition(2))
			w.annotate("my", InstallDependenciesKey, "true")
			w.serve("cat", pkg("a", "1.0.0=db", "1.1.0"), pkg("db", "1.0.0"))
			for _, name := range []string{"my", "db", "my"} {
				w.settle(name)
			}
			w.installCRD(definition(2), w.newest("db"))
			asked := w.counted(test.n, test.err)
			if w.settle("my"); *asked != 0 {
				t.Errorf("custom resources are counted although the dependency is needed, %d times", *asked)
			}
			if test.upgrade {
				w.version("my", "1.1.0")
				w.settle("my")
				w.pass("my")
			} else {
				w.remove("my")
			}
			d := w.extension("db")
			if test.n == 0 && test.err == nil {
				if d.DeletionTimestamp.IsZero() {
					t.Error("what nobody needs stays")
				}
				return
			}
			if !d.DeletionTimestamp.IsZero() || d.Labels[dependencyLabel] != "" || d.Annotations[requiredByKey] != "" {
				t.Errorf("db is %v", d.ObjectMeta)
			}
			if *asked != 1 || !w.has("DependencyKept ClusterExtension db, which was installed for the needs of my, is needed no more, but stays: CustomResourceDefinition things.example.com: it ") {
				t.Errorf("it was asked %d times, or there is no Event", *asked)
			}
		})
	}
}

// TestNeedOfAnAPIThatIsNotKnown: of a dependency whose properties are too many to be kept, every API that a person asks for may be its own.
func TestNeedOfAnAPIThatIsNotKnown(t *testing.T) {
	asks := []catalog.Property{{Type: catalog.PropertyGVKRequired, Value: []byte(`{"group":"example.com","kind":"Thing","version":"v1"}`)}}
	has := func(kind string) *resolution.Installed {
		return &resolution.Installed{Properties: []catalog.Property{{Type: catalog.PropertyGVK, Value: []byte(`{"group":"example.com","kind":"` + kind + `","version":"v1"}`)}}}
	}
	for name, test := range map[string]struct {
		what *resolution.Installed
		want bool
	}{"nothing is installed": {nil, false}, "it is not known": {&resolution.Installed{}, true}, "it has the API": {has("Thing"), true}, "it has another": {has("Other"), false}} {
		must.Equal(t, name, ops.Needs(asks, "db", test.what), test.want)
	}
}
