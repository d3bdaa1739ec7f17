package resolution

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// TestAgreesWithTheGraph demands that upgrades, one after the other, go where package graph says that those of v1 do, wherever
// dependencies play no part.
func TestAgreesWithTheGraph(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	upgrades := 0
	for range 300 {
		upgrades += agree(t, withoutNeeds(randomCatalog(random)), 1)
	}
	if upgrades < 500 {
		t.Errorf("only %d upgrades were compared", upgrades)
	}
}

// TestAgreesOnPublicCatalogs does so for what people publish.
func TestAgreesOnPublicCatalogs(t *testing.T) {
	dir := t.TempDir()
	publicdata.Each(t, publicdata.OwnCatalog, func(name string, content func() []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, content(), 0o644))
	})
	c := must.Value(catalog.Load(t.Context(), os.DirFS(dir), catalog.LoadOptions{}))(t)
	if upgrades := agree(t, withoutNeeds(c), 7); upgrades < 500 {
		t.Errorf("only %d upgrades were compared", upgrades)
	}
}

func withoutNeeds(c *catalog.Catalog) *catalog.Catalog {
	for i := range c.Bundles {
		c.Bundles[i].Payloads = nil
		c.Bundles[i].Properties = slices.DeleteFunc(c.Bundles[i].Properties, func(p catalog.Property) bool { return p.Type != catalog.PropertyPackage })
	}
	return c
}

// agree follows one of so many bundles of each package, in every channel and in all of them, and returns how many upgrades were compared.
func agree(t *testing.T, c *catalog.Catalog, oneOf int) (upgrades int) {
	t.Helper()
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	for _, name := range x.PackageNames() {
		p, _ := x.Package(name)
		scopes := [][]string{nil}
		for _, channel := range p.Channels {
			scopes = append(scopes, []string{channel.Name})
		}
		// Whether all channels of a package are served.
		count := 0
		for _, channel := range c.Channels {
			if channel.Package == p.Name {
				count++
			}
		}
		if !(count == len(p.Channels)) {
			scopes = scopes[1:] // what is broken is not served, and the graph counts it
		}
		for _, scope := range scopes {
			for i, bundle := range extensionBundlesOf(p) {
				if i%oneOf == oneOf-1 {
					upgrades += agreeFrom(t, c, x, scope, bundle)
				}
			}
		}
	}
	return upgrades
}

func extensionBundlesOf(p *catalog.PackageInfo) (all []*catalog.BundleInfo) {
	for _, channel := range p.Channels {
		for _, e := range channel.Entries {
			if !slices.Contains(all, e.Bundle) {
				all = append(all, e.Bundle)
			}
		}
	}
	return all
}

func agreeFrom(t *testing.T, c *catalog.Catalog, x *catalog.Index, channels []string, from *catalog.BundleInfo) (upgrades int) {
	t.Helper()
	q := graph.Query{Package: from.Package, From: from.Name}
	in := ExtensionRequest{Name: "my", Package: from.Package, Channels: channels, Catalogs: []Catalog{{Name: "cat", Index: x}}}
	if channels != nil {
		q.Channel = channels[0]
	}
	journey := must.Value(graph.Path(c, q))(t)
	var want []string
	for _, hop := range journey.V1.Hops {
		want = append(want, hop.To.Name)
	}
	var got []string
	for at := from; len(got) <= len(want); {
		in.Installed = &Installed{Name: at.Name, Version: at.Version}
		result, err := Extension(t.Context(), in)
		if err != nil || result.Change == ChangeStay {
			break
		}
		at = result.Bundle
		got = append(got, at.Name)
	}
	if len(got) > len(want) && slices.Contains(append(got[:len(want):len(want)], from.Name), got[len(want)]) {
		got = got[:len(want)] // the graph stops where a version comes up again
	}
	if !slices.Equal(got, want) {
		t.Errorf("from %s of package %s in channels %v: the graph goes %v, the resolver %v", from.Name, from.Package, channels, want, got)
	}
	return len(got)
}
