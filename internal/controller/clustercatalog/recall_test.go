package clustercatalog

import (
	"errors"
	"testing"
	"testing/fstest"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// index puts the index of a content on disk, as reading it would.
func (w *world) index(digest string) {
	w.Helper()
	x, err := w.indexes.FS(w.Context(), digest, fstest.MapFS{"catalog.json": {Data: []byte(`{"schema":"olm.package","name":"a","defaultChannel":"stable"}
{"schema":"olm.channel","package":"a","name":"stable","entries":[{"name":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"registry.example.com/a:v1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}`)}})
	if err != nil {
		w.Fatal(err)
	}
	if err := x.Close(); err != nil {
		w.Fatal(err)
	}
}

// TestARestart: the content that the status names is served without the registry, and the status stays as it is.
func TestARestart(t *testing.T) {
	for name, test := range map[string]struct {
		minutes int
		onDisk  bool
		down    bool
		heads   int
		served  string
		writes  int
		says    []string
	}{
		"not polled":             {onDisk: true, served: digest(1)},
		"not polled, it is down": {onDisk: true, down: true, served: digest(1)},
		"polled":                 {minutes: 1, onDisk: true, heads: 1, served: digest(1)},
		"polled, it is down": {minutes: 1, onDisk: true, down: true, heads: 1, served: digest(1), writes: 1,
			says: []string{"Progressing True Retrying 1: the registry is down", serving1, "resolved " + repository + "@" + digest(1), at, began}},
		"lost": {heads: 1, served: digest(1), writes: 1,
			says: []string{succeeded1, serving1, "resolved " + repository + "@" + digest(1), at, "unpacked 23:13:20"}},
		"lost, and it is down": {heads: 1, down: true, writes: 1,
			says: []string{"Progressing True Retrying 1: the registry is down", "Serving False Unavailable 1: "}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, clusterCatalog(latest, test.minutes))
			w.settle("cat")
			if test.onDisk {
				w.index(digest(1))
			}
			w.clock.Step(time.Hour)
			w.restart()
			w.server.Taken()
			w.registry.heads = 0
			if test.down {
				w.registry.err = errors.New("the registry is down")
			}
			if w.once("cat"); test.onDisk && w.served("cat") != digest(1) {
				t.Error("it is not served at once")
			}
			w.settle("cat")
			if w.served("cat") != test.served || w.registry.heads != test.heads || len(w.server.Writes()) != test.writes {
				t.Errorf("served %q, %d questions, writes %v", w.served("cat"), w.registry.heads, w.server.Writes())
			}
			if test.says != nil {
				w.says("cat", test.says...)
			}
		})
	}
}

// TestAManagerThatDoesNotLead serves what the status names and writes nothing; once it leads it continues from there.
func TestAManagerThatDoesNotLead(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 1))
	w.leads = false
	if w.settle("cat"); w.registry.heads+w.registry.loads+w.server.Made() > 0 {
		t.Errorf("%d questions, %d reads, writes %v", w.registry.heads, w.registry.loads, w.server.Writes())
	}
	name := func(digest string) {
		object := w.get("cat")
		object.Status.ResolvedSource = &olmv1.ResolvedCatalogSource{Type: "Image", Image: &olmv1.ResolvedImageSource{Ref: repository + "@" + digest}}
		object.Status.URLs = &olmv1.ClusterCatalogURLs{Base: "http://the.one.that.leads/catalogs/cat"}
		must.NoError(t, w.client.Status().Update(t.Context(), object))
	}
	name(digest(1))
	must.Equal(t, "requeue after: polls are of who leads", w.settle("cat").RequeueAfter, 0)
	must.Equal(t, "served", w.served("cat"), digest(1))
	w.registry.tags[latest] = digest(2) // only who leads sees that
	w.clock.Step(time.Hour)
	if w.settle("cat"); w.served("cat") != digest(1) || w.registry.heads > 0 {
		t.Errorf("served %q, %d questions", w.served("cat"), w.registry.heads)
	}
	w.registry.err = errors.New("the registry is down")
	name(digest(2))
	must.Equal(t, "requeue after", w.settle("cat").RequeueAfter, catalogstore.FirstRetry)
	must.Equal(t, "served", w.served("cat"), digest(1))
	w.registry.err = nil
	w.clock.Step(catalogstore.FirstRetry)
	if w.settle("cat"); w.served("cat") != digest(2) || w.server.Made() > 0 {
		t.Errorf("served %q, writes %v", w.served("cat"), w.server.Writes())
	}
	loads := w.registry.loads
	w.leads = true
	w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(2), at, "unpacked 23:13:22")
	if w.registry.loads != loads || w.registry.heads != 1 {
		t.Errorf("it read %d times again, and asked %d times", w.registry.loads-loads, w.registry.heads)
	}
}

// TestAllSayTheSameOfTheTime: clients that ask one replica, then another, or come back after a restart, get the same Last-Modified.
func TestAllSayTheSameOfTheTime(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.settle("cat")
	first, _ := w.c.serving.Catalogs.Catalog("cat")
	if want := time.Unix(1_700_000_000, 0); !first.Modified.Equal(want) {
		t.Errorf("modified at %s", first.Modified)
	}
	w.clock.Step(time.Hour)
	for _, onDisk := range []bool{false, true} {
		w.restart()
		w.leads = false
		if onDisk {
			w.index(digest(1))
		}
		w.settle("cat")
		if again, ok := w.c.serving.Catalogs.Catalog("cat"); !ok || !again.Modified.Equal(first.Modified) {
			t.Errorf("on disk: %t: modified at %s", onDisk, again.Modified)
		}
	}
}

// TestTheLastGoodContentComesBack: where the one that led had lost the content, and has said so, the next one to lead serves what it has.
func TestTheLastGoodContentComesBack(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.settle("cat")
	w.leads = false
	lost := w.get("cat")
	lost.Status = olmv1.ClusterCatalogStatus{Conditions: []metav1.Condition{
		{Type: olmv1.TypeProgressing, Status: metav1.ConditionTrue, Reason: olmv1.ReasonRetrying, ObservedGeneration: 1},
		{Type: olmv1.TypeServing, Status: metav1.ConditionFalse, Reason: olmv1.ReasonUnavailable, ObservedGeneration: 1}}}
	must.NoError(t, w.client.Status().Update(t.Context(), lost))
	w.settle("cat")
	must.Equal(t, "served", w.served("cat"), digest(1))
	w.leads, w.registry.err = true, errors.New("the registry is down")
	w.settle("cat")
	w.says("cat", "Progressing True Retrying 1: the registry is down", "Serving True Available 1: "+messageLastGood,
		"resolved "+repository+"@"+digest(1), at, began)
	w.registry.err = nil
	w.clock.Step(catalogstore.FirstRetry)
	w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(1), at, began)
}
