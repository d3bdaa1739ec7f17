package bundleio

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"

	"github.com/google/go-cmp/cmp"
)

const smallCatalog = `
schema: olm.package
name: p
defaultChannel: stable
---
schema: olm.channel
package: p
name: stable
entries:
- name: p.v1.0.0
---
schema: olm.bundle
package: p
name: p.v1.0.0
image: example.com/p:1.0.0
properties:
- type: olm.csv.metadata
  value: {}
- type: olm.package
  value: {packageName: p, version: 1.0.0}
relatedImages:
- name: b
  image: example.com/b:1
- name: a
  image: example.com/a:1
`

// write puts files below a new directory.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return dir
}

// exampleBundle copies a bundle directory of the examples.
func exampleBundle(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	tree := must.Value(fs.Sub(examples.Bundles, "bundles/greeter-operator/1.0.0"))(t)
	must.NoError(t, os.CopyFS(dir, tree))
	return dir
}

func text(t testing.TB, c *catalog.Catalog) string {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, catalog.WriteYAML(&out, c))
	return out.String()
}

// pushedRegistry serves images on loopback and returns its host.
func pushedRegistry(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func store(t testing.TB) *image.Store {
	t.Helper()
	s := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	return s
}

func push(t testing.TB, ref string, files map[string]string, labels map[string]string) string {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	must.Value(image.Push(t.Context(), ref, tree, labels, image.PushOptions{}))(t)
	return ref
}

func TestEveryKindOfReference(t *testing.T) {
	host := pushedRegistry(t)
	bundleDir := exampleBundle(t)
	must.Value(image.Push(t.Context(), host+"/greeter:1", os.DirFS(bundleDir), image.BundleLabels("greeter-operator", []string{"stable"}, ""), image.PushOptions{}))(t)
	dir := write(t, map[string]string{"p/catalog.yaml": smallCatalog})
	tests := map[string]struct {
		ref  string
		want string
	}{
		"a catalog directory":      {dir, "name: p.v1.0.0"},
		"a catalog file":           {filepath.Join(dir, "p", "catalog.yaml"), "name: p.v1.0.0"},
		"a catalog image":          {push(t, host+"/catalog:1", map[string]string{"configs/c.yaml": smallCatalog, "other/x.yaml": "schema: [x"}, image.CatalogLabels()), "name: p.v1.0.0"},
		"a bundle directory":       {bundleDir, "image: \"\"\nname: greeter-operator.v1.0.0"},
		"a bundle image":           {host + "/greeter:1", "image: \"" + host + "/greeter:1\"\nname: greeter-operator.v1.0.0"},
		"the older layout":         {write(t, older()), "name: etcdoperator.v0.9.2"},
		"a directory that is bare": {t.TempDir(), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &Renderer{Store: store(t)}
			c := must.Value(r.Render(t.Context(), test.ref))(t)
			must.Contain(t, "text", text(t, c), test.want)
		})
	}
}

// older are files in the package-manifest layout.
func older() map[string]string {
	return map[string]string{
		"etcd.package.yaml": "packageName: etcd\nchannels:\n- name: alpha\n  currentCSV: etcdoperator.v0.9.2\n",
		"0.9.2/csv.yaml":    "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: etcdoperator.v0.9.2\nspec:\n  version: 0.9.2\n  displayName: etcd\n  install:\n    strategy: deployment\n",
	}
}

