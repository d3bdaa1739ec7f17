package subscription

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BenchmarkMemory decides on 100 Subscriptions in 20 namespaces with a catalog as large as that of all community operators, and prints
// what the process needs then: its heap and its resident memory. The API server of the test is in the process, bundles are not fetched. The aim
// is 250 MB; the field's needs about as much for two operators, and 765 MB for the pod of the catalog.
func BenchmarkMemory(b *testing.B) {
	cache := must.Value(catalogstore.OpenCache(filepath.Join(b.TempDir(), "indexes")))(b)
	dir, what := bigcatalog.Dir(b)
	b.Log(what)
	x := must.Value(cache.FS(b.Context(), "sha256:full", os.DirFS(dir)))(b)
	for b.Loop() {
		w, chosen := manyNamespaces(b, x), 0
		for i := range 20 {
			seen := must.Value(w.controller.observe(b.Context(), w.client, fmt.Sprintf("ns%d", i)))(b)
			found := must.Value(w.controller.decide(b.Context(), seen))(b)
			for _, g := range found.groups {
				chosen += len(g.Choices)
			}
			must.Value(w.controller.report(b.Context(), seen, found))(b)
		}
		if chosen < 100 { // some packages need what the catalog does not have, others bring what they need
			b.Fatalf("%d bundles are chosen for 100 Subscriptions", chosen)
		}
		peak := status("VmHWM")
		runtime.GC()
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MB-heap")
		b.ReportMetric(status("VmRSS"), "MB-resident")
		b.ReportMetric(peak, "MB-resident-peak")
		runtime.KeepAlive(w)
	}
}

// manyNamespaces is a world with five Subscriptions in each of 20 namespaces, to 100 packages of the catalog.
func manyNamespaces(b *testing.B, x *catalog.Index) *world {
	b.Helper()
	packages := x.PackageNames()
	global := catalogSource("cat")
	global.Namespace = "olm"
	objects := []client.Object{global}
	for i := range 20 {
		og := operatorGroup("og")
		og.Namespace = fmt.Sprintf("ns%d", i)
		objects = append(objects, og)
		for j := range 5 {
			p, _ := x.Package(packages[(i*5+j)*3])
			sub := subscribe(fmt.Sprintf("sub%d", j), p.Name, "")
			sub.Namespace, sub.Spec.CatalogSourceNamespace, sub.Spec.Channel = og.Namespace, "olm", p.DefaultChannel
			objects = append(objects, sub)
		}
	}
	w := newWorld(b, objects...)
	w.controller.Catalogs.Publish(catalog.Ref{Namespace: "olm", Name: "cat"}, catalogstore.Entry{Index: x})
	return w
}

// status reads a line of /proc/self/status, in MB; zero where there is none.
func status(line string) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), line+":")
	var kilobytes float64
	_, _ = fmt.Sscanf(rest, "%f", &kilobytes)
	return kilobytes / 1024
}
