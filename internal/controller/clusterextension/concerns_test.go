package clusterextension

import (
	"context"
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestContentConcerns only those whose package is other than before, and those that lack something.
func TestContentConcerns(t *testing.T) {
	w := newWorld(t, want("my", "a", ""), want("other", "b", ""), want("lacks", "c", ""))
	w.controller.Catalogs.OnChange(w.controller.Notify.catalogChanged)
	w.serve("cat", pkg("a", "1.0.0"), pkg("b", "1.0.0"))
	for _, name := range []string{"my", "other", "lacks"} {
		w.settle(name)
	}
	queue := newQueue(t, w.controller.Notify)
	woken := func() map[string]bool {
		all := map[string]bool{}
		for queue.Len() > 0 {
			r, _ := queue.Get()
			queue.Done(r)
			all[r.Name] = true
		}
		return all
	}
	for _, test := range []struct {
		what string
		do   func()
		want string
	}{
		{"a package of nobody", func() { w.serve("cat", pkg("a", "1.0.0"), pkg("b", "1.0.0"), pkg("d", "1.0.0")) }, "map[lacks:true]"},
		{"a new version", func() { w.serve("cat", pkg("a", "1.0.0", "1.1.0"), pkg("b", "1.0.0")) }, "map[lacks:true my:true]"},
		{"another catalog with nothing", func() { w.serve("dog", pkg("d", "1.0.0")) }, "map[lacks:true my:true other:true]"},
		{"the content goes", func() { w.controller.Catalogs.Withdraw(catalog.Ref{Name: "cat"}) }, "map[lacks:true my:true other:true]"},
	} {
		test.do()
		if got := fmt.Sprint(woken()); got != test.want {
			t.Errorf("%s wakes %s, want %s", test.what, got, test.want)
		}
	}
}

// TestCatalogIsDescribedOtherwise: another source of a catalog concerns no one until there is other content.
func TestCatalogIsDescribedOtherwise(t *testing.T) {
	before := &olmv1.ClusterCatalog{Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Image: &olmv1.ImageSource{Ref: "a"}}}}
	for what, test := range map[string]struct {
		change func(*olmv1.ClusterCatalog)
		want   bool
	}{
		"source":       {func(c *olmv1.ClusterCatalog) { c.Spec.Source.Image.Ref, c.Generation = "b", 2 }, false},
		"status":       {func(c *olmv1.ClusterCatalog) { c.Status.LastUnpacked = &metav1.Time{Time: time.Now()} }, false},
		"priority":     {func(c *olmv1.ClusterCatalog) { c.Spec.Priority = 1 }, true},
		"availability": {func(c *olmv1.ClusterCatalog) { c.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable }, true},
		"labels":       {func(c *olmv1.ClusterCatalog) { c.Labels = map[string]string{"a": "b"} }, true},
		"deletion":     {func(c *olmv1.ClusterCatalog) { c.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, true},
	} {
		after := before.DeepCopy()
		test.change(after)
		must.Equal(t, what, describedOtherwise.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}), test.want)
	}
	if !describedOtherwise.Create(event.CreateEvent{Object: before}) || !describedOtherwise.Delete(event.DeleteEvent{Object: before}) {
		t.Error("a catalog that comes or goes concerns nobody")
	}
}

// TestContentThatArrivesMeanwhile is not missed by a pass that has looked at the catalogs already, be it the first or a later one.
func TestContentThatArrivesMeanwhile(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.controller.Catalogs.OnChange(w.controller.Notify.catalogChanged)
	w.serve("cat", pkg("b", "1.0.0"))
	queue := newQueue(t, w.controller.Notify)
	for _, versions := range [][]string{{"1.0.0"}, {"1.0.0", "1.1.0"}} {
		w.controller.kubernetes = func(context.Context) semver.Version {
			w.controller.kubernetes = func(context.Context) semver.Version { return semver.Version{} }
			w.serve("cat", pkg("a", versions...))
			return semver.Version{}
		}
		w.pass("my")
		if queue.Len() != 1 {
			t.Fatalf("content %v that came during a pass leads to %d more", versions, queue.Len())
		}
		r, _ := queue.Get()
		queue.Done(r)
		w.settle("my")
		for queue.Len() > 0 {
			r, _ := queue.Get()
			queue.Done(r)
		}
	}
}

// TestContentThatConcernsNobody costs little with many extensions.
func TestContentThatConcernsNobody(t *testing.T) {
	const many = 60
	w := newWorld(t)
	var packages []string
	for i := range many {
		name := fmt.Sprintf("p%d", i)
		packages = append(packages, pkg(name, "1.0.0", "1.1.0", "1.2.0"))
		w.add(want(name, name, ""))
	}
	w.serve("cat", packages...)
	for i := range many {
		w.pass(fmt.Sprintf("p%d", i))
	}
	queue := newQueue(t, w.controller.Notify)
	w.serve("cat", append(packages, pkg("new", "1.0.0"))...)
	began := time.Now()
	w.controller.Notify.catalogChanged(catalog.Ref{Name: "cat"})
	if took := time.Since(began); took > time.Second { // a hundred times what it takes, for busy machines
		t.Errorf("it took %s", took)
	} else {
		t.Logf("%d extensions: %s", many, took)
	}
	if queue.Len() != 0 {
		t.Errorf("%d extensions are looked at", queue.Len())
	}
}

// TestKilledAtEveryWrite shows that a manager which is stopped at any write leaves nothing behind that the next one does not finish.
func TestKilledAtEveryWrite(t *testing.T) {
	for at := 1; ; at++ {
		w := newServingWorld(t)
		w.annotate("my", revision.OnFailureKey, revision.OnFailureRollback)
		w.server.KillAt(at, false)
		_, err := w.controller.Reconcile(t.Context(), requestFor("my"))
		if err == nil && !w.server.Killed() {
			if at < 6 {
				t.Errorf("there are only %d writes", at-1)
			}
			return // there are fewer writes than that
		}
		w.controller.forget("my")
		w.settle("my")
		must.Equal(t, "stopped at write", w.condition("my", olmv1.TypeProgressing), "True/Succeeded: Desired state reached")
		must.Equal(t, "stopped at write", len(w.revisions("my")), 1)
	}
}
