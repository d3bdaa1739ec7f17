package packageserver

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/test/bigcatalog"

	"fairlead.dev/fairlead/internal/catalogcache"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkList lists all packages of the largest catalog through the whole server, but for the network: as kubectl get shows them, and with
// everything that is said of them. The first list after a catalog was exchanged reads the catalog; it has no bound.
func BenchmarkList(b *testing.B) {
	dir, what := bigcatalog.Dir(b)
	cache, err := catalogcache.Open(filepath.Join(b.TempDir(), "indexes"))
	if err != nil {
		b.Fatal(err)
	}
	x, err := cache.FS(b.Context(), "sha256:full", os.DirFS(dir))
	if err != nil {
		b.Fatal(err)
	}
	w := newWorld(b)
	w.sources = []v1alpha1.CatalogSource{{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "full", CreationTimestamp: created}}}
	w.contents.Publish(catalogset.Ref{Namespace: "olm", Name: "full"}, catalogset.Entry{Index: x})
	runtime.GC()
	before := heap()
	start := time.Now()
	w.ask(b, "packagemanifests")
	took := time.Since(start)
	runtime.GC()
	about := fmt.Sprintf("%s, %d packages: the first list took %s; the cache of documents holds %.1f MB; the bound of a list is 50 ms",
		what, len(x.PackageNames()), took.Round(time.Millisecond), float64(heap()-before)/1e6)
	for name, headers := range map[string][]string{
		"table": {"Accept: application/json;as=Table;v=v1;g=meta.k8s.io"},
		"json":  {"Accept: application/json"},
		"gzip":  {"Accept: application/json", "Accept-Encoding: gzip"},
	} {
		b.Run(name, func(b *testing.B) {
			var answer counted
			for b.Loop() {
				answer = counted{header: http.Header{}}
				w.Handler().ServeHTTP(&answer, ask(b, "namespaces/any/packagemanifests", headers...))
				if answer.code != http.StatusOK {
					b.Fatalf("status %d", answer.code)
				}
			}
			b.Log(about)
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/list")
			b.ReportMetric(float64(answer.bytes)/1e6, "MB")
			if name != "gzip" {
				b.ReportMetric(50, "bound-ms")
			}
		})
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// counted is an answer of which only the size is kept.
type counted struct {
	header http.Header
	code   int
	bytes  int
}

func (c *counted) Header() http.Header { return c.header }

func (c *counted) WriteHeader(code int) { c.code = code }

func (c *counted) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}
