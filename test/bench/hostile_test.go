package bench

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"
)

const (
	// hostileBytes is how large a hostile catalog is.
	hostileBytes = 211_000_000
	// verdictTime is how long the verdict on a catalog may take, on a busy machine.
	verdictTime = 3 * time.Minute
	// heapShare is how much of the memory limit of its container the manager lets its heap take, as manager.LimitMemory does.
	heapShare = 0.85
)

// BenchmarkHostile gives the manager the catalog of all community operators, and then catalogs that are made to cost much, in images and of registry servers, each to a manager
// of its own that has just begun, with the memory limit of the manifests:
//
//	go test ./test/bench -run '^$' -bench Hostile -benchtime 1x -timeout 1h
//
// It prints the seconds until the status of the CatalogSource has a verdict, those until a small catalog of another namespace that comes at the
// same time is served, the most memory that the manager ever had, and the limit. It fails where that was more than the limit.
func BenchmarkHostile(b *testing.B) {
	// The memory limit of the manager's container in the manifests, in MB.
	text := must.Value(os.ReadFile(filepath.Join("..", "..", "config", "deployment.yaml")))(b)
	found := regexp.MustCompile(`limits:\n\s+memory: (\d+)Mi\n`).FindSubmatch(text)
	if found == nil {
		b.Fatal("the Deployment in config has no memory limit in Mi")
	}
	limit := float64(must.Value(strconv.Atoi(string(found[1])))(b)) * (1 << 20) / 1e6
	registry := httptest.NewServer(image.NewRegistry(b.TempDir()))
	defer registry.Close()
	w := &extensions{B: b, registry: strings.TrimPrefix(registry.URL, "http://")}
	kubeconfig, _ := startCluster(b)
	w.Client = connect(b, kubeconfig)
	for _, namespace := range []string{"olm", "beside"} {
		w.must(w.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	}
	small := w.push(w.registry+"/small:v1", map[string][]byte{"configs/catalog.json": []byte(oneBundle)}, image.CatalogLabels())
	full, _ := bigcatalog.Dir(b)
	servers := bigcatalog.HostileServerKinds()
	for _, kind := range slices.Concat([]string{"full"}, bigcatalog.HostileKinds(), servers) {
		b.Run(kind, func(b *testing.B) {
			var source v1alpha1.CatalogSourceSpec
			switch {
			case kind == "full":
				source.Image = w.pushTree(full, kind)
			case slices.Contains(servers, kind):
				source.Address = bigcatalog.ServeHostile(b, kind)
			default:
				dir := b.TempDir()
				w.must(bigcatalog.WriteHostile(dir, kind, hostileBytes))
				source.Image = w.pushTree(dir, kind)
			}
			for b.Loop() {
				m := startManager(b, kubeconfig, fmt.Sprintf("GOMEMLIMIT=%d", int64(heapShare*limit*1e6)))
				m.awaitReady(time.Now().Add(patience))
				began := time.Now()
				large, beside := catalogSource("olm", kind, source.Image), catalogSource("beside", "small", small)
				large.Spec.Address = source.Address
				w.must(w.Create(b.Context(), large))
				w.must(w.Create(b.Context(), beside))
				b.ReportMetric(w.verdict(beside, began).Seconds(), "s-small-catalog")
				took := w.verdict(large, began)
				ready := meta.FindStatusCondition(large.Status.Conditions, "Ready")
				b.Logf("after %.1f s %s: %s", took.Seconds(), ready.Reason, ready.Message)
				b.ReportMetric(took.Seconds(), "s-verdict")
				peak := m.memory("VmHWM")
				b.ReportMetric(peak, "MB-peak")
				b.ReportMetric(limit, "MB-limit")
				if peak > limit {
					b.Errorf("the manager had %.0f MB of memory at most, more than the %.0f MB that the manifests give it", peak, limit)
				}
				w.must(w.Delete(b.Context(), large))
				w.must(w.Delete(b.Context(), beside))
				m.stop()
			}
		})
	}
}

// oneBundle is a small catalog.
const oneBundle = `{"schema":"olm.package","name":"small","defaultChannel":"stable"}
{"schema":"olm.channel","package":"small","name":"stable","entries":[{"name":"small.v1.0.0"}]}
{"schema":"olm.bundle","package":"small","name":"small.v1.0.0","image":"registry.example.com/small:v1","properties":[{"type":"olm.package","value":{"packageName":"small","version":"1.0.0"}}]}`

func catalogSource(namespace, name, ref string) *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}
}

// pushTree pushes the catalog in a directory as an image, and returns its reference by digest.
func (w *extensions) pushTree(dir, name string) string {
	w.Helper()
	root := w.TempDir()
	w.must(os.CopyFS(filepath.Join(root, "configs"), os.DirFS(dir)))
	digest, err := image.Push(w.Context(), w.registry+"/"+name+":v1", os.DirFS(root), image.CatalogLabels(), image.PushOptions{})
	w.must(err)
	return w.registry + "/" + name + "@" + digest
}

// verdict waits until the status of a CatalogSource says more than that it is being read, and returns how long that took.
func (w *extensions) verdict(s *v1alpha1.CatalogSource, began time.Time) time.Duration {
	w.Helper()
	for ; time.Since(began) < verdictTime; time.Sleep(50 * time.Millisecond) {
		w.must(w.Get(w.Context(), client.ObjectKeyFromObject(s), s))
		if ready := meta.FindStatusCondition(s.Status.Conditions, "Ready"); ready != nil && ready.Reason != "Loading" {
			return time.Since(began)
		}
	}
	w.Fatalf("CatalogSource %s has no verdict after %s: %+v", s.Name, verdictTime, s.Status)
	return 0
}
