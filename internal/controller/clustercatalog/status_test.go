package clustercatalog

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestConditions has every condition with every reason, and how a catalog comes to it.
func TestConditions(t *testing.T) {
	down := &image.Error{Kind: image.Unavailable, Op: "resolve", Ref: latest, Reason: "dial tcp 10.0.0.7:43211->192.0.2.1:443: connection refused", Advice: "check the registry"}
	noCatalog := &image.Error{Kind: image.InvalidImage, Op: "pull", Ref: latest, Reason: "it has no label", Advice: "add it", Err: image.ErrNoCatalog}
	states := map[string]any{}
	for name, test := range map[string]struct {
		ref  string
		mode olmv1.AvailabilityMode
		do   func(*world)
		want []string
	}{
		"served, never polled": {ref: latest, want: []string{succeeded1, serving1, "resolved " + repository + "@" + digest(1), at, began}},
		"by digest":            {ref: repository + "@" + digest(7), want: []string{succeeded1, serving1, "resolved " + repository + "@" + digest(7), at, began}},
		"by tag and digest":    {ref: latest + "@" + digest(7), want: []string{succeeded1, serving1, "resolved " + repository + "@" + digest(7), at, began}},
		"a registry with a port": {ref: "localhost:5000/catalog:v1", do: func(w *world) { w.registry.tags["localhost:5000/catalog:v1"] = digest(2) },
			want: []string{succeeded1, serving1, "resolved localhost:5000/catalog@" + digest(2), at, began}},
		"switched off": {ref: latest, mode: olmv1.AvailabilityModeUnavailable,
			want: []string{"Progressing True Succeeded 1: " + messageUnavailable, "Serving False UserSpecifiedUnavailable 1: " + messageUnavailable}},
		"the registry is down": {ref: latest, do: func(w *world) { w.registry.err = down }, want: []string{
			"Progressing True Retrying 1: resolve image " + latest + ": Unavailable: dial tcp 192.0.2.1:443: connection refused (check the registry)",
			"Serving False Unavailable 1: "}},
		"the tag is not there": {ref: repository + ":none", want: []string{
			"Progressing True Retrying 1: resolve image " + repository + ":none: NotFound: manifest unknown (push it)", "Serving False Unavailable 1: "}},
		"no catalog in it, which a tag may have later": {ref: latest, do: func(w *world) { w.registry.errs[repository+"@"+digest(1)] = noCatalog },
			want: []string{"Progressing True Retrying 1: pull image " + latest + ": InvalidImage: it has no label (add it)", "Serving False Unavailable 1: "}},
		"no catalog in it, by digest": {ref: repository + "@" + digest(1), do: func(w *world) { w.registry.errs[repository+"@"+digest(1)] = noCatalog },
			want: []string{"Progressing False Blocked 1: pull image " + latest + ": InvalidImage: it has no label (add it)", "Serving False Unavailable 1: "}},
		"no image of that name": {ref: "BAD/ref:v1", do: func(w *world) {
			w.registry.errs["BAD/ref:v1"] = &image.Error{Kind: image.InvalidReference, Op: "resolve", Ref: "BAD/ref:v1", Reason: "upper case", Advice: "write it right"}
		}, want: []string{"Progressing False Blocked 1: resolve image BAD/ref:v1: InvalidReference: upper case (write it right)", "Serving False Unavailable 1: "}},
		"errors in it": {ref: latest, do: func(w *world) { w.registry.broken = true }, want: []string{succeeded1,
			serving1 + "; what these 2 errors concern cannot be installed; " + brokenBundle, "resolved " + repository + "@" + digest(1), at, began}},
	} {
		t.Run(name, func(t *testing.T) {
			object := clusterCatalog(test.ref, 0)
			if test.mode != "" {
				object.Spec.AvailabilityMode = test.mode
			}
			object.Status.Conditions = []metav1.Condition{{Type: "Unpacked", Status: metav1.ConditionTrue, Reason: "Old"}}
			w := newWorld(t, object)
			if test.do != nil {
				test.do(w)
			}
			w.settle("cat")
			w.says("cat", test.want...)
			states[name] = w.get("cat")
			for _, c := range w.get("cat").Status.Conditions {
				if c.Type == "Unpacked" {
					t.Errorf("a condition of another kind stays: %+v", c)
				}
			}
			w.settle("cat")
			must.Equal(t, "writes", w.server.Taken(), []string{labelled, reported})
		})
	}
	golden.States(t, "testdata/states.txtar", olmv1.GroupVersion.String(), olmv1.ClusterCatalogKind, states)
}

