package catalogserver

import (
	"errors"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// small is a catalog of one package with one bundle.
func small(name string) string {
	return strings.ReplaceAll(`schema: olm.package
name: NAME
defaultChannel: stable
---
schema: olm.channel
package: NAME
name: stable
entries: [{name: NAME.v1.0.0}]
---
schema: olm.bundle
package: NAME
name: NAME.v1.0.0
image: quay.io/example/NAME:v1
properties:
- {type: olm.package, value: {packageName: NAME, version: 1.0.0}}
`, "NAME", name)
}

func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func open(t *testing.T, o Options) *Origins {
	t.Helper()
	origins := must.Value(Open(o))(t)
	t.Cleanup(func() {
		must.NoError(t, origins.Close())
	})
	return origins
}

// read reads a catalog and returns the name of its only package.
func read(t *testing.T, c Catalog) string {
	t.Helper()
	x := must.Value(c.Origin.Read(t.Context()))(t)
	names := x.PackageNames()
	if len(names) != 1 {
		t.Fatalf("packages %v, want one", names)
	}
	for _, err := range x.Objects(catalog.ObjectFilter{}) {
		must.NoError(t, err)
	}
	return names[0]
}

func state(t *testing.T, c Catalog) string {
	t.Helper()
	text, err := c.Origin.State(t.Context())
	if err != nil || text == "" {
		t.Fatalf("state %q, %v", text, err)
	}
	return text
}

func TestDirectory(t *testing.T) {
	for name, cacheDir := range map[string]string{"kept": t.TempDir(), "temporary": ""} {
		t.Run(name, func(t *testing.T) {
			origins := open(t, Options{CacheDir: cacheDir, PollDirs: time.Second})
			dir := write(t, t.TempDir(), map[string]string{"one/catalog.yaml": small("one")})
			c, err := origins.Catalog("c", dir)
			if err != nil || c.Poll != time.Second {
				t.Fatalf("%v, %v", c, err)
			}
			before := state(t, c)
			must.Equal(t, "package", read(t, c), "one")
			must.Equal(t, "another state of the same files", state(t, c), before)
			x, err := c.Origin.Read(t.Context()) // it is served while the next one is read
			must.NoError(t, err)
			write(t, dir, map[string]string{"one/catalog.yaml": small("other")})
			if after := state(t, c); after == before {
				t.Error("the same state of other files")
			}
			must.Equal(t, "package", read(t, c), "other")
			for _, err := range x.Objects(catalog.ObjectFilter{}) {
				must.NoErrorf(t, err, "the content before")
			}
			write(t, dir, map[string]string{"one/.indexignore": "nothing", "README.md": "text"})
			must.Equal(t, "files that are no part of the catalog change it", read(t, c), "other")
		})
	}
}

func TestTemporaryCachesHoldOnlyWhatIsUsed(t *testing.T) {
	origins := open(t, Options{})
	dir := t.TempDir()
	c := must.Value(origins.Catalog("c", dir))(t)
	for _, name := range []string{"a", "b", "c"} {
		write(t, dir, map[string]string{"catalog.yaml": small(name)})
		read(t, c)
	}
	indexes, err := filepath.Glob(filepath.Join(origins.temp, "*.index"))
	must.NoErrorf(t, err, "indexes")
	must.Equal(t, "indexes", len(indexes), 1)
	must.NoError(t, origins.Close())
	if _, err := os.Stat(origins.temp); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary directory is left: %v", err)
	}
}

func TestWhatIsNotServed(t *testing.T) {
	origins := open(t, Options{})
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"a file that cannot be read":  {map[string]string{"a.yaml": small("a"), "b.yaml": "schema: [\n"}, "b.yaml"},
		"a file that is no catalog":   {map[string]string{"a.yaml": small("a"), "b.json": `{"kind":"ConfigMap"}`}, "b.json"},
		"nothing of a catalog at all": {map[string]string{"README.md": "text"}, "no object of a catalog"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := must.Value(origins.Catalog("c", write(t, t.TempDir(), test.files)))(t)
			_, err := c.Origin.Read(t.Context())
			must.Fail(t, "Read", err, test.want)
		})
	}
	dir := write(t, t.TempDir(), map[string]string{"a.yaml": small("a"), "b.yaml": "schema: olm.package\nname: b\n"})
	c := must.Value(origins.Catalog("c", dir))(t)
	must.Equal(t, "package a package that breaks rules takes others along", read(t, c), "a")
	must.NoError(t, os.RemoveAll(dir))
	if _, err := c.Origin.State(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("state of a directory that is gone: %v", err)
	}
}

func TestImage(t *testing.T) {
	registry := httptest.NewServer(image.NewRegistry(""))
	defer registry.Close()
	ref := strings.TrimPrefix(registry.URL, "http://") + "/example/catalog:latest"
	push := func(name string, labels map[string]string) {
		files := must.Value(image.Files(map[string][]byte{"configs/" + name + "/catalog.yaml": []byte(small(name)), "etc/other": []byte("x")}))(t)
		must.Value(image.Push(t.Context(), ref, files, labels, image.PushOptions{}))(t)
	}
	cacheDir := t.TempDir()
	c, err := open(t, Options{CacheDir: cacheDir, PollImages: time.Minute}).Catalog("c", ref)
	if err != nil || c.Poll != time.Minute || c.Origin.String() != "image "+ref {
		t.Fatalf("%v, %v", c, err)
	}
	if _, err := c.Origin.State(t.Context()); image.KindOf(err) != image.NotFound {
		t.Errorf("state of an image that is not there: %v", err)
	}
	push("one", image.CatalogLabels())
	before := state(t, c)
	if got := read(t, c); got != "one" || before != state(t, c) {
		t.Errorf("package %s, states %s and %s", got, before, state(t, c))
	}
	push("two", image.CatalogLabels())
	if got := read(t, c); got != "two" || before == state(t, c) {
		t.Errorf("package %s, state before and after %s", got, before)
	}
	again := must.Value(open(t, Options{CacheDir: cacheDir, Enforce: true}).Catalog("c", ref))(t)
	must.Equal(t, "from the cache: package", read(t, again), "two")
	push("bundle", image.BundleLabels("p", []string{"stable"}, "stable"))
	if _, err := c.Origin.Read(t.Context()); err == nil {
		t.Error("the image of a bundle was read as a catalog")
	}
}
