package clustercatalog

import (
	"errors"
	"testing"
	"testing/fstest"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/clustercatalogs"
	"fairlead.dev/fairlead/internal/image"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (w *world) says(name string, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.said(name)); diff != "" {
		w.Errorf("status: want -, got +:\n%s", diff)
	}
}

const (
	succeeded1 = "Progressing True Succeeded 1: " + messageUnpacked
	serving1   = "Serving True Available 1: " + messageServing
	at         = "at " + baseURL + "/catalogs/cat"
	began      = "unpacked 22:13:20"
)

var latest = repository + ":latest"

// TestACatalogIsServed: one write of the status, one of the label, and afterwards none, however often nothing is new.
func TestACatalogIsServed(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 10))
	result := w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(1), at, began)
	if got := w.served("cat"); got != digest(1) {
		t.Errorf("served %q", got)
	}
	if label := w.get("cat").Labels[olmv1.MetadataNameKey]; label != "cat" {
		t.Errorf("label %q", label)
	}
	if len(w.get("cat").Finalizers) > 0 {
		t.Errorf("finalizers %v", w.get("cat").Finalizers)
	}
	if least := 10 * time.Minute; result.RequeueAfter < least || result.RequeueAfter > least+least/100 {
		t.Errorf("it is looked at again after %s", result.RequeueAfter)
	}
	for range 5 {
		w.clock.Step(11 * time.Minute)
		w.settle("cat")
	}
	if w.writes != 1 || w.others != 1 || w.registry.heads != 6 || w.registry.loads != 1 {
		t.Errorf("%d statuses, %d other writes, %d questions and %d reads", w.writes, w.others, w.registry.heads, w.registry.loads)
	}
	w.change("cat", func(o *olmv1.ClusterCatalog) { delete(o.Labels, olmv1.MetadataNameKey) })
	w.settle("cat")
	if label := w.get("cat").Labels[olmv1.MetadataNameKey]; label != "cat" || w.registry.heads != 6 {
		t.Errorf("label %q is not put back, or the registry was asked for it: %d", label, w.registry.heads)
	}
}

// TestConditions has every condition with every reason, and how a catalog comes to it.
func TestConditions(t *testing.T) {
	down := &image.Error{Kind: image.Unavailable, Op: "resolve", Ref: latest, Reason: "dial tcp 10.0.0.7:43211->192.0.2.1:443: connection refused", Advice: "check the registry"}
	noCatalog := &image.Error{Kind: image.InvalidImage, Op: "pull", Ref: latest, Reason: "it has no label", Advice: "add it", Err: image.ErrNoCatalog}
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
			for _, c := range w.get("cat").Status.Conditions {
				if c.Type == "Unpacked" {
					t.Errorf("a condition of another kind stays: %+v", c)
				}
			}
			if w.settle("cat"); w.writes != 1 {
				t.Errorf("%d writes of the status", w.writes)
			}
		})
	}
}

// brokenBundle is what is said of a bundle without a version that no channel has.
const brokenBundle = `catalog.json:4: error: bundle "a.v2.0.0" of package "a": the bundle has 0 properties of type "olm.package"; it must have ` +
	`exactly one [bundle-package-property]; give it one with packageName and version; ` +
	`catalog.json:4: error: bundle "a.v2.0.0" of package "a": no channel of the package has an entry for the bundle ` +
	`[bundle-unlisted]; add an entry with this name to a channel, or remove the bundle`

