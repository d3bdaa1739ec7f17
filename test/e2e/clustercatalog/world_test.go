package clustercatalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ClusterCatalogs have no namespace, so the cluster is the package's own.
func TestMain(m *testing.M) { harness.Main(m) }

// world is the cluster, and a registry.
type world struct {
	testing.TB
	client.Client
	registry *httptest.Server
	clock    *harness.Clock
	touched  int
	asked    atomic.Int32 // how many times somebody has asked what a tag stands for
}

func newWorld(t testing.TB) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	w := &world{TB: t, Client: harness.Client(t, devcluster.Config()), clock: &harness.Clock{}}
	images := image.NewRegistry("")
	w.registry = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		images.ServeHTTP(out, r)
		if r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/manifests/") {
			w.asked.Add(1)
		}
	}))
	t.Cleanup(w.registry.Close)
	t.Cleanup(func() {
		if err := w.DeleteAllOf(context.Background(), &olmv1.ClusterCatalog{}); err != nil {
			t.Error(err)
		}
	})
	return w
}

// run runs a manager until stop is called, or the test ends.
func (w *world) run(change func(*manager.Options)) (stop func()) {
	w.Helper()
	o := manager.Options{Config: devcluster.Config(), Clock: w.clock}
	if change != nil {
		change(&o)
	}
	return harness.Run(w.TB, o)
}

func (w *world) ref(name string) string {
	return strings.TrimPrefix(w.registry.URL, "http://") + "/" + name
}

// push makes an image of a catalog with packages, and returns it by digest.
func (w *world) push(name string, packages ...string) string {
	w.Helper()
	var content strings.Builder
	for _, p := range packages {
		fmt.Fprintf(&content, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}
{"schema":"olm.channel","package":%q,"name":"stable","entries":[{"name":"%s.v1.0.0"}]}
{"schema":"olm.bundle","package":%q,"name":"%s.v1.0.0","image":"registry.example.com/%s:v1","properties":[{"type":"olm.package","value":{"packageName":%q,"version":"1.0.0"}}]}
`, p, p, p, p, p, p, p)
	}
	return w.pushFiles(name, map[string]string{"configs/catalog.json": content.String()}, image.CatalogLabels())
}

func (w *world) pushFiles(name string, files, labels map[string]string) string {
	w.Helper()
	repository, _, _ := strings.Cut(name, ":")
	return w.ref(repository) + "@" + harness.Push(w.TB, w.ref(name), files, labels)
}

// ask creates a ClusterCatalog, which is polled each minute where it can be.
func (w *world) ask(name, ref string) {
	w.Helper()
	source := &olmv1.ImageSource{Ref: ref}
	if !strings.Contains(ref, "@") {
		source.PollIntervalMinutes = ptr.To(1)
	}
	object := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: source}}}
	must.NoError(w, w.Create(w.Context(), object))
}

func (w *world) read(name string) *olmv1.ClusterCatalog {
	w.Helper()
	var object olmv1.ClusterCatalog
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: name}, &object))
	return &object
}

// change changes a catalog as a user does.
func (w *world) change(name string, change func(*olmv1.ClusterCatalog)) {
	w.Helper()
	before := w.read(name)
	after := before.DeepCopy()
	change(after)
	must.NoError(w, w.Patch(w.Context(), after, client.MergeFrom(before)))
}

// minute lets the time of a poll come, and the catalog be looked at.
func (w *world) minute(name string) {
	w.Helper()
	w.clock.Jump(62 * time.Second)
	w.touched++
	w.change(name, func(o *olmv1.ClusterCatalog) {
		o.Annotations = map[string]string{"example.com/touched": fmt.Sprint(w.touched)}
	})
}

// says waits for the conditions, each as STATUS REASON.
func (w *world) says(name, progressing, serving string) *olmv1.ClusterCatalog {
	w.Helper()
	var object *olmv1.ClusterCatalog
	must.Eventually(w, fmt.Sprintf("catalog %s to be %s, %s", name, progressing, serving), func() error {
		object = w.read(name)
		for kind, want := range map[string]string{olmv1.TypeProgressing: progressing, olmv1.TypeServing: serving} {
			c := meta.FindStatusCondition(object.Status.Conditions, kind)
			if c == nil || string(c.Status)+" "+c.Reason != want || c.ObservedGeneration != object.Generation && c.Reason != olmv1.ReasonAvailable {
				return fmt.Errorf("status %+v of generation %d", object.Status, object.Generation)
			}
		}
		return nil
	})
	return object
}

// answer is what a URL answers with.
func (w *world) answer(url string) (int, string, error) {
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), errors.Join(err, response.Body.Close())
}

// packages waits until a catalog is served with exactly these packages at a URL.
func (w *world) packages(base string, want ...string) {
	w.Helper()
	must.Eventually(w, fmt.Sprintf("%s to have %v", base, want), func() error {
		code, body, err := w.answer(base + "/api/v1/metas?schema=olm.package")
		if err != nil || code != http.StatusOK || strings.Count(body, "\n") != len(want) {
			return fmt.Errorf("%d %q, %w", code, body, err)
		}
		for _, p := range want {
			if !strings.Contains(body, fmt.Sprintf(`"name":%q`, p)) {
				return fmt.Errorf("package %s is not in %q", p, body)
			}
		}
		return nil
	})
}
