// Package bigcatalog makes catalogs of any size, always the same ones, for benchmarks and for tests of what only shows at size. The
// largest, [Full], is like the catalog of all community operators: as many packages, channels, bundles and bytes, one of the files
// with a third of them. Where that catalog itself is beside the checkout, [Dir] unpacks it instead.
//
// The package never reads the clock nor anything random. Start reading at [Dir] and [Package].
package bigcatalog

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// Shape says how large a catalog is.
type Shape struct {
	Packages int
	Bundles  int // of all packages together
	// BundleBytes is about how large a bundle is. Those of the first package are larger by firstFactor.
	BundleBytes int
}

// Full is as large as the catalog of all community operators: 147 MB of YAML.
var Full = Shape{Packages: 331, Bundles: 6980, BundleBytes: 11_500}

// The first package of a large catalog has so many bundles, and they are so many times as large as the others.
const (
	firstBundles = 100
	firstFactor  = 38
)

// bundles is how many bundles a package has.
func (s Shape) bundles(pkg int) int {
	if s.Packages == 1 {
		return s.Bundles
	}
	first := min(firstBundles, 1+(s.Bundles-s.Packages)/20)
	if pkg == 0 {
		return first
	}
	rest, others := s.Bundles-first, s.Packages-1
	n := rest / others
	if pkg <= rest%others {
		n++
	}
	return n
}

// Write writes a catalog into dir, a directory for each package with one file.
func Write(dir string, s Shape, format catalog.Format) error {
	for i := range s.Packages {
		if err := writePackage(dir, Package(s, i), format); err != nil {
			return fmt.Errorf("write package %d of a generated catalog: %w", i, err)
		}
	}
	return nil
}

func writePackage(dir string, c *catalog.Catalog, format catalog.Format) error {
	dir = filepath.Join(dir, c.Packages[0].Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "catalog."+string(format)))
	if err != nil {
		return err
	}
	err = catalog.Write(file, c, format)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// Dir returns a directory with a catalog of the size of Full, in YAML, and what it is: the public one where it is beside the checkout,
// a generated one otherwise.
func Dir(t testing.TB) (dir, what string) {
	t.Helper()
	dir = t.TempDir()
	if !publicdata.Has(publicdata.FullCatalog) {
		must.NoError(t, Write(dir, Full, catalog.YAML))
		return dir, "generated catalog"
	}
	publicdata.Each(t, publicdata.FullCatalog, func(name string, content func() []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, content(), 0o644))
	})
	return dir, "public catalog"
}

// JSON writes the catalog in dir as JSON, and returns the directory with that.
func JSON(t testing.TB, dir string) string {
	t.Helper()
	files, _, err := catalog.Files(t.Context(), os.DirFS(dir))
	must.NoError(t, err)
	out := t.TempDir()
	for _, name := range files {
		c := must.Value(catalog.Load(t.Context(), os.DirFS(filepath.Join(dir, filepath.Dir(name))), catalog.LoadOptions{}))(t)
		must.NoError(t, writePackage(out, c, catalog.JSON))
	}
	return out
}
