package resolution

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
)

// tied is a namespace in which nothing but the written rules orders anything: three catalogs of one priority have the same packages, of
// which each three provide the same API, and every Subscription, to a fourth catalog, needs one of these. Operators that nobody asked for are
// there, too.
func tied(t testing.TB, rnd *rand.Rand) NamespaceRequest {
	t.Helper()
	in := NamespaceRequest{Namespace: "ns"}
	for _, name := range []string{"x", "y", "z", "apps"} {
		c := &catalog.Catalog{}
		if name == "apps" {
			for i := range 6 { // their own APIs are nobody else's
				generatedPackage(c, i, 2, catalog.Property{Type: catalog.PropertyGVKRequired, Value: generatedAPI(100 + i%3)})
			}
		} else {
			for i := range 9 { // the APIs of three each are the same
				generatedPackage(c, 100+i, 2)
				for k := range 2 {
					c.Bundles[2*i+k].Properties[1].Value = generatedAPI(100 + i/3)
				}
			}
		}
		rnd.Shuffle(len(c.Packages), func(i, j int) { c.Packages[i], c.Packages[j] = c.Packages[j], c.Packages[i] })
		rnd.Shuffle(len(c.Channels), func(i, j int) { c.Channels[i], c.Channels[j] = c.Channels[j], c.Channels[i] })
		rnd.Shuffle(len(c.Bundles), func(i, j int) { c.Bundles[i], c.Bundles[j] = c.Bundles[j], c.Bundles[i] })
		x := must.Value(catalog.NewIndex(c, "sha256:"+name))(t)
		in.Sources = append(in.Sources, Source{Ref: catalog.Ref{Namespace: "olm", Name: name}, Index: x})
	}
	for i := range 6 {
		in.Subscriptions = append(in.Subscriptions, Subscription{Name: fmt.Sprint("s", i), Package: fmt.Sprintf("package%03d", i), Catalog: in.Sources[3].Ref})
	}
	for i := range 4 {
		in.Operators = append(in.Operators, Operator{Name: fmt.Sprint("orphan.v", i), Package: fmt.Sprintf("orphan%d", i%3), Version: semver.MustParse("1.0.0"), Settled: true})
	}
	return in
}

// TestShufflesGiveOneAnswer decides on one namespace full of ties in 500 different orders of what is listed; for one in 50 the catalogs are
// read again, their objects in another order, too. Package resolve has 10,000 orders of what problems are made of.
func TestShufflesGiveOneAnswer(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	in := tied(t, rnd)
	want := decided(t, in)
	seen := map[string]bool{}
	for len(seen) < 500 {
		if len(seen)%50 == 0 {
			in = tied(t, rnd)
		}
		again := shuffled(in)
		order := ""
		for _, s := range again.Subscriptions {
			order += s.Name
		}
		for _, o := range again.Operators {
			order += o.Name
		}
		for _, s := range again.Sources {
			order += s.Ref.Name
		}
		if seen[order] {
			continue
		}
		seen[order] = true
		if got := decided(t, again); got != want {
			t.Fatalf("the order shows in the answer:\n%s", cmp.Diff(want, got))
		}
	}
}
