package clusterobjectset

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"
)

// fakeInformers start informers that tests send events through.
type fakeInformers struct {
	unserved map[string]bool
	running  map[string]*fakeInformer
}

type fakeInformer struct {
	cache.Informer
	handler toolscache.ResourceEventHandler
	synced  bool
}

func (f *fakeInformers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if f.unserved[kind] {
		return nil, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: kind}}
	}
	if f.running[kind] != nil {
		return nil, fmt.Errorf("%s is started twice", kind)
	}
	f.running[kind] = &fakeInformer{synced: true}
	return f.running[kind], nil
}

func (f *fakeInformers) RemoveInformer(_ context.Context, o client.Object) error {
	delete(f.running, o.GetObjectKind().GroupVersionKind().Kind)
	return nil
}

func (i *fakeInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.handler = h
	return i, nil
}

func (i *fakeInformer) HasSynced() bool { return i.synced }

func (i *fakeInformer) HasSyncedChecker() toolscache.DoneChecker { return nil }

// recorder is a queue that remembers who was woken.
type recorder struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	woken []string
}

func (r *recorder) AddAfter(req reconcile.Request, _ time.Duration) {
	r.woken = append(r.woken, req.Name)
}

// taken are those who were woken since the last call.
func (r *recorder) taken() []string {
	out := r.woken
	r.woken = nil
	slices.Sort(out)
	return slices.Compact(out)
}

func kindsOf(names ...string) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, n := range names {
		out = append(out, schema.GroupVersionKind{Group: "g", Version: "v1", Kind: n})
	}
	return out
}

func watchWorld() (*watches, *fakeInformers, *recorder) {
	f := &fakeInformers{unserved: map[string]bool{}, running: map[string]*fakeInformer{}}
	w, q := newWatches(f), &recorder{}
	w.queue = q
	return w, f, q
}

// TestWatchesAreShared, started when a set needs them and stopped when none does.
func TestWatchesAreShared(t *testing.T) {
	w, f, _ := watchWorld()
	running := func(want ...string) {
		t.Helper()
		var got []string
		for kind := range f.running {
			got = append(got, kind)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	want := func(set string, kinds ...string) {
		t.Helper()
		must.NoError(t, w.want(t.Context(), newSet(set, 1), kindsOf(kinds...)))
	}
	f.unserved["C"] = true
	want("one", "A", "C")
	want("two", "A", "B")
	running("A", "B")
	if _, known := w.version(rollout.Ref{GroupVersionKind: kindsOf("C")[0], Name: "x"}); known {
		t.Error("a kind that is not served counts as watched")
	}
	f.unserved["C"] = false
	want("one", "A", "C")
	running("A", "B", "C")
	want("one", "C")
	running("A", "B", "C")
	w.free(t.Context(), "two")
	running("C")
	w.free(t.Context(), "two")
	w.free(t.Context(), "one")
	running()
}

func metadata(set, version string) *metav1.PartialObjectMetadata {
	o := metadataOf(kindsOf("A")[0])
	o.Namespace, o.Name, o.ResourceVersion = "ns", "x", version
	o.Labels = map[string]string{olmv1.OwnerKindKey: "ClusterExtension", olmv1.OwnerNameKey: "ext"}
	yes := true
	o.OwnerReferences = []metav1.OwnerReference{{Kind: olmv1.ClusterObjectSetKind, Name: set, UID: types.UID(set), Controller: &yes}}
	return o
}

// TestEvents wake the set that an object belongs to, and its siblings when it changes hands or goes.
func TestEvents(t *testing.T) {
	w, f, q := watchWorld()
	stranger := newSet("stranger-1", 1)
	stranger.Labels[olmv1.OwnerNameKey] = "stranger"
	for _, set := range []*olmv1.ClusterObjectSet{newSet("ext-1", 1), newSet("ext-2", 2), stranger} {
		must.NoError(t, w.want(t.Context(), set, kindsOf("A")))
	}
	ref := rollout.Ref{GroupVersionKind: kindsOf("A")[0], Namespace: "ns", Name: "x"}
	h := f.running["A"].handler
	steps := []struct {
		name    string
		do      func()
		woken   []string
		version string
	}{
		{"it comes", func() { h.OnAdd(metadata("ext-1", "1"), true) }, []string{"ext-1"}, "1"},
		{"it changes", func() { h.OnUpdate(metadata("ext-1", "1"), metadata("ext-1", "2")) }, []string{"ext-1"}, "2"},
		{"it changes hands", func() { h.OnUpdate(metadata("ext-1", "2"), metadata("ext-2", "3")) }, []string{"ext-1", "ext-2"}, "3"},
		{"it goes", func() { h.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: metadata("ext-2", "3")}) }, []string{"ext-1", "ext-2"}, ""},
	}
	for _, s := range steps {
		s.do()
		must.Equal(t, "taken", q.taken(), s.woken)
		if version, known := w.version(ref); version != s.version || !known {
			t.Errorf("%s: version %q, known: %t", s.name, version, known)
		}
	}
	f.running["A"].synced = false
	if _, known := w.version(ref); known {
		t.Error("a kind that was not listed yet counts as known")
	}
}

// TestTrim leaves what tells whose an object is, and nothing of its size.
func TestTrim(t *testing.T) {
	o := metadata("ext-1", "1")
	o.Annotations = map[string]string{"a": "b"}
	o.Labels["more"] = "labels"
	o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	got := must.Value(trim(o))(t)
	if diff := cmp.Diff(metadata("ext-1", "1"), got); diff != "" {
		t.Error(diff)
	}
	if other, err := trim("text"); err != nil || other != "text" {
		t.Errorf("%v %v", other, err)
	}
}
