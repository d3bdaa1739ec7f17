package packagemanifest

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// manifestCSV is a ClusterServiceVersion; more is added to its spec.
func manifestCSV(name, version, more string) string {
	return fmt.Sprintf("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: %s\n  annotations: {olm.skipRange: '<%s'}\n"+
		"spec:\n  version: %s\n  displayName: d\n  description: About %s.\n  icon: [{base64data: aWNvbg==, mediatype: image/png}]\n"+
		"  install: {strategy: deployment, spec: {deployments: []}}\n%s", name, version, version, name, more)
}

func manifestCRD(plural string) string {
	return fmt.Sprintf("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %s.example.com}\n"+
		"spec: {group: example.com, names: {kind: %s, plural: %[1]s}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n",
		plural, strings.ToUpper(plural[:1])+plural[1:])
}

func owns(plural string) string {
	return fmt.Sprintf("  customresourcedefinitions: {owned: [{name: %s.example.com, kind: %s, version: v1}]}\n", plural, strings.ToUpper(plural[:1])+plural[1:])
}

func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// nested is a package with a directory for each version.
func nested() map[string]string {
	return map[string]string{
		"p.package.yaml":  "packageName: p\ndefaultChannel: stable\nchannels:\n- {name: stable, currentCSV: p.v1.2.0}\n- {name: old, currentCSV: p.v1.0.0}\n",
		"1.0.0/csv.yaml":  manifestCSV("p.v1.0.0", "1.0.0", "  replaces: p.v0.9.0\n"+owns("things")),
		"1.0.0/crd.yaml":  manifestCRD("things"),
		"1.1.0/csv.yaml":  manifestCSV("p.v1.1.0", "1.1.0", "  replaces: p.v1.0.0\n"),
		"1.2.0/csv.yaml":  manifestCSV("p.v1.2.0", "1.2.0", "  replaces: p.v1.0.0\n  skips: [p.v1.1.0, p.v1.1.5]\n"),
		"2.0.0/csv.yaml":  manifestCSV("p.v2.0.0", "2.0.0", ""),
		"2.0.0/README.md": "# no manifest",
		"docs/notes.yaml": "a: list of notes",
		".git/config":     "hidden",
	}
}

// summary describes a catalog in few lines.
func summary(t *testing.T, c *catalog.Catalog) string {
	t.Helper()
	var out strings.Builder
	for _, p := range c.Packages {
		fmt.Fprintf(&out, "package %s, default %s, %q, icon %t\n", p.Name, p.DefaultChannel, p.Description, p.Icon != nil)
	}
	for _, ch := range c.Channels {
		fmt.Fprintf(&out, "channel %s/%s\n", ch.Package, ch.Name)
		for _, e := range ch.Entries {
			fmt.Fprintf(&out, "  %s replaces %q skips %v range %q\n", e.Name, e.Replaces, e.Skips, e.SkipRange)
		}
	}
	for _, b := range c.Bundles {
		objects := 0
		var apis []string
		for _, p := range b.Properties {
			switch p.Type {
			case catalog.PropertyBundleObject:
				objects++
			case catalog.PropertyGVK:
				apis = append(apis, string(p.Value))
			}
		}
		fmt.Fprintf(&out, "bundle %s/%s image %q, %d objects, provides %v\n", b.Package, b.Name, b.Image, objects, apis)
	}
	return out.String()
}

func TestADirectoryForEachVersion(t *testing.T) {
	c, warnings, err := Convert(t.Context(), tree(nested()))
	must.NoError(t, err)
	want := `package p, default stable, "About p.v1.2.0.", icon true
channel p/stable
  p.v1.2.0 replaces "p.v1.0.0" skips [p.v1.1.0 p.v1.1.5] range "<1.2.0"
  p.v1.0.0 replaces "p.v0.9.0" skips [] range "<1.0.0"
  p.v1.1.0 replaces "p.v1.0.0" skips [] range "<1.1.0"
channel p/old
  p.v1.0.0 replaces "p.v0.9.0" skips [] range "<1.0.0"
bundle p/p.v1.0.0 image "", 2 objects, provides [{"group":"example.com","kind":"Things","version":"v1"}]
bundle p/p.v1.1.0 image "", 1 objects, provides []
bundle p/p.v1.2.0 image "", 1 objects, provides []
`
	must.Equal(t, "catalog", summary(t, c), want)
	if problems := catalog.Validate(c); len(problems) > 0 {
		t.Errorf("it has problems: %v", problems)
	}
	wantWarnings := []string{
		"docs/notes.yaml: passed over: it is no Kubernetes object with apiVersion and kind",
		"2.0.0/csv.yaml: passed over: no channel of package p leads to p.v2.0.0",
	}
	must.Equal(t, "warnings", warnings, wantWarnings)
}

func TestAllVersionsInOneDirectory(t *testing.T) {
	c, _, err := Convert(t.Context(), tree(map[string]string{
		"package.yaml": "packageName: p\nchannels: [{name: only, currentCSV: p.v2.0.0}]\n",
		"a.csv.yaml":   manifestCSV("p.v1.0.0", "1.0.0", owns("olds")),
		"b.csv.yaml":   manifestCSV("p.v2.0.0", "2.0.0", "  replaces: p.v1.0.0\n"+owns("news")),
		"a.crd.yaml":   manifestCRD("olds"),
		"b.crd.yaml":   manifestCRD("news"),
		"svc.json":     `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}`,
	}))
	must.NoError(t, err)
	want := `package p, default only, "About p.v2.0.0.", icon true
channel p/only
  p.v2.0.0 replaces "p.v1.0.0" skips [] range "<2.0.0"
  p.v1.0.0 replaces "" skips [] range "<1.0.0"
bundle p/p.v1.0.0 image "", 3 objects, provides [{"group":"example.com","kind":"Olds","version":"v1"}]
bundle p/p.v2.0.0 image "", 3 objects, provides [{"group":"example.com","kind":"News","version":"v1"}]
`
	must.Equal(t, "catalog", summary(t, c), want)
}