func TestRefused(t *testing.T) {
	host := pushedRegistry(t)
	dir := write(t, map[string]string{"c.yaml": smallCatalog, "old.db": "SQLite format 3\x00and more", "notes.txt": "p=1.0.0\n"})
	broken := write(t, older())
	must.NoError(t, os.WriteFile(filepath.Join(broken, "etcd.package.yaml"), []byte("packageName: etcd\nchannels: []\n"), 0o644))
	tests := map[string]struct {
		ref     string
		allowed Kinds
		want    string
	}{
		"a mistyped path":          {"./catalgo", 0, "there is no file or directory of that name"},
		"an absolute one":          {filepath.Join(dir, "nothing"), 0, "there is no file or directory of that name"},
		"a name without a host":    {"my-catalog", 0, "write the host of its registry"},
		"an image without a host":  {"org/catalog:latest", 0, "write the host of its registry"},
		"nothing":                  {"", 0, "the reference is empty"},
		"a URL":                    {"https://example.com/c:1", 0, "begins with https://"},
		"an image that is not":     {host + "/nothing:1", 0, "there is no file or directory of that name, so it was taken for an image"},
		"a file below a file":      {filepath.Join(dir, "c.yaml", "x"), 0, "there is no file or directory of that name"},
		"a file of something else": {filepath.Join(dir, "notes.txt"), 0, "the file holds no object of a catalog"},
		"a sqlite file":            {filepath.Join(dir, "old.db"), 0, "sqlite"},
		"a sqlite image":           {push(t, host+"/db:1", nil, map[string]string{labelDatabase: "/database/index.db"}), 0, "sqlite-based index images are no longer supported"},
		"an image of another kind": {push(t, host+"/other:1", nil, map[string]string{"b": "1", "a": "2"}), 0, "image type could not be determined, found labels a, b"},
		"an image without labels":  {push(t, host+"/bare:1", nil, nil), 0, "image has no labels"},
		"an empty catalog image":   {push(t, host+"/empty:1", nil, image.CatalogLabels()), 0, "has no files in configs"},
		"an empty bundle image":    {push(t, host+"/nobundle:1", nil, image.BundleLabels("p", nil, "")), 0, "metadata"},
		"a kind that is not meant": {dir, BundleImage | BundleDir, "it is a catalog directory: not allowed here; give a bundle directory, bundle image"},
		"an image, unexpectedly":   {push(t, host+"/catalog:1", map[string]string{"configs/c.yaml": smallCatalog}, image.CatalogLabels()), BundleImage, "it is a catalog image: not allowed here"},
		"no images at all":         {host + "/catalog:1", CatalogDir, "images are not allowed here"},
		"a broken package file":    {broken, 0, "channels is empty"},
		"a device":                 {os.DevNull, 0, "neither a file nor a directory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &Renderer{Store: store(t), Allowed: test.allowed}
			c, err := r.Render(t.Context(), test.ref)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "render \""+test.ref+"\"") {
				t.Errorf("catalog %v, error %v; want %q", c, err, test.want)
			}
		})
	}
}

func TestTheFirstReferenceThatFailsIsReported(t *testing.T) {
	dir := t.TempDir()
	for range 50 {
		_, err := (&Renderer{Workers: 2}).Render(t.Context(), dir+"/a/missing", dir+"/b/missing", dir+"/c/missing")
		if err == nil || !strings.Contains(err.Error(), "/a/missing") {
			t.Fatalf("error %v, want that of the first reference", err)
		}
	}
}

func TestManyReferencesStayInOrder(t *testing.T) {
	var refs []string
	var want []string
	for _, name := range []string{"c", "a", "d", "b"} {
		refs = append(refs, write(t, map[string]string{"x.yaml": "schema: olm.package\nname: " + name + "\nextra: x\n"}))
		want = append(want, name)
	}
	c := must.Value((&Renderer{}).Render(t.Context(), refs...))(t)
	var got []string
	for i, p := range c.Packages {
		got = append(got, p.Name)
		if at := filepath.ToSlash(refs[i]) + "/x.yaml"; p.Position.File != at || c.LoadProblems[i].Position.File != at {
			t.Errorf("package %s is at %s, its problem at %s; want %s", p.Name, p.Position, c.LoadProblems[i].Position, at)
		}
	}
	must.Equal(t, "packages", got, want)
}

func TestWhatCanBeReadIsThere(t *testing.T) {
	dir := write(t, map[string]string{"good.yaml": "schema: olm.package\nname: good\n", "bad.yaml": "schema: olm.package\nname: [bad]\n"})
	c, err := (&Renderer{}).Render(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "bad.yaml:1") || c == nil || len(c.Packages) != 1 || c.Packages[0].Name != "good" {
		t.Errorf("catalog %+v, error %v", c, err)
	}
}

func TestAllThatIsWrongWithSeveralReferencesIsTold(t *testing.T) {
	var dirs []string
	for _, name := range []string{"one", "two"} {
		dirs = append(dirs, write(t, map[string]string{name + ".yaml": "schema: olm.package\nname: [bad]\n"}))
	}
	_, err := (&Renderer{}).Render(t.Context(), dirs...)
	for i, file := range []string{"one.yaml:1", "two.yaml:1"} {
		if err == nil || !strings.Contains(err.Error(), filepath.ToSlash(dirs[i])+"/"+file) {
			t.Errorf("error %v, want one with %s", err, file)
		}
	}
}

