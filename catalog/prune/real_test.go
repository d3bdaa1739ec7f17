package prune

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
)

// paths are the rules about ways that a part of a sound graph must not break
// anew.
var paths = []catalog.Rule{
	graph.RuleHeadUnreachable, graph.RuleVersionStuck, graph.RuleUpgradeLoop, graph.RuleInstalledStuck,
	catalog.RuleChannelHead, catalog.RuleChannelCycle, catalog.RuleChannelStranded, catalog.RuleEntryWithoutBundle,
}

// broken are the findings about paths of a catalog.
func broken(c *catalog.Catalog, installed []graph.Installed) map[string]bool {
	found := map[string]bool{}
	for _, f := range graph.Check(c, graph.Options{Installed: installed}) {
		if slices.Contains(paths, f.Rule) && f.Severity != graph.Info {
			found[fmt.Sprint(f.Rule, f.Object, f.Semantics)] = true
		}
	}
	return found
}

// checkReal prunes and checks what is promised.
func checkReal(t *testing.T, c *catalog.Catalog, source *catalog.Index, before map[string]bool, opts Options) {
	t.Helper()
	out, report, err := Prune(c, opts)
	if err != nil {
		t.Errorf("%+v: %v", opts, err)
		return
	}
	promises{t: t, source: source, result: index(t, out), opts: opts, report: report}.all()
	for finding := range broken(out, opts.Installed) {
		if strings.HasPrefix(finding, string(graph.RuleHeadUnreachable)) && !slices.ContainsFunc(opts.Packages, func(s Selection) bool { return s.HeadsOnly }) {
			continue // the end of a chain, which may be what is kept, has no edges
		}
		if !before[finding] {
			t.Errorf("%+v: the result has a fault that its source does not have: %s", opts, finding)
		}
	}
}

// TestRealCatalogs prunes packages of the public catalogs to their heads, to a
// range of versions, and to what may be installed.
func TestRealCatalogs(t *testing.T) {
	for archive, every := range map[string]int{publicdata.OwnCatalog: 2, publicdata.FullCatalog: 8} {
		t.Run(archive, func(t *testing.T) {
			if testing.Short() && archive == publicdata.FullCatalog {
				t.Skip("the archive is large")
			}
			// Load every so manieth file of an archive of public catalogs, which have one for each package; all of them in a sweep.
			dir := t.TempDir()
			files := 0
			publicdata.Each(t, archive, func(name string, content func() []byte) {
				if files++; files%every != 0 && !sweep.Whole() {
					return
				}
				file := filepath.Join(dir, filepath.FromSlash(name))
				must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				must.NoError(t, os.WriteFile(file, content(), 0o644))
			})
			c := must.Value(catalog.Load(context.Background(), os.DirFS(dir), catalog.LoadOptions{}))(t)
			source := index(t, c)
			pkgs := source.PackageNames()
			everything := broken(c, nil)
			for _, name := range pkgs {
				pkg, _ := source.Package(name)
				part := only(c, name)
				within := index(t, part)
				checkReal(t, part, within, everything, Options{Packages: []Selection{{Package: name, HeadsOnly: true}}})
				for _, ch := range pkg.Channels {
					if archive == publicdata.FullCatalog && ch != pkg.Channels[len(pkg.Channels)-1] {
						continue
					}
					checkReal(t, part, within, everything, Options{Packages: []Selection{{Package: name, Channels: []string{ch.Name}, HeadsOnly: true}}, DefaultChannels: map[string]string{name: ch.Name}})
				}
				v := pkg.Channels[0].Entries[len(pkg.Channels[0].Entries)/2].Bundle.Version.Version
				v.Pre, v.Build = nil, nil
				for _, text := range []string{">=" + v.String(), fmt.Sprintf("<=%s || %d.%d.x", v, v.Major, v.Minor)} {
					versions := mustRange(text)
					if slices.ContainsFunc(pkg.Channels[0].Entries, Selection{Versions: versions}.matches) {
						checkReal(t, part, within, everything, Options{Packages: []Selection{{Package: name, Versions: versions}}})
					}
				}
				for i, e := range pkg.Channels[len(pkg.Channels)-1].Entries {
					if archive == publicdata.FullCatalog && i != len(pkg.Channels[0].Entries)/2 || !sweep.Whole() && i%4 != 0 {
						continue
					}
					installed := []graph.Installed{{Package: name, Version: e.Name}}
					before := broken(part, installed)
					checkReal(t, part, within, before, Options{Installed: installed})
					checkReal(t, part, within, before, Options{Packages: []Selection{{Package: name, HeadsOnly: true}}, Installed: installed})
				}
			}
			heads := Options{}
			for _, name := range pkgs {
				heads.Packages = append(heads.Packages, Selection{Package: name, HeadsOnly: true})
			}
			checkReal(t, c, source, everything, heads)
			checkReal(t, c, source, everything, Options{Packages: []Selection{{Package: pkgs[0]}, {Package: pkgs[len(pkgs)/2]}, {Package: pkgs[len(pkgs)-1]}}})
		})
	}
}

// only is the part of a catalog that is about a package.
func only(c *catalog.Catalog, name string) *catalog.Catalog {
	out := &catalog.Catalog{}
	for _, o := range c.Packages {
		if o.Name == name {
			out.Packages = append(out.Packages, o)
		}
	}
	for _, o := range c.Channels {
		if o.Package == name {
			out.Channels = append(out.Channels, o)
		}
	}
	for _, o := range c.Bundles {
		if o.Package == name {
			out.Bundles = append(out.Bundles, o)
		}
	}
	for _, o := range c.Deprecations {
		if o.Package == name {
			out.Deprecations = append(out.Deprecations, o)
		}
	}
	return out
}