// TestLastGoodIsReady: a registry that does not answer takes nothing from a catalog whose content was served, and another spec does.
func TestLastGoodIsReady(t *testing.T) {
	w, states := newWorld(t, clusterCatalog(latest, 1)), map[string]any{}
	ready := func(state, want string) {
		t.Helper()
		object := w.get("cat")
		c := meta.FindStatusCondition(object.Status.Conditions, reconcile.TypeReady)
		if c == nil || string(c.Status)+" "+c.Reason != want || object.Status.ObservedGeneration != object.Generation || c.ObservedGeneration != object.Generation {
			t.Errorf("%s: %+v of generation %d, want %s", state, c, object.Status.ObservedGeneration, want)
		}
		states[state] = object
	}
	w.settle("cat")
	ready("served", "True Available")
	w.registry.err = &image.Error{Kind: image.Unavailable, Op: "resolve", Ref: latest, Reason: "connection refused", Advice: "check the registry"}
	w.clock.Step(2 * time.Minute)
	w.settle("cat")
	ready("served, and the registry does not answer any more", "True Available")
	w.change("cat", func(o *olmv1.ClusterCatalog) {
		o.Spec.Source.Image.Ref, o.Generation = repository+":v2", 2
	})
	w.settle("cat")
	ready("another tag, and the registry does not answer", "False Retrying")
	golden.States(t, "testdata/lastgood.txtar", olmv1.GroupVersion.String(), olmv1.ClusterCatalogKind, states)
}

// brokenBundle is what is said of a bundle without a version that no channel has.
const brokenBundle = `catalog.json:4: error: bundle "a.v2.0.0" of package "a": the bundle has 0 properties of type "olm.package"; it must have ` +
	`exactly one [bundle-package-property]; give it one with packageName and version; ` +
	`catalog.json:4: error: bundle "a.v2.0.0" of package "a": no channel of the package has an entry for the bundle ` +
	`[bundle-unlisted]; add an entry with this name to a channel, or remove the bundle`

// TestSlowReadingIsTold: after three seconds, and no sooner.
func TestSlowReadingIsTold(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.registry.slow = make(chan struct{})
	must.Equal(t, "looked at again", w.once("cat").RequeueAfter, slow)
	must.Empty(t, "looked at again", w.said("cat"))
	w.clock.Step(slow)
	w.once("cat")
	w.says("cat", "Progressing True Retrying 1: reading the catalog in image "+latest, "Serving False Unavailable 1: ")
	close(w.registry.slow)
	<-w.finished
	w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(1), at, "unpacked 22:13:23")
}

// TestWhatCannotWorkIsLeftAlone: no one asks again for what will stay as it is, until the spec changes.
func TestWhatCannotWorkIsLeftAlone(t *testing.T) {
	ref := repository + "@" + digest(1)
	w := newWorld(t, clusterCatalog(ref, 0))
	w.registry.errs[ref] = &image.Error{Kind: image.InvalidImage, Op: "pull", Ref: ref, Reason: "no catalog", Advice: "name one", Err: image.ErrNoCatalog}
	must.Equal(t, "looked at again", w.settle("cat").RequeueAfter, 0)
	loads := w.registry.loads
	w.clock.Step(24 * time.Hour)
	if w.settle("cat"); w.registry.loads != loads {
		t.Errorf("read %d times again", w.registry.loads-loads)
	}
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.Source.Image.Ref = latest })
	w.registry.errs = nil
	w.settle("cat")
	must.Equal(t, "served", w.served("cat"), digest(1))
}

// TestAStaleCache: what was written already is not written again because the cache does not show it yet.
func TestAStaleCache(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.once("cat") // which writes the label
	<-w.finished
	w.server.Stale = w.get("cat")
	for range 3 {
		w.once("cat")
	}
	must.Equal(t, "writes", w.server.Taken(), []string{labelled, reported})
	w.server.Stale = nil
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(1), at, began)
}
