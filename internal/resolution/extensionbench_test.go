package resolution

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/bigcatalog"
)

var full struct {
	sync.Mutex
	index *catalog.Index
	what  string
}

// extensionFullCatalog is the index of a catalog of the size of the largest public one.
func extensionFullCatalog(b *testing.B) (*catalog.Index, string) {
	b.Helper()
	full.Lock()
	defer full.Unlock()
	if full.index == nil {
		dir, what := bigcatalog.Dir(b)
		c, err := catalog.Load(context.Background(), os.DirFS(dir), catalog.LoadOptions{})
		if c == nil {
			b.Fatal(err)
		}
		if full.index, err = catalog.NewIndex(c, "sha256:full"); err != nil {
			b.Fatal(err)
		}
		full.what = what
	}
	return full.index, full.what
}

// largest is the package with the most bundles.
func largest(x *catalog.Index) (found *catalog.PackageInfo) {
	most := 0
	for _, name := range x.PackageNames() {
		p, _ := x.Package(name)
		if n := len(extensionBundlesOf(p)); n > most {
			found, most = p, n
		}
	}
	return found
}

// BenchmarkResolve resolves the package with the most versions in a catalog of full size: a first installation, an upgrade, and a range
// that nothing is in, with its explanation.
func BenchmarkResolve(b *testing.B) {
	x, what := extensionFullCatalog(b)
	p := largest(x)
	oldest := p.Channels[0].Entries[len(p.Channels[0].Entries)-1].Bundle
	in := ExtensionRequest{Name: "my", Package: p.Name, Catalogs: []Catalog{{Name: "cat", Index: x}}}
	upgrade, impossible := in, in
	upgrade.Installed = &Installed{Name: oldest.Name, Version: oldest.Version}
	impossible.Version = ">=9999"
	for name, in := range map[string]ExtensionRequest{"install": in, "upgrade": upgrade, "impossible": impossible} {
		b.Run(name, func(b *testing.B) {
			b.Logf("%s, package %s with %d versions", what, p.Name, len(extensionBundlesOf(p)))
			for b.Loop() {
				_, err := Extension(b.Context(), in)
				var conflict *Conflict
				if err != nil && !errors.As(err, &conflict) {
					b.Fatal(err)
				}
				if conflict != nil && conflict.Error() == "" {
					b.Fatal("no explanation")
				}
			}
		})
	}
}
