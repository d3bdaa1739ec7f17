package clustercatalog

import (
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"
)

// TestUnavailable: content, in memory and on disk, goes at once, also while something is being read, and comes back.
func TestUnavailable(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 1))
	w.settle("cat")
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable })
	must.Equal(t, "it is looked at again", w.settle("cat").RequeueAfter, 0)
	off := []string{"Progressing True Succeeded 2: " + messageUnavailable, "Serving False UserSpecifiedUnavailable 2: " + messageUnavailable}
	w.says("cat", off...)
	if w.served("cat") != "" || len(w.removed) == 0 || w.removed[0] != digest(1) {
		t.Errorf("served %q, removed %v", w.served("cat"), w.removed)
	}
	if _, there := w.c.catalogs.Get(snapshot.CatalogRef("cat")); there {
		t.Error("decisions still see it")
	}
	w.clock.Step(time.Hour)
	w.settle("cat")
	must.Equal(t, "questions", w.registry.heads, 1)
	must.Equal(t, "writes", w.server.Taken(), []string{labelled, reported, reported})
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeAvailable })
	w.settle("cat")
	w.says("cat", "Progressing True Succeeded 3: "+messageUnpacked, "Serving True Available 3: "+messageServing,
		"resolved "+repository+"@"+digest(1), at, "unpacked 23:13:20")

	w.registry.slow = make(chan struct{})
	w.registry.tags[latest] = digest(2)
	w.clock.Step(2 * time.Minute)
	w.once("cat") // begins to read
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable })
	w.settle("cat")
	<-w.finished // broken off
	w.settle("cat")
	must.Equal(t, "served", w.served("cat"), "")
}

// TestDeletion: what there is goes with the object, also that of another one which took the name at once; a foreign finalizer is in no one's
// way.
func TestDeletion(t *testing.T) {
	object := clusterCatalog(latest, 0)
	object.Finalizers = []string{foreignFinalizer, "example.com/other"}
	w := newWorld(t, object)
	w.settle("cat")
	must.Equal(t, "finalizers", w.get("cat").Finalizers, []string{"example.com/other"})
	must.NoError(t, w.client.Delete(t.Context(), w.get("cat")))
	w.settle("cat") // it waits for another client
	if w.served("cat") != "" || len(w.removed) == 0 || w.removed[0] != digest(1) {
		t.Errorf("served %q, removed %v", w.served("cat"), w.removed)
	}
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Finalizers = nil })
	w.once("cat")
	again := clusterCatalog(repository+":none", 0)
	again.UID = "other"
	must.NoError(t, w.client.Create(t.Context(), again))
	w.settle("cat")
	must.Equal(t, "a new object serves what an old one did", w.served("cat"), "")

	w = newWorld(t, clusterCatalog(latest, 0))
	w.settle("cat")
	w.registry.tags[latest] = digest(2)
	must.NoError(t, w.client.Delete(t.Context(), w.get("cat")))
	again = clusterCatalog(latest, 0)
	again.UID = "other"
	must.NoError(t, w.client.Create(t.Context(), again))
	w.settle("cat")
	must.Equal(t, "another object of the name serves", w.served("cat"), digest(2))
}

// TestContentThatAnotherCatalogHas stays on disk until the last one that has it is gone.
func TestContentThatAnotherCatalogHas(t *testing.T) {
	other := clusterCatalog(latest, 0)
	other.Name, other.UID = "other", "other"
	w := newWorld(t, clusterCatalog(latest, 0), other)
	w.settle("cat")
	w.settle("other")
	w.restart() // the other one has not been looked at since
	off := func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable }
	w.change("cat", off)
	w.settle("cat")
	must.Empty(t, "removed", w.removed)
	w.change("other", off)
	if w.settle("other"); len(w.removed) != 1 || w.removed[0] != digest(1) {
		t.Errorf("removed %v", w.removed)
	}
}

// TestContentThatNoneNeeds goes although the other catalog that has it, which is unavailable too or being deleted, still names it in its status.
func TestContentThatNoneNeeds(t *testing.T) {
	for name, end := range map[string]func(*world, *olmv1.ClusterCatalog){
		"unavailable": func(w *world, o *olmv1.ClusterCatalog) {
			w.change(o.Name, func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable })
		},
		"being deleted": func(w *world, o *olmv1.ClusterCatalog) { must.NoError(w, w.client.Delete(w.Context(), o)) },
	} {
		t.Run(name, func(t *testing.T) {
			other := clusterCatalog(latest, 0)
			other.Name, other.UID, other.Finalizers = "other", "other", []string{"example.com/other"}
			w := newWorld(t, clusterCatalog(latest, 0), other)
			w.settle("cat")
			w.settle("other")
			end(w, w.get("other")) // which has not been reconciled since
			w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable })
			if w.settle("cat"); len(w.removed) == 0 || w.removed[0] != digest(1) {
				t.Errorf("removed %v", w.removed)
			}
		})
	}
}
