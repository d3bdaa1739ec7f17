package graph

import (
	"errors"
	"math/rand/v2"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"
)

// TestAgreesWithTheResolverV1 demands that the hops of v1 are what the resolver of ClusterExtensions decides, wherever dependencies play no
// part: in channels with two heads and in other broken ones, too.
func TestAgreesWithTheResolverV1(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	hops, refused := 0, 0
	for range 800 {
		seed := make([]byte, 100)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		g := genes(seed)
		h, r := agreeV1(t, randomCatalog(&g))
		hops, refused = hops+h, refused+r
	}
	if hops < 500 || refused < 100 {
		t.Errorf("only %d upgrades were compared, %d of them by channels that v0 refuses", hops, refused)
	}
}

// agreeV1 compares the next upgrade from every bundle, in every channel of its package and in all of them, and returns how many there are,
// and how many of them are in channels that v0 refuses.
func agreeV1(t *testing.T, c *catalog.Catalog) (upgrades, refused int) {
	t.Helper()
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	for _, n := range networks(c) {
		if _, served := x.PackageV1(n.name); !served {
			continue
		}
		scopes := []scope{scopeOf(n.channels...)}
		for _, channel := range n.channels {
			scopes = append(scopes, scopeOf(n.named[channel.name]...))
		}
		for i, s := range scopes {
			in := resolution.ExtensionRequest{Name: "e", Package: n.name, Catalogs: []resolution.Catalog{{Name: "cat", Index: x}}}
			if i > 0 {
				in.Channels = []string{s.list[0].name}
			}
			hops := s.hopsV1(n.order, byDeprecation)
			for _, v := range n.order {
				if !v.usable || s.first(v) == nil {
					continue
				}
				in.Installed = &resolution.Installed{Name: v.name, Version: v.version}
				got := ""
				if next := hops.from(v); next != nil {
					got = next.node.name
					upgrades++
					if next.channel.refusal != "" {
						refused++
					}
				}
				if want := decideV1(t, in); got != want {
					t.Errorf("from %s of package %s in channels %v: graph says %q, the resolver %q", v.name, n.name, in.Channels, got, want)
				}
			}
		}
	}
	return upgrades, refused
}

// decideV1 asks the resolver for the next version; empty when what is installed stays.
func decideV1(t *testing.T, in resolution.ExtensionRequest) string {
	t.Helper()
	result, err := resolution.Extension(t.Context(), in)
	var conflict *resolution.Conflict
	switch {
	case errors.As(err, &conflict):
		return ""
	case err != nil:
		t.Fatal(err)
	case result.Bundle == nil || result.Change == resolution.ChangeStay:
		return ""
	}
	return result.Bundle.Name
}