func TestSeveralPackages(t *testing.T) {
	files := map[string]string{"README.md": "# Operators"}
	for _, pkg := range []string{"a", "b"} {
		files[pkg+"/"+pkg+".package.yaml"] = fmt.Sprintf("packageName: %s\nchannels: [{name: c, currentCSV: %[1]s.v1}]\n", pkg)
		files[pkg+"/1/csv.yaml"] = manifestCSV(pkg+".v1", "1.0.0", "")
	}
	c, _, err := Convert(t.Context(), tree(files))
	must.NoError(t, err)
	if len(c.Packages) != 2 || len(c.Bundles) != 2 || catalog.Validate(c).Err() != nil {
		t.Errorf("%s %v", summary(t, c), catalog.Validate(c))
	}
}

func TestIs(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		want  bool
	}{
		"a package file of the usual name":    {map[string]string{"p.package.yaml": "packageName: p\nchannels: [{name: c, currentCSV: x}]"}, true},
		"one of another name":                 {map[string]string{"about.yml": "packageName: p\nchannels: [{name: c, currentCSV: x}]"}, true},
		"one directory below":                 {map[string]string{"p/package.json": `{"packageName": "p", "channels": [{"name": "c", "currentCSV": "x"}]}`}, true},
		"below, under another name":           {map[string]string{"p/about.yaml": "packageName: p\nchannels: [{name: c, currentCSV: x}]"}, false},
		"a catalog":                           {map[string]string{"catalog.yaml": "schema: olm.package\nname: p\n", "p.package.yaml": "schema: olm.package\npackageName: p\nchannels: []"}, false},
		"an object of the Kubernetes API":     {map[string]string{"a.package.yaml": "kind: PackageManifest\npackageName: p\nchannels: []"}, false},
		"a file that is too large to be one":  {map[string]string{"a.package.yaml": "packageName: p\nchannels: []\n" + strings.Repeat("# more\n", maxManifest)}, false},
		"nothing":                             {nil, false},
		"one that is meant to be one, broken": {map[string]string{"p.package.yaml": "packageName: p\nchannels: []"}, true},
		"one whose channels are misspelt":     {map[string]string{"p.package.yaml": "packageName: p\nchanels: []"}, true},
		"one without the name of the package": {map[string]string{"package.yaml": "channels: []"}, true},
		"half of one under another name":      {map[string]string{"about.yaml": "packageName: p"}, false},
		"text that is not YAML":               {map[string]string{"p.package.yaml": "{"}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "Is(tree(test.files))", Is(tree(test.files)), test.want)
		})
	}
}

func TestRefused(t *testing.T) {
	with := func(changes map[string]string) map[string]string {
		files := nested()
		for name, text := range changes {
			files[name] = text
		}
		return files
	}
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"no package file":           {map[string]string{"csv.yaml": manifestCSV("p.v1", "1.0.0", "")}, "there is no package file"},
		"a name twice":              {with(map[string]string{"1.3.0/csv.yaml": manifestCSV("p.v1.0.0", "1.0.1", "")}), "1.0.0/csv.yaml is called p.v1.0.0, too"},
		"a manifest that is broken": {with(map[string]string{"1.0.0/csv.yaml": "apiVersion: v1\nkind: ClusterServiceVersion\nmetadata: {name: x}\nspec: {version: one}\n"}), "1.0.0/csv.yaml: load bundle"},
		"directories without end":   {with(map[string]string{strings.Repeat("d/", maxDepth+1) + "x.yaml": "a: b"}), "directories deep"},
		"a file that is too large":  {with(map[string]string{"1.0.0/large.yaml": strings.Repeat("#", maxFile+1)}), "1.0.0/large.yaml: it is too large"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := Convert(t.Context(), tree(test.files))
			must.Fail(t, "Convert", err, test.want)
		})
	}
}

func TestACycleOfReplacesEnds(t *testing.T) {
	c, _, err := Convert(t.Context(), tree(map[string]string{
		"p.package.yaml": "packageName: p\nchannels: [{name: c, currentCSV: p.v2}]\n",
		"1/csv.yaml":     manifestCSV("p.v1", "1.0.0", "  replaces: p.v2\n"),
		"2/csv.yaml":     manifestCSV("p.v2", "2.0.0", "  replaces: p.v1\n"),
	}))
	if err != nil || len(c.Channels[0].Entries) != 2 || catalog.Validate(c).Err() == nil {
		t.Errorf("catalog %v, error %v: the cycle is for validation to find", c, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Convert(ctx, tree(nested())); err == nil {
		t.Error("it went on")
	}
}

// many is a directory with more entries than anyone needs.
type many struct{ fs.FS }

func (m many) ReadDir(string) ([]fs.DirEntry, error) {
	entries := make([]fs.DirEntry, maxEntries+1)
	for i := range entries {
		entries[i] = fs.FileInfoToDirEntry(info(fmt.Sprintf("%d.package.yaml", i)))
	}
	return entries, nil
}

type info string

func (i info) Name() string     { return string(i) }
func (info) Size() int64        { return 0 }
func (info) Mode() fs.FileMode  { return 0 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

func TestDirectoriesWithoutEndAreNotSearched(t *testing.T) {
	if Is(many{fstest.MapFS{}}) {
		t.Error("is one")
	}
}
