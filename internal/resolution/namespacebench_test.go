package resolution

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

var benchRef = catalog.Ref{Namespace: "olm", Name: "bench"}

var fullCatalogFor struct {
	sync.Mutex
	index *catalog.Index
}

// fullCatalog is the index of the large public catalog; the benchmark is skipped where that is not at hand.
func fullCatalog(t testing.TB) *catalog.Index {
	t.Helper()
	fullCatalogFor.Lock()
	defer fullCatalogFor.Unlock()
	if fullCatalogFor.index == nil {
		files := fstest.MapFS{}
		publicdata.Each(t, publicdata.FullCatalog, func(name string, content func() []byte) { files[name] = &fstest.MapFile{Data: content()} })
		c, err := catalog.Load(context.Background(), files, catalog.LoadOptions{})
		if c == nil {
			t.Fatal(err)
		}
		if fullCatalogFor.index, err = catalog.NewIndex(c, "sha256:full"); err != nil {
			t.Fatal(err)
		}
	}
	return fullCatalogFor.index
}

// generatedPackage is a package with a chain of versions, each of which provides the same API and has the given properties beside.
func generatedPackage(c *catalog.Catalog, i, versions int, properties ...catalog.Property) {
	pkg := fmt.Sprintf("package%03d", i)
	c.Packages = append(c.Packages, catalog.Package{Schema: catalog.SchemaPackage, Name: pkg, DefaultChannel: "stable"})
	channel := catalog.Channel{Schema: catalog.SchemaChannel, Name: "stable", Package: pkg}
	for j := range versions {
		v := fmt.Sprintf("%d.0.0", j)
		e := catalog.Entry{Name: pkg + ".v" + v}
		if j > 0 {
			e.Replaces = channel.Entries[j-1].Name
		}
		channel.Entries = append(channel.Entries, e)
		own := []catalog.Property{
			{Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":%q,"version":%q}`, pkg, v))},
			{Type: catalog.PropertyGVK, Value: generatedAPI(i)},
		}
		c.Bundles = append(c.Bundles, catalog.Bundle{Schema: catalog.SchemaBundle, Name: e.Name, Package: pkg, Image: "registry.example.com/" + pkg + ":" + v,
			Properties: append(own, properties...)})
	}
	c.Channels = append(c.Channels, channel)
}

func generatedAPI(i int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"group":"example.com","version":"v1","kind":"K%d"}`, i))
}

func generatedIndex(t testing.TB, c *catalog.Catalog) *catalog.Index {
	t.Helper()
	x := must.Value(catalog.NewIndex(c, "sha256:generated"))(t)
	return x
}

// generated is a catalog of packages with many versions, each of which needs an API of the next package; nobody provides that of the
// one after the last.
func generated(t testing.TB, packages, versions int) *catalog.Index {
	t.Helper()
	c := &catalog.Catalog{}
	for i := range packages {
		generatedPackage(c, i, versions, catalog.Property{Type: catalog.PropertyGVKRequired, Value: generatedAPI(i + 1)})
	}
	return generatedIndex(t, c)
}

// mutual is a catalog of packages each of which needs the APIs of all others.
func mutual(t testing.TB, packages, versions int) *catalog.Index {
	t.Helper()
	c := &catalog.Catalog{}
	for i := range packages {
		var needs []catalog.Property
		for j := range packages {
			if j != i {
				needs = append(needs, catalog.Property{Type: catalog.PropertyGVKRequired, Value: generatedAPI(j)})
			}
		}
		generatedPackage(c, i, versions, needs...)
	}
	return generatedIndex(t, c)
}

// labyrinth is a catalog of packages whose bundles have constraints that nest any, all and not as deeply as they may, and as wide as
// their size allows.
func labyrinth(t testing.TB, packages, versions int) *catalog.Index {
	t.Helper()
	c := &catalog.Catalog{}
	for i := range packages {
		leaf := func(n int) string { return fmt.Sprintf(`{"gvk":%s}`, generatedAPI((i+n)%packages)) }
		value := leaf(1)
		for n := 0; len(value) < constraint.MaxSize/2 && n < constraint.MaxDepth-2; n++ {
			value = listOf([]string{"any", "all", "not"}[n%3], value, leaf(n), listOf("not", leaf(n+7)), listOf("all", leaf(n+1), leaf(n+2)))
		}
		generatedPackage(c, i, versions, catalog.Property{Type: catalog.PropertyConstraint, Value: json.RawMessage(value)})
	}
	return generatedIndex(t, c)
}

func subscribe(x *catalog.Index, packages ...string) NamespaceRequest {
	in := NamespaceRequest{Namespace: "ns", Sources: []Source{{Ref: benchRef, Index: x}}}
	for _, name := range packages {
		p, _ := x.Package(name)
		in.Subscriptions = append(in.Subscriptions, Subscription{Name: name, Package: name, Channel: p.DefaultChannel, Catalog: benchRef})
	}
	return in
}

// measure decides again and again, and prints how long that took beside the bound and what another implementation took on 2 cores, in
// milliseconds, and the memory that was allocated on the way, in MB.
func measure(b *testing.B, in NamespaceRequest, is figure, check func(NamespaceResult) bool) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for b.Loop() {
		result := must.Value(Namespace(context.Background(), in))(b)
		if !check(result) {
			b.Fatalf("not the kind of answer that is measured: %+v", result.Groups)
		}
	}
	n := float64(b.N)
	b.ReportMetric(float64(time.Since(start).Microseconds())/1000/n, "ms")
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6/n, "MB")
	for name, value := range map[string]float64{"ms-bound": is.bound, "ms-others": is.others, "MB-bound": is.megabytes} {
		if value > 0 {
			b.ReportMetric(value, name)
		}
	}
}

func solved(r NamespaceResult) bool { return !failed(r) }

func failed(r NamespaceResult) bool {
	return slices.ContainsFunc(r.Groups, func(g Group) bool { return g.Err != nil })
}

func holdsBack(r NamespaceResult) bool {
	return solved(r) && slices.ContainsFunc(r.Groups, func(g Group) bool { return len(g.Held) > 0 })
}

func anyResult(NamespaceResult) bool { return true }

// BenchmarkFull decides on a large public catalog.
func BenchmarkFull(b *testing.B) {
	x := fullCatalog(b)
	all := x.PackageNames()
	together := subscribe(x, all[:100]...)
	together.Together = true
	for _, test := range []struct {
		name  string
		in    NamespaceRequest
		is    figure
		check func(NamespaceResult) bool
	}{
		{"one fresh install", subscribe(x, "keycloak-operator"), bounds.fresh, solved},
		{"85 entries and an unmet requirement", subscribe(x, "eclipse-che"), bounds.unmet, holdsBack},
		{"30 Subscriptions", subscribe(x, all[:30]...), bounds.thirty, anyResult},
		{"100 Subscriptions", subscribe(x, all[:100]...), bounds.hundred, anyResult},
		{"all packages", subscribe(x, all...), figure{}, anyResult},
		{"100 Subscriptions without answer together", together, bounds.explained, failed},
	} {
		b.Run(test.name, func(b *testing.B) { measure(b, test.in, test.is, test.check) })
	}
}

// BenchmarkGenerated decides on a generated catalog of 300 packages of 25 versions, in which everything depends on everything after it.
func BenchmarkGenerated(b *testing.B) {
	x := generated(b, 300, 25)
	all := x.PackageNames()
	for _, n := range []int{1, 30, 100} {
		b.Run(fmt.Sprintf("%d Subscriptions without answer", n), func(b *testing.B) { measure(b, subscribe(x, all[300-n:]...), figure{}, failed) })
	}
}

// BenchmarkAdversarial decides on what is made to be hard.
func BenchmarkAdversarial(b *testing.B) {
	hard := mutual(b, 200, 2)
	b.Run("200 mutually dependent packages", func(b *testing.B) { measure(b, subscribe(hard, hard.PackageNames()...), figure{}, anyResult) })
	deep := labyrinth(b, 20, 5)
	b.Run("deep constraints", func(b *testing.B) { measure(b, subscribe(deep, deep.PackageNames()...), figure{}, anyResult) })
}

// BenchmarkCandidates shows the cost against the number of candidates: microseconds for each.
func BenchmarkCandidates(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		in := subscribe(generated(b, 1, n), "package000")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			start := time.Now()
			measure(b, in, figure{}, failed)
			b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N*n), "µs/candidate")
		})
	}
}