// TestADeadRegistryKeepsTheLastGoodContent: pauses grow, the status is written once for the same trouble, and it clears.
func TestADeadRegistryKeepsTheLastGoodContent(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 10))
	w.settle("cat")
	w.registry.err = errors.New("the registry is down")
	w.clock.Step(11 * time.Minute)
	if r := w.settle("cat"); r.RequeueAfter != firstRetry {
		t.Errorf("tried again after %s", r.RequeueAfter)
	}
	for _, after := range []time.Duration{2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		w.clock.Step(after * time.Second)
		w.settle("cat")
	}
	w.says("cat", "Progressing True Retrying 1: the registry is down", serving1, "resolved "+repository+"@"+digest(1), at, began)
	if e, _ := w.c.catalogs.Get(clustercatalogs.Ref("cat")); e.Problem != "the registry is down" || w.served("cat") != digest(1) {
		t.Errorf("decisions see %+v, clients %q", e, w.served("cat"))
	}
	if w.writes != 2 || w.registry.heads != 12 {
		t.Errorf("%d writes, %d questions", w.writes, w.registry.heads)
	}
	w.registry.err = nil
	w.clock.Step(longestRetry)
	w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(1), at, began)
	if w.registry.loads != 1 {
		t.Errorf("%d reads of one content", w.registry.loads)
	}
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
			if w.settle("cat"); w.served("cat") != digest(1) {
				t.Error("it was polled too early")
			}
			w.clock.Step(2 * time.Second)
			if w.settle("cat"); w.served("cat") != test.want {
				t.Errorf("served %s", w.served("cat"))
			}
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
	w.clock.Step(firstRetry)
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

// TestSlowReadingIsTold: after three seconds, and no sooner.
func TestSlowReadingIsTold(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.registry.slow = make(chan struct{})
	if r := w.once("cat"); r.RequeueAfter != slow || len(w.said("cat")) > 0 {
		t.Errorf("looked at again after %s: %v", r.RequeueAfter, w.said("cat"))
	}
	w.clock.Step(slow)
	w.once("cat")
	w.says("cat", "Progressing True Retrying 1: reading the catalog in image "+latest, "Serving False Unavailable 1: ")
	close(w.registry.slow)
	<-w.finished
	w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(1), at, "unpacked 22:13:23")
}

// TestUnavailable: content, in memory and on disk, goes at once, also while something is being read, and comes back.
func TestUnavailable(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 1))
	w.settle("cat")
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable })
	if r := w.settle("cat"); r.RequeueAfter != 0 {
		t.Errorf("it is looked at again after %s", r.RequeueAfter)
	}
	off := []string{"Progressing True Succeeded 2: " + messageUnavailable, "Serving False UserSpecifiedUnavailable 2: " + messageUnavailable}
	w.says("cat", off...)
	if w.served("cat") != "" || len(w.removed) == 0 || w.removed[0] != digest(1) {
		t.Errorf("served %q, removed %v", w.served("cat"), w.removed)
	}
	if _, there := w.c.catalogs.Get(clustercatalogs.Ref("cat")); there {
		t.Error("decisions still see it")
	}
	w.clock.Step(time.Hour)
	if w.settle("cat"); w.registry.heads != 1 || w.writes != 2 {
		t.Errorf("%d questions, %d writes", w.registry.heads, w.writes)
	}
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
	if w.served("cat") != "" {
		t.Errorf("served %q", w.served("cat"))
	}
}

// TestDeletion: what there is goes with the object, also that of another one which took the name at once; a foreign finalizer is in nobody's
// way.
func TestDeletion(t *testing.T) {
	object := clusterCatalog(latest, 0)
	object.Finalizers = []string{foreignFinalizer, "example.com/other"}
	w := newWorld(t, object)
	w.settle("cat")
	if diff := cmp.Diff([]string{"example.com/other"}, w.get("cat").Finalizers); diff != "" {
		t.Error(diff)
	}
	if err := w.client.Delete(t.Context(), w.get("cat")); err != nil {
		t.Fatal(err)
	}
	w.settle("cat") // it waits for somebody else
	if w.served("cat") != "" || len(w.removed) == 0 || w.removed[0] != digest(1) {
		t.Errorf("served %q, removed %v", w.served("cat"), w.removed)
	}
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Finalizers = nil })
	w.once("cat")
	again := clusterCatalog(repository+":none", 0)
	again.UID = "other"
	if err := w.client.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if w.settle("cat"); w.served("cat") != "" {
		t.Error("a new object serves what an old one did")
	}

	w = newWorld(t, clusterCatalog(latest, 0))
	w.settle("cat")
	w.registry.tags[latest] = digest(2)
	if err := w.client.Delete(t.Context(), w.get("cat")); err != nil {
		t.Fatal(err)
	}
	again = clusterCatalog(latest, 0)
	again.UID = "other"
	if err := w.client.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if w.settle("cat"); w.served("cat") != digest(2) {
		t.Errorf("another object of the name serves %q", w.served("cat"))
	}
}

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
			w.writes, w.registry.heads = 0, 0
			if test.down {
				w.registry.err = errors.New("the registry is down")
			}
			if w.once("cat"); test.onDisk && w.served("cat") != digest(1) {
				t.Error("it is not served at once")
			}
			w.settle("cat")
			if w.served("cat") != test.served || w.registry.heads != test.heads || w.writes != test.writes {
				t.Errorf("served %q, %d questions, %d writes", w.served("cat"), w.registry.heads, w.writes)
			}
			if test.says != nil {
				w.says("cat", test.says...)
			}
		})
	}
}

