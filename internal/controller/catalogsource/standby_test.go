package catalogsource

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"
)

var standbyRef = catalog.Ref{Namespace: "olm", Name: "catalog"}

// world is a cluster that is only stored, with a catalog in a ConfigMap.
type standbyWorld struct {
	*Standby
	t      *testing.T
	client client.Client
	clock  *clocktesting.FakeClock
	slots  chan struct{}
	// indexes is the directory that indexes are kept in.
	indexes string
}

func newStandbyWorld(t *testing.T) *standbyWorld {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		must.NoError(t, add(scheme))
	}
	dir := filepath.Join(t.TempDir(), "indexes")
	indexes := must.Value(catalogstore.OpenCache(dir))(t)
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.CatalogSource{}).Build()
	w := &standbyWorld{t: t, client: c, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), slots: make(chan struct{}, standbyReads), indexes: dir}
	w.Standby = NewStandby(StandbyOptions{Sources: c, Live: c, Images: catalogstore.ImageReader{Indexes: indexes}, Leading: catalogstore.NewSet(), Contents: catalogstore.NewSet(),
		Clock: w.clock, Log: logr.Discard()})
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: standbyRef.Namespace, Name: standbyRef.Name, UID: "u"}}
	source.Spec.SourceType, source.Spec.ConfigMap = v1alpha1.SourceTypeConfigmap, "content"
	for _, o := range []client.Object{source, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: standbyRef.Namespace, Name: "content"}, Data: standbyContent("one")}} {
		must.NoError(t, c.Create(t.Context(), o))
	}
	return w
}

func standbyContent(pkg string) map[string]string {
	return map[string]string{"catalog.yaml": strings.ReplaceAll(`{schema: olm.package, name: P, defaultChannel: stable}
---
{schema: olm.channel, package: P, name: stable, entries: [{name: P.v1.0.0}]}
---
{schema: olm.bundle, package: P, name: P.v1.0.0, image: "quay.io/p@sha256:0000000000000000000000000000000000000000000000000000000000000001", properties: [{type: olm.package, value: {packageName: P, version: 1.0.0}}]}
`, "P", pkg)}
}

// write changes the content, and says so in the status as the manager that leads does.
func (w *standbyWorld) write(data map[string]string, version string) {
	w.t.Helper()
	var object corev1.ConfigMap
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: standbyRef.Namespace, Name: "content"}, &object); err != nil {
		w.t.Fatal(err)
	}
	object.Data = data
	if err := w.client.Update(w.t.Context(), &object); err != nil {
		w.t.Fatal(err)
	}
	source := w.source()
	source.Status.ConfigMapResource = &v1alpha1.ConfigMapResourceReference{Name: "content", ResourceVersion: version}
	if err := w.client.Status().Update(w.t.Context(), source); err != nil {
		w.t.Fatal(err)
	}
}

func (w *standbyWorld) source() *v1alpha1.CatalogSource {
	w.t.Helper()
	var source v1alpha1.CatalogSource
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: standbyRef.Namespace, Name: standbyRef.Name}, &source); err != nil {
		w.t.Fatal(err)
	}
	return &source
}

// looks looks once, waits for what was begun, and returns what is published: the first package, and the problem.
func (w *standbyWorld) looks(elected bool) string {
	w.t.Helper()
	if err := w.look(w.t.Context(), w.slots, elected); err != nil {
		w.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		w.mu.Lock()
		k := w.known[standbyRef]
		busy := k != nil && k.reading
		w.mu.Unlock()
		if !busy {
			break
		}
		if time.Now().After(deadline) {
			w.t.Fatal("the catalog is still being read")
		}
	}
	return published(w.Contents)
}

func published(s *catalogstore.Set) string {
	e, ok := s.Get(standbyRef)
	if !ok {
		return "nothing"
	}
	text := ""
	if e.Index != nil {
		text = strings.Join(e.Index.PackageNames(), " ")
	}
	if e.Problem != "" {
		text += ", with a problem"
	}
	return text
}

func TestFollowsWhatLeads(t *testing.T) {
	w := newStandbyWorld(t)
	expect := func(when, want string) {
		t.Helper()
		if got := w.looks(false); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	expect("at first", "one")
	w.write(standbyContent("two"), "2")
	expect("when the status tells of other content", "two")
	w.write(map[string]string{"catalog.yaml": "nonsense"}, "3")
	expect("when it cannot be read", "two, with a problem")
	w.write(standbyContent("three"), "3")
	expect("before the pause is over", "two, with a problem")
	w.clock.Step(catalogstore.FirstRetry)
	expect("after the pause", "three")
	must.NoError(t, w.client.Delete(t.Context(), w.source()))
	expect("when the object is deleted", "nothing")
}

// TestGivesWay keeps what was read until the controllers have read it, too.
func TestGivesWay(t *testing.T) {
	w := newStandbyWorld(t)
	both := Contents{Leading: w.Leading, Standby: w.Contents}
	seen := func() string {
		s := catalogstore.NewSet()
		if e, ok := both.Get(standbyRef); ok {
			s.Publish(standbyRef, e)
		}
		return published(s)
	}
	w.looks(false)
	w.Leading.Publish(standbyRef, catalogstore.Entry{Problem: "the registry is down"})
	must.Equal(t, "while the controllers have nothing", w.looks(true), "one")
	must.Equal(t, "while the controllers have nothing", seen(), "one")
	entry, _ := w.Contents.Get(standbyRef)
	w.Leading.Publish(standbyRef, catalogstore.Entry{Index: entry.Index})
	must.Equal(t, "once they", w.looks(true), "nothing")
	must.Equal(t, "once they", seen(), "one")
	must.Empty(t, "something is still to be waited for", w.known)
}

// TestStart waits for its turn, reads, and ends once the manager leads.
func TestStart(t *testing.T) {
	w := newStandbyWorld(t)
	elected := make(chan struct{})
	w.Elected = elected
	ended := make(chan error, 1)
	go func() { ended <- w.Start(t.Context()) }()
	for deadline := time.Now().Add(time.Minute); published(w.Contents) != "one"; time.Sleep(5 * time.Millisecond) {
		if w.clock.HasWaiters() {
			w.clock.Step(standbyTurn)
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %s", published(w.Contents))
		}
	}
	entry, _ := w.Contents.Get(standbyRef)
	w.Leading.Publish(standbyRef, entry)
	close(elected)
	select {
	case err := <-ended:
		must.NoError(t, err)
		must.Equal(t, "published", published(w.Contents), "nothing")
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}
