package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/test/must"
)

// pagedServer has objects, of which it sends those of a page. It streams nothing.
type pagedServer struct {
	objects int
	streams bool
	expires int // how many pages of one list are sent before it has expired; 0 is any number

	mu     sync.Mutex
	asked  []metav1.ListOptions
	fat    func() int // how many objects are held in full
	most   int
	failed error
}

func (s *pagedServer) list(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, metav1.ListOptions{ResourceVersion: o.ResourceVersion, Limit: o.Limit, Continue: o.Continue})
	if s.failed != nil {
		return nil, s.failed
	}
	from, _ := strconv.Atoi(o.Continue)
	to, all := s.objects, &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	if s.expires > 0 && from >= s.expires*int(pageSize) {
		return nil, apierrors.NewResourceExpired("the continue parameter is too old")
	}
	if o.Limit > 0 && from+int(o.Limit) < to {
		to = from + int(o.Limit)
		all.Continue = strconv.Itoa(to)
	}
	for i := from; i < to; i++ {
		all.Items = append(all.Items, corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprint(i), ResourceVersion: "7"}, Data: map[string]string{"much": "of it"}})
	}
	if s.fat != nil {
		s.most = max(s.most, s.fat())
	}
	return all, nil
}

func (s *pagedServer) watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents == nil {
		return watch.NewFake(), nil
	}
	if !s.streams {
		return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("ListOptions").GroupKind(), "", nil)
	}
	w := watch.NewFakeWithChanSize(s.objects+1, false)
	for i := range s.objects {
		w.Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprint(i), ResourceVersion: "7"}, Data: map[string]string{"much": "of it"}})
	}
	w.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}})
	return w, nil
}

// trimmedObject counts the objects that it was given in full.
type trimmedObject struct{ seen int }

func (s *trimmedObject) trim(object any) (any, error) {
	full, ok := object.(*corev1.ConfigMap)
	if !ok {
		return nil, errors.New("no ConfigMap")
	}
	if full.Data != nil {
		s.seen++
	}
	return &corev1.ConfigMap{ObjectMeta: full.ObjectMeta}, nil
}

// filled runs an informer until it has all objects.
func filled(t *testing.T, s *pagedServer, transform cache.TransformFunc) cache.SharedIndexInformer {
	t.Helper()
	informer := NewPagedInformer(&cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}, &corev1.ConfigMap{}, 0, cache.Indexers{})
	if transform != nil {
		must.NoError(t, informer.SetTransform(transform))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	limit, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if !cache.WaitForCacheSync(limit.Done(), informer.HasSynced) {
		t.Fatalf("the informer was not filled; the server was asked for %+v", s.asked)
	}
	return informer
}

func TestPages(t *testing.T) {
	s, trimmer := &pagedServer{objects: 2*int(pageSize) + 1}, &trimmedObject{}
	s.fat = func() int { // what was sent before, and is not yet trimmed
		return len(s.asked[1:])*int(pageSize) - trimmer.seen
	}
	informer := filled(t, s, trimmer.trim)
	want := []metav1.ListOptions{{Limit: pageSize}, {Limit: pageSize, Continue: strconv.Itoa(int(pageSize))}, {Limit: pageSize, Continue: strconv.Itoa(2 * int(pageSize))}}
	must.Equal(t, "asked for (-want +got)", s.asked, want)
	if s.most > 0 {
		t.Errorf("when a page was asked for, %d objects of those before were held in full", s.most)
	}
	if got := len(informer.GetStore().List()); got != s.objects {
		t.Errorf("there are %d objects, want %d", got, s.objects)
	}
	for _, o := range informer.GetStore().List() {
		if o.(*corev1.ConfigMap).Data != nil {
			t.Fatalf("%s is held in full", o.(*corev1.ConfigMap).Name)
		}
	}
	must.Equal(t, "the watch goes on from", informer.LastSyncResourceVersion(), "7")
}

func TestFewObjectsAreOnePage(t *testing.T) {
	s := &pagedServer{objects: 3}
	informer := filled(t, s, nil)
	if got := len(informer.GetStore().List()); got != 3 || len(s.asked) != 1 {
		t.Errorf("there are %d objects after %d requests", got, len(s.asked))
	}
}

// TestAListThatExpires is read at once, as there is no other way: pages that take so long would expire again.
func TestAListThatExpires(t *testing.T) {
	s := &pagedServer{objects: 3 * int(pageSize), expires: 1}
	informer := filled(t, s, (&trimmedObject{}).trim)
	if got := len(informer.GetStore().List()); got != s.objects {
		t.Errorf("there are %d objects, want %d", got, s.objects)
	}
	if last := s.asked[len(s.asked)-1]; last.Limit != 0 || last.Continue != "" || len(s.asked) != 3 {
		t.Errorf("asked for %+v", s.asked)
	}
}

func TestStreamsAreKept(t *testing.T) {
	s := &pagedServer{objects: 2*int(pageSize) + 1, streams: true}
	informer := filled(t, s, (&trimmedObject{}).trim)
	if got := len(informer.GetStore().List()); got != s.objects || len(s.asked) != 0 {
		t.Errorf("there are %d objects, and lists were asked for: %+v", got, s.asked)
	}
}

// TestWhoCannotStreamIsNotAskedTo: clients say so, as those of tests do.
func TestWhoCannotStreamIsNotAskedTo(t *testing.T) {
	s := &pagedServer{objects: 1, streams: true}
	noStreams := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}, incapable{})
	says, ok := paged(noStreams, &transformer{}).(interface{ IsWatchListSemanticsUnSupported() bool })
	if !ok || !says.IsWatchListSemanticsUnSupported() {
		t.Error("the client says that it cannot stream, and would be asked to")
	}
}

type incapable struct{}

func (incapable) IsWatchListSemanticsUnSupported() bool { return true }

// TestErrorsOfPages: neither the server's error nor that of trimming leads to a cache with some of the objects.
func TestErrorsOfPages(t *testing.T) {
	refused := apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no"))
	for name, c := range map[string]struct {
		s    *pagedServer
		trim cache.TransformFunc
	}{
		"the server refuses": {&pagedServer{failed: refused}, nil},
		"trimming fails":     {&pagedServer{objects: 1}, func(any) (any, error) { return nil, refused }},
		"no object is left":  {&pagedServer{objects: 1}, func(any) (any, error) { return "text", nil }},
	} {
		t.Run(name, func(t *testing.T) {
			lw := paged(&cache.ListWatch{ListWithContextFunc: c.s.list, WatchFuncWithContext: c.s.watch}, &transformer{f: c.trim})
			list, err := cache.ToListerWatcherWithContext(lw).ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
			if err == nil {
				t.Errorf("there is a list: %v", list)
			}
			if name != "no object is left" && !errors.Is(err, refused) {
				t.Errorf("the cause is lost: %v", err)
			}
		})
	}
}