// TestAManagerThatDoesNotLead serves what the status names and writes nothing; once it leads it goes on from there.
func TestAManagerThatDoesNotLead(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 1))
	w.leads = false
	if w.settle("cat"); w.registry.heads+w.registry.loads+w.writes+w.others > 0 {
		t.Errorf("%d questions, %d reads, %d and %d writes", w.registry.heads, w.registry.loads, w.writes, w.others)
	}
	name := func(digest string) {
		object := w.get("cat")
		object.Status.ResolvedSource = &olmv1.ResolvedCatalogSource{Type: "Image", Image: &olmv1.ResolvedImageSource{Ref: repository + "@" + digest}}
		object.Status.URLs = &olmv1.ClusterCatalogURLs{Base: "http://the.one.that.leads/catalogs/cat"}
		if err := w.client.Status().Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	name(digest(1))
	if w.settle("cat"); w.served("cat") != digest(1) {
		t.Errorf("served %q", w.served("cat"))
	}
	w.registry.tags[latest] = digest(2) // only who leads sees that
	w.clock.Step(time.Hour)
	if w.settle("cat"); w.served("cat") != digest(1) || w.registry.heads > 0 {
		t.Errorf("served %q, %d questions", w.served("cat"), w.registry.heads)
	}
	w.registry.err = errors.New("the registry is down")
	name(digest(2))
	if r := w.settle("cat"); w.served("cat") != digest(1) || r.RequeueAfter != firstRetry {
		t.Errorf("served %q, tried again after %s", w.served("cat"), r.RequeueAfter)
	}
	w.registry.err = nil
	w.clock.Step(firstRetry)
	if w.settle("cat"); w.served("cat") != digest(2) || w.writes+w.others > 0 {
		t.Errorf("served %q, %d and %d writes", w.served("cat"), w.writes, w.others)
	}
	loads := w.registry.loads
	w.leads = true
	w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(2), at, "unpacked 23:13:22")
	if w.registry.loads != loads || w.registry.heads != 1 {
		t.Errorf("it read %d times again, and asked %d times", w.registry.loads-loads, w.registry.heads)
	}
}

// TestPullSecret: the one of all catalogs is used once it is there, at once, and what cannot be read is told.
func TestPullSecret(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.registry.err = errors.New("unauthorized")
	w.settle("cat")
	if len(w.registry.auth.DockerConfig) > 0 {
		t.Errorf("credentials %v", w.registry.auth)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "pull"}, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}}
	if err := w.client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	w.registry.err = nil
	w.c.credentials.changes.Add(1) // as the watch of the Secret does
	w.settle("cat")
	if got := w.registry.auth.DockerConfig; len(got) != 1 || string(got[0]) != `{"auths":{}}` || w.served("cat") != digest(1) {
		t.Errorf("credentials %s, served %q", got, w.served("cat"))
	}
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.Source.Image.Ref = repository + "@" + digest(4) })
	secret.Data = nil
	if err := w.client.Update(t.Context(), secret, &client.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.settle("cat")
	w.says("cat", "Progressing True Retrying 2: read pull secret olm/pull: it has neither .dockerconfigjson nor .dockercfg; create it with type kubernetes.io/dockerconfigjson",
		serving1, "resolved "+repository+"@"+digest(1), at, began)
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
		if got := pin(ref, digest(1)); got != want {
			t.Errorf("%s: got %s, want %s", ref, got, want)
		}
	}
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
	if w.settle("cat"); len(w.removed) > 0 {
		t.Errorf("removed %v", w.removed)
	}
	w.change("other", off)
	if w.settle("other"); len(w.removed) != 1 || w.removed[0] != digest(1) {
		t.Errorf("removed %v", w.removed)
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
