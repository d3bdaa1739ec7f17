package graph

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// TestAgreesWithTheResolver demands that the hops of v0 are what the resolver
// of Subscriptions decides, wherever dependencies play no part.
func TestAgreesWithTheResolver(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	hops := 0
	for range 800 {
		seed := make([]byte, 100)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		g := genes(seed)
		hops += agree(t, randomCatalog(&g))
	}
	if hops < 500 {
		t.Errorf("only %d upgrades were compared", hops)
	}
}

// TestAgreesOnPublicCatalogs does so for what people publish.
func TestAgreesOnPublicCatalogs(t *testing.T) {
	c := publicCatalog(t, small)
	for i := range c.Bundles { // dependencies and conflicts are not what is compared
		var kept []catalog.Property
		for _, p := range c.Bundles[i].Properties {
			if p.Type == catalog.PropertyPackage || p.Type == catalog.PropertyDeprecated {
				kept = append(kept, p)
			}
		}
		c.Bundles[i].Properties, c.Bundles[i].Payloads = kept, nil
	}
	if hops := agree(t, c); hops < 500 {
		t.Errorf("only %d upgrades were compared", hops)
	}
}

// agree compares the next upgrade from every bundle, in every channel of its
// package and in all of them, and returns how many there are.
func agree(t *testing.T, c *catalog.Catalog) (upgrades int) {
	t.Helper()
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	for _, n := range networks(c) {
		scopes := []scope{scopeOf(n.channels...)}
		for _, channel := range n.channels {
			if !channel.repeated {
				scopes = append(scopes, scopeOf(channel))
			}
		}
		for i, s := range scopes {
			channel := ""
			if i > 0 {
				channel = s.list[0].name
			}
			hops := s.hopsV0(n.order)
			for _, v := range n.order {
				if !v.usable || s.first(v) == nil || v.forbidden {
					continue
				}
				if _, served := x.Bundle(n.name, v.name); !served && len(v.version.Release) > len(written(v).Build) {
					continue // its release is nowhere to be seen
				}
				got := ""
				if next := hops.from(v); next != nil {
					got = next.node.name
					upgrades++
				}
				if want := decide(t, x, n.name, channel, v); got != want {
					t.Errorf("from %s of package %s in channel %q: graph says %q, the resolver %q", v.name, n.name, channel, got, want)
				}
			}
		}
	}
	return upgrades
}

// written is a version as a ClusterServiceVersion has it: a release that is no build metadata is not in it.
func written(v *node) semver.Version {
	for _, p := range v.bundle.Properties {
		var value struct{ Version string }
		if p.Type == catalog.PropertyPackage && json.Unmarshal(p.Value, &value) == nil {
			if read, err := version.Parse(value.Version); err == nil {
				return read
			}
		}
	}
	return v.version.Version
}

// decide asks the resolver for the next version.
func decide(t *testing.T, x *catalog.Index, pkg, channel string, installed *node) string {
	t.Helper()
	ref := catalog.Ref{Namespace: "olm", Name: "catalog"}
	result := must.Value(resolution.Namespace(context.Background(), resolution.NamespaceRequest{
		Namespace:     "apps",
		Sources:       []resolution.Source{{Ref: ref, Index: x}},
		Subscriptions: []resolution.Subscription{{Name: "s", Package: pkg, Channel: channel, Catalog: ref, Installed: installed.name}},
		Operators:     []resolution.Operator{{Name: installed.name, Package: pkg, Version: written(installed), Settled: true}},
	}))(t)
	for _, g := range result.Groups {
		if g.Err != nil {
			return "" // nothing of the package can be used
		}
		for _, choice := range g.Choices {
			return choice.Bundle.Name
		}
	}
	return ""
}
