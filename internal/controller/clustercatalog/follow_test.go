package clustercatalog

import (
	"errors"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// TestADeadRegistryKeepsTheLastGoodContent: pauses grow, the status is written once for the same problem, and it clears.
func TestADeadRegistryKeepsTheLastGoodContent(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 10))
	w.settle("cat")
	w.registry.err = errors.New("the registry is down")
	w.clock.Step(11 * time.Minute)
	must.Equal(t, "tried again", w.settle("cat").RequeueAfter, catalogstore.FirstRetry)
	for _, after := range []time.Duration{2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		w.clock.Step(after * time.Second)
		w.settle("cat")
	}
	w.says("cat", "Progressing True Retrying 1: the registry is down", serving1, "resolved "+repository+"@"+digest(1), at, began)
	if e, _ := w.c.catalogs.Get(snapshot.CatalogRef("cat")); e.Problem != "the registry is down" || w.served("cat") != digest(1) {
		t.Errorf("decisions see %+v, clients %q", e, w.served("cat"))
	}
	must.Equal(t, "writes", w.server.Taken(), []string{labelled, reported, reported})
	must.Equal(t, "heads", w.registry.heads, 12)
	w.registry.err = nil
	w.clock.Step(catalogstore.LongestRetry)
	w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(1), at, began)
	must.Equal(t, "loads", w.registry.loads, 1)
}

// TestNewContent: a moved tag is seen at the next poll, and only where polls are asked for.
func TestNewContent(t *testing.T) {
	for name, test := range map[string]struct {
		ref     string
		minutes int
		want    string
	}{
		"polled":         {latest, 1, digest(2)},
		"not polled":     {latest, 0, digest(1)},
		"pinned, polled": {repository + "@" + digest(1), 1, digest(1)}, // the API server refuses it
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, clusterCatalog(test.ref, test.minutes))
			w.settle("cat")
			w.registry.tags[latest] = digest(2)
			w.clock.Step(59 * time.Second)
			w.settle("cat")
			must.Equal(t, "it was polled too early", w.served("cat"), digest(1))
			w.clock.Step(2 * time.Second)
			w.settle("cat")
			must.Equal(t, "served", w.served("cat"), test.want)
			unpacked := began
			if test.want != digest(1) {
				unpacked = "unpacked 22:14:21"
			}
			w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+test.want, at, unpacked)
		})
	}
}

// TestAChangedSpecIsFollowed: what was served before is served until the new content is there, and the status never calls it the desired one.
func TestAChangedSpecIsFollowed(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.settle("cat")
	other := repository + ":other"
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.Source.Image.Ref = other })
	w.settle("cat")
	w.says("cat", "Progressing True Retrying 2: resolve image "+other+": NotFound: manifest unknown (push it)", serving1,
		"resolved "+repository+"@"+digest(1), at, began)
	w.registry.tags[other] = digest(3)
	w.clock.Step(catalogstore.FirstRetry)
	w.settle("cat")
	w.says("cat", "Progressing True Succeeded 2: "+messageUnpacked, "Serving True Available 2: "+messageServing,
		"resolved "+repository+"@"+digest(3), at, "unpacked 22:13:22")
	heads := w.registry.heads
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.Priority = 7 })
	w.settle("cat")
	w.says("cat", "Progressing True Succeeded 3: "+messageUnpacked, "Serving True Available 3: "+messageServing,
		"resolved "+repository+"@"+digest(3), at, "unpacked 22:13:22")
	if w.registry.heads != heads {
		t.Error("a new priority made the registry be asked")
	}
}

// TestPin covers references with and without ports, tags and digests.
func TestPin(t *testing.T) {
	for ref, want := range map[string]string{
		"quay.io/a/b:v1":              "quay.io/a/b@" + digest(1),
		"localhost:5000/b":            "localhost:5000/b@" + digest(1),
		"localhost:5000/b:v1":         "localhost:5000/b@" + digest(1),
		"quay.io/a/b@" + digest(2):    "quay.io/a/b@" + digest(1),
		"quay.io/a/b:v1@" + digest(2): "quay.io/a/b@" + digest(1),
	} {
		if got := image.Pin(ref, digest(1)); got != want {
			t.Errorf("%s: got %s, want %s", ref, got, want)
		}
	}
}
