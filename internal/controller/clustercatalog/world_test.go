package clustercatalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const (
	repository = "registry.example.com/olm/catalog"
	baseURL    = "http://fairlead-catalogs.olm.svc"
	// The writes of the label and of the status.
	labelled = "patch ClusterCatalog cat"
	reported = "patch status ClusterCatalog cat"
)

// digest is one of so many digests.
func digest(n int) string { return fmt.Sprintf("sha256:%064x", n) }

// registry is a reader of images whose content the test decides.
type registry struct {
	mu     sync.Mutex
	tags   map[string]string // references with a tag to digests
	errs   map[string]error  // references to why they cannot be read
	err    error             // why nothing can be read
	broken bool              // what is read has an error in it
	heads  int
	loads  int
	auth   image.Auth
	slow   chan struct{} // when set, reading waits for it
}

func (r *registry) Digest(_ context.Context, ref string, auth image.Auth) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.auth = auth
	if pinned(ref) {
		return digestOf(ref), nil
	}
	r.heads++
	if err := errors.Join(r.err, r.errs[ref]); err != nil {
		return "", err
	}
	d, ok := r.tags[ref]
	if !ok {
		return "", &image.Error{Kind: image.NotFound, Op: "resolve", Ref: ref, Reason: "manifest unknown", Advice: "push it"}
	}
	return d, nil
}

func (r *registry) ReadFor(ctx context.Context, ref, _ string, _ image.Auth) (*catalog.Index, string, error) {
	r.mu.Lock()
	r.loads++
	err, broken, slow := errors.Join(r.err, r.errs[ref]), r.broken, r.slow
	r.mu.Unlock()
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		}
	}
	if err != nil {
		return nil, "", err
	}
	content := `{"schema":"olm.package","name":"a","defaultChannel":"stable"}
{"schema":"olm.channel","package":"a","name":"stable","entries":[{"name":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"registry.example.com/a:v1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}`
	if broken {
		content += "\n" + `{"schema":"olm.bundle","package":"a","name":"a.v2.0.0","image":"registry.example.com/a:v2"}`
	}
	c, err := catalog.Load(ctx, fstest.MapFS{"catalog.json": {Data: []byte(content)}}, catalog.LoadOptions{})
	if err != nil {
		return nil, "", err
	}
	x, err := catalog.NewIndex(c, digestOf(ref))
	return x, digestOf(ref), err
}

// world is a controller with a clock, a registry and an API server of its own.
type world struct {
	*testing.T
	c        *Controller
	client   client.WithWatch // of others
	server   *fakeapi.Server
	registry *registry
	clock    *clocktesting.FakeClock
	indexes  *catalogstore.Cache
	leads    bool
	finished chan string
	removed  []string
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	server := fakeapi.New(time.Unix(1_700_000_000, 0), fake.NewClientBuilder().WithScheme(fakeapi.Scheme(olmv1.AddToScheme, corev1.AddToScheme)).
		WithObjects(objects...).WithStatusSubresource(&olmv1.ClusterCatalog{}))
	w := &world{T: t, client: server.Inner, server: server, clock: server.Clock, indexes: must.Value(catalogstore.OpenCache(t.TempDir()))(t), leads: true,
		registry: &registry{tags: map[string]string{repository + ":latest": digest(1)}, errs: map[string]error{}}}
	w.restart()
	return w
}

// restart replaces the controller by one that knows nothing.
func (w *world) restart() {
	w.finished = make(chan string, 16)
	w.c = &Controller{client: w.server, images: w.registry, indexes: w.indexes, catalogs: catalogstore.NewSet(), clock: w.clock,
		serving:     &Serving{URL: baseURL, Catalogs: &catalogserver.Set{}},
		credentials: &credentials{reader: w.server, from: bundleio.Credentials{Secret: types.NamespacedName{Namespace: "olm", Name: "pull"}}},
		leads:       func() bool { return w.leads },
		remove: func(_ context.Context, digest string) {
			w.removed = append(w.removed, digest)
		},
		reads: reads{finished: func(name string) { w.finished <- name }, slots: make(chan struct{}, maxReads)}}
}

// once reconciles without waiting for anything.
func (w *world) once(name string) ctrl.Result {
	w.Helper()
	result, err := w.c.Reconcile(w.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: name}})
	if err != nil {
		w.Fatalf("reconcile %s: %v", name, err)
	}
	return result
}

// settle reconciles until nothing is being read any more.
func (w *world) settle(name string) ctrl.Result {
	w.Helper()
	for {
		result := w.once(name)
		w.c.reads.mu.Lock()
		busy := w.c.reads.running[name] != nil
		w.c.reads.mu.Unlock()
		if !busy {
			return result
		}
		select {
		case <-w.finished:
		case <-time.After(time.Minute):
			w.Fatal("a read has not ended")
		}
	}
}

func (w *world) get(name string) *olmv1.ClusterCatalog {
	w.Helper()
	var object olmv1.ClusterCatalog
	if err := w.client.Get(w.Context(), client.ObjectKey{Name: name}, &object); err != nil {
		w.Fatal(err)
	}
	return &object
}

// change changes an object as a user does, who raises its generation by it.
func (w *world) change(name string, change func(*olmv1.ClusterCatalog)) {
	w.Helper()
	object := w.get(name)
	change(object)
	object.Generation++
	if err := w.client.Update(w.Context(), object); err != nil {
		w.Fatal(err)
	}
}

// served is the digest of what clients and decisions get; they must be the same.
func (w *world) served(name string) string {
	w.Helper()
	clients, decisions := "", ""
	if s, ok := w.c.serving.Catalogs.Catalog(name); ok {
		clients = s.Index.Digest()
	}
	if e, ok := w.c.catalogs.Get(snapshot.CatalogRef(name)); ok && e.Index != nil {
		decisions = e.Index.Digest()
	}
	if clients != decisions {
		w.Errorf("clients get %q, decisions %q", clients, decisions)
	}
	return clients
}

// said is what the status says, in a line for each part.
func (w *world) said(name string) []string {
	w.Helper()
	object := w.get(name)
	var lines []string
	for _, kind := range []string{olmv1.TypeProgressing, olmv1.TypeServing} {
		for _, c := range object.Status.Conditions {
			if c.Type == kind {
				lines = append(lines, fmt.Sprintf("%s %s %s %d: %s", c.Type, c.Status, c.Reason, c.ObservedGeneration, c.Message))
			}
		}
	}
	if ref := resolvedRef(object); ref != "" {
		lines = append(lines, "resolved "+ref)
	}
	if object.Status.URLs != nil {
		lines = append(lines, "at "+object.Status.URLs.Base)
	}
	if at := object.Status.LastUnpacked; at != nil {
		lines = append(lines, "unpacked "+at.UTC().Format("15:04:05"))
	}
	return lines
}

// clusterCatalog is a catalog of a reference that is reconciled every so many minutes; 0 is not at all.
func clusterCatalog(ref string, minutes int) *olmv1.ClusterCatalog {
	object := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "cat", UID: "uid", Generation: 1},
		Spec: olmv1.ClusterCatalogSpec{AvailabilityMode: olmv1.AvailabilityModeAvailable,
			Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}}}
	if minutes > 0 {
		object.Spec.Source.Image.PollIntervalMinutes = ptr.To(minutes)
	}
	return object
}