func TestBundlesArePutInOrder(t *testing.T) {
	c := must.Value((&Renderer{}).Render(t.Context(), write(t, map[string]string{"c.yaml": smallCatalog})))(t)
	all := must.Value(c.Bundles[0].AllProperties())(t)
	if all[0].Type != catalog.PropertyPackage || all[1].Type != catalog.PropertyCSVMetadata {
		t.Errorf("properties %v", all)
	}
	want := []catalog.RelatedImage{{Name: "a", Image: "example.com/a:1"}, {Name: "b", Image: "example.com/b:1"}}
	must.Equal(t, "related images", c.Bundles[0].RelatedImages, want)
}

func TestTheImageOfABundleDirectory(t *testing.T) {
	ref := must.Value(ParseImageRef("example.com/{{.Package}}/{{.Name}}:v{{.Version}}"))(t)
	r := &Renderer{ImageRef: ref, Migrations: catalog.MigrateAll}
	c := must.Value(r.Render(t.Context(), exampleBundle(t)))(t)
	b := c.Bundles[0]
	if want := "example.com/greeter-operator/greeter-operator.v1.0.0:v1.0.0"; b.Image != want || b.RelatedImages[0].Image != want && b.RelatedImages[1].Image != want {
		t.Errorf("image %s, related %v", b.Image, b.RelatedImages)
	}
	if len(b.Payloads) != 1 || b.Payloads[0].Type != catalog.PropertyCSVMetadata {
		t.Errorf("payloads after the migration: %v", b.Payloads)
	}
	for _, wrong := range []string{"{{.Tag}}", "{{"} {
		_, err := ParseImageRef(wrong)
		must.Fail(t, wrong, err, "{{.Package}}")
	}
}

func TestCheckImages(t *testing.T) {
	host := pushedRegistry(t)
	there := push(t, host+"/there:1", nil, nil)
	c := &catalog.Catalog{Bundles: []catalog.Bundle{
		{Package: "p", Name: "b2", Image: there, RelatedImages: []catalog.RelatedImage{{Image: there}, {Image: host + "/missing:1"}, {}}},
		{Package: "p", Name: "b1", RelatedImages: []catalog.RelatedImage{{Image: host + "/missing:1"}, {Image: "NOT A REFERENCE"}}},
	}}
	var progress []string
	verdicts := must.Value((&Renderer{Store: store(t)}).CheckImages(t.Context(), c, func(done, all int) { progress = append(progress, fmt.Sprintf("%d/%d", done, all)) }))(t)
	var got []string
	for _, v := range verdicts {
		got = append(got, strings.Join([]string{strings.Replace(v.Image, host, "host", 1), string(v.Kind), strings.Join(v.Bundles, " ")}, "|"))
	}
	want := []string{"host/missing:1|NotFound|p/b1 p/b2", "host/there:1||p/b2", "NOT A REFERENCE|InvalidReference|p/b1"}
	must.Equal(t, "verdicts", got, want)
	if s := verdicts[0].String(); !strings.Contains(s, "named by p/b1 and 1 more") || !verdicts[1].Exists || verdicts[2].Exists {
		t.Errorf("%s", verdicts)
	}
	must.Equal(t, "progress", progress, []string{"1/3", "2/3", "3/3"})
}

// TestCheckBundles reads the bundles that a catalog names, and says of each that it cannot read why.
func TestCheckBundles(t *testing.T) {
	host := pushedRegistry(t)
	good := host + "/good:1"
	must.Value(image.Push(t.Context(), good, os.DirFS(exampleBundle(t)), image.BundleLabels("greeter-operator", []string{"stable"}, ""), image.PushOptions{}))(t)
	other := push(t, host+"/catalog:1", map[string]string{"configs/c.yaml": smallCatalog}, image.CatalogLabels())
	c := &catalog.Catalog{Bundles: []catalog.Bundle{{Package: "p", Name: "b2", Image: good}, {Package: "p", Name: "b1", Image: good}, {Package: "p", Name: "b3", Image: other},
		{Package: "p", Name: "b4", Image: host + "/missing:1"}, {Package: "p", Name: "b5"}}}
	verdicts, names, err := (&Renderer{Store: store(t)}).CheckBundles(t.Context(), c, nil)
	must.NoError(t, err)
	must.Equal(t, "names", names, map[string]string{good: "greeter-operator.v1.0.0"})
	var got []string
	for _, v := range verdicts {
		got = append(got, strings.Join([]string{strings.Replace(v.Image, host, "host", 1), fmt.Sprint(v.Exists), strings.Join(v.Bundles, " ")}, "|"))
	}
	must.Equal(t, "verdicts", got, []string{"host/catalog:1|false|p/b3", "host/good:1|true|p/b1 p/b2", "host/missing:1|false|p/b4"})
	must.Contain(t, "a catalog in the place of a bundle", verdicts[0].Reason, "bundle image")
}

func TestTheCacheDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("OLM_CACHE_DIR", dir)
	host := pushedRegistry(t)
	r := &Renderer{}
	must.Value(r.Render(t.Context(), push(t, host+"/catalog:1", map[string]string{"configs/c.yaml": smallCatalog}, image.CatalogLabels())))(t)
	must.Equal(t, "the image is not kept", len(must.Value(os.ReadDir(filepath.Join(dir, "fairlead", "images")))(t)), 1)
	t.Setenv("OLM_CACHE_DIR", filepath.Join(write(t, map[string]string{"file": ""}), "file"))
	r = &Renderer{}
	if _, err := r.Render(t.Context(), host+"/catalog:1"); err != nil {
		t.Fatalf("without a cache directory: %v", err)
	}
	must.NoError(t, r.Close())
	if _, err := os.Stat(r.temporary); !os.IsNotExist(err) || r.temporary == "" {
		t.Errorf("the temporary store %q is still there: %v", r.temporary, err)
	}
}

func TestPublicBundles(t *testing.T) {
	trees := publicdata.BundleTrees(t)
	for name, tree := range sample(trees) {
		dir := t.TempDir()
		must.NoError(t, os.CopyFS(dir, tree))
		c, err := (&Renderer{}).Render(t.Context(), dir)
		if err != nil {
			t.Errorf("bundle %s: %v", name, err)
			continue
		}
		checkIdempotent(t, c)
		os.RemoveAll(dir)
	}
	must.Equal(t, "there are bundles", len(trees), 138)
}

// sample is every tenth of the bundles where time is short, as with the race detector, and otherwise all of them.
func sample(trees map[string]fstest.MapFS) map[string]fstest.MapFS {
	if !testing.Short() {
		return trees
	}
	some := map[string]fstest.MapFS{}
	for i, name := range slices.Sorted(maps.Keys(trees)) {
		if i%10 == 0 {
			some[name] = trees[name]
		}
	}
	return some
}

func TestMigratedBundlesAreTheSameBothWays(t *testing.T) {
	for name, tree := range sample(publicdata.BundleTrees(t)) {
		b, err := bundle.Load(tree)
		must.NoErrorf(t, err, "bundle %s", name)
		b.Image = "example.com/b:1"
		short, err := (&Renderer{Migrations: catalog.MigrateAll}).described(b)
		must.NoErrorf(t, err, "bundle %s", name)
		long, err := (&Renderer{}).described(b)
		must.NoErrorf(t, err, "bundle %s", name)
		var texts []string
		for _, f := range []*result{long, short} {
			migrated, err := catalog.Migrate(f.catalog, catalog.MigrateAll)
			must.NoErrorf(t, err, "bundle %s", name)
			texts = append(texts, text(t, migrated))
		}
		if texts[0] != texts[1] {
			t.Errorf("bundle %s is different (-all manifests +the CSV alone):\n%.2000s", name, cmp.Diff(texts[0], texts[1]))
		}
	}
}

func TestPublicCatalogs(t *testing.T) {
	for archive, least := range map[string]int{publicdata.OwnCatalog: 30, publicdata.FullCatalog: 331} {
		t.Run(archive, func(t *testing.T) {
			if archive == publicdata.FullCatalog && !sweep.Whole() {
				t.Skip("147 MB of catalogs take a while: they are tried with FAIRLEAD_TEST_SWEEP=1")
			}
			// Render each catalog of an archive.
			found := 0
			publicdata.Each(t, archive, func(name string, content func() []byte) {
				found++
				c, err := (&Renderer{}).Render(t.Context(), write(t, map[string]string{"catalog.yaml": string(content())}))
				if err != nil {
					t.Errorf("catalog %s: %v", name, err)
					return
				}
				checkIdempotent(t, c)
			})
			if found < least {
				t.Errorf("there are only %d catalogs", found)
			}
		})
	}
}

// checkIdempotent demands that what was rendered renders to itself.
func checkIdempotent(t *testing.T, c *catalog.Catalog) {
	t.Helper()
	once := text(t, c)
	again := must.Value((&Renderer{}).Render(t.Context(), write(t, map[string]string{"catalog.yaml": once})))(t)
	if twice := text(t, again); once != twice {
		t.Errorf("rendered again it is different:\n%.2000s", cmp.Diff(once, twice))
	}
}
