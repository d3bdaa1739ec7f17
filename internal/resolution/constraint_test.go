package resolution

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/test/must"
)

// palette is a catalog with two packages of two versions, and the package red, whose only bundle has a constraint.
func palette(t testing.TB, constraints ...json.RawMessage) NamespaceRequest {
	t.Helper()
	c := &catalog.Catalog{}
	add := func(pkg string, versions []string, properties ...catalog.Property) {
		c.Packages = append(c.Packages, catalog.Package{Schema: catalog.SchemaPackage, Name: pkg, DefaultChannel: "stable"})
		channel := catalog.Channel{Schema: catalog.SchemaChannel, Name: "stable", Package: pkg}
		for i, v := range versions {
			e := catalog.Entry{Name: pkg + ".v" + v}
			if i > 0 {
				e.Replaces = channel.Entries[i-1].Name
			}
			channel.Entries = append(channel.Entries, e)
			c.Bundles = append(c.Bundles, catalog.Bundle{Schema: catalog.SchemaBundle, Name: e.Name, Package: pkg, Image: "registry.example.com/" + pkg + ":" + v,
				Properties: append([]catalog.Property{
					{Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":%q,"version":%q}`, pkg, v))},
					{Type: catalog.PropertyGVK, Value: json.RawMessage(fmt.Sprintf(`{"group":"g","version":"v%c","kind":%q}`, v[0], pkg))},
				}, properties...)})
		}
		c.Channels = append(c.Channels, channel)
	}
	var own []catalog.Property
	for _, value := range constraints {
		own = append(own, catalog.Property{Type: catalog.PropertyConstraint, Value: value})
	}
	add("red", []string{"1.0.0"}, own...)
	add("blue", []string{"1.0.0", "2.0.0"}, catalog.Property{Type: "cold", Value: json.RawMessage(`true`)})
	add("green", []string{"1.0.0", "2.0.0"})
	x := must.Value(catalog.NewIndex(c, "sha256:palette"))(t)
	ref := catalog.Ref{Namespace: "olm", Name: "palette"}
	return NamespaceRequest{Namespace: "ns", Sources: []Source{{Ref: ref, Index: x}},
		Subscriptions: []Subscription{{Name: "red", Package: "red", Channel: "stable", Catalog: ref}}}
}

// holds decides whether a constraint of a bundle holds for a set of others: a leaf by one of them or by the bundle itself, all, any and not
// by the set. What is not to be there is about the others alone, whose absence the bundle asks for.
func holds(c constraint.Constraint, own *catalog.BundleInfo, set []*catalog.BundleInfo, unwanted bool) bool {
	one := func(meets func(*catalog.BundleInfo) bool) bool {
		return slices.ContainsFunc(set, meets) || !unwanted && meets(own)
	}
	part := func(part constraint.Constraint) bool { return holds(part, own, set, unwanted != (c.Not != nil)) }
	switch {
	case c.CEL != nil:
		return one(func(b *catalog.BundleInfo) bool { return c.CEL.Meets(b.Properties) })
	case c.Package != nil:
		return one(func(b *catalog.BundleInfo) bool {
			return b.Package == c.Package.Name && c.Package.Range.Contains(b.Version.Version)
		})
	case c.GVK != nil:
		return one(func(b *catalog.BundleInfo) bool { return slices.Contains(b.Provides, *c.GVK) })
	case c.All != nil:
		return !slices.ContainsFunc(c.All, func(c constraint.Constraint) bool { return !part(c) })
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, part)
	}
	return !slices.ContainsFunc(c.Not, part)
}

// checkConstraint decides on a bundle with a constraint and compares with trying every set of other bundles.
func checkConstraint(t *testing.T, value json.RawMessage) {
	t.Helper()
	c, err := constraint.Parse(value)
	if err != nil || len(value) > constraint.MaxSize {
		return
	}
	in := palette(t, value)
	result := must.Value(Namespace(context.Background(), in))(t)
	own, _ := in.Sources[0].Index.Bundle("red", "red.v1.0.0")
	g := result.Groups[0]
	if g.Err == nil {
		var set []*catalog.BundleInfo
		for _, choice := range g.Choices {
			if choice.Bundle.Package != "red" {
				set = append(set, choice.Bundle)
			}
		}
		if !holds(*c, own, set, false) {
			var out []string
			for _, c := range g.Choices {
				out = append(out, c.Bundle.Name)
			}
			t.Fatalf("%s does not hold in the answer %v", value, out)
		}
		return
	}
	options := [][]*catalog.BundleInfo{{nil}, {nil}}
	for i, pkg := range []string{"blue", "green"} {
		options[i] = append(options[i], bundlesOf(in.Sources[0].Index, pkg)...)
	}
	for _, blue := range options[0] {
		for _, green := range options[1] {
			set := slices.DeleteFunc([]*catalog.BundleInfo{blue, green}, func(b *catalog.BundleInfo) bool { return b == nil })
			if holds(*c, own, set, false) {
				t.Fatalf("%s holds with %v and %v, but: %v", value, blue, green, g.Err)
			}
		}
	}
}

const (
	wantsBlue  = `{"gvk":{"group":"g","version":"v2","kind":"blue"}}`
	wantsGreen = `{"package":{"packageName":"green","versionRange":"<2.0.0"}}`
	wantsCold  = `{"cel":{"rule":"properties.exists(p, p.type == 'cold')"}}`
	wantsRed   = `{"gvk":{"group":"g","version":"v1","kind":"red"}}`
	wantsMoon  = `{"package":{"packageName":"moon","versionRange":">=0.0.0"}}`
)

func listOf(op string, parts ...string) string {
	return fmt.Sprintf(`{%q:{"constraints":[%s]}}`, op, strings.Join(parts, ","))
}

func TestConstraintsHoldInTheAnswer(t *testing.T) {
	leaves := []string{wantsBlue, wantsGreen, wantsCold, wantsMoon, wantsRed, listOf("all"), listOf("any"), listOf("not")}
	ops := []string{"all", "any", "not"}
	for _, outer := range ops {
		for _, inner := range ops {
			for _, a := range leaves {
				for _, b := range leaves {
					checkConstraint(t, json.RawMessage(listOf(outer, listOf(inner, a, b), listOf(inner, b))))
					checkConstraint(t, json.RawMessage(listOf(outer, a, listOf(inner, listOf("not", b), a))))
				}
			}
		}
	}
}

func FuzzConstraint(f *testing.F) {
	f.Add([]byte(`{"failureMessage":"m",` + listOf("all", wantsBlue, wantsGreen)[1:]))
	f.Add([]byte(listOf("not", wantsCold)))
	f.Add([]byte(listOf("any", listOf("all", wantsBlue, listOf("not", wantsGreen)), wantsMoon)))
	f.Fuzz(func(t *testing.T, value []byte) {
		if json.Valid(value) {
			checkConstraint(t, value)
		}
	})
}

func TestConstraintSize(t *testing.T) {
	fill := func(size int) json.RawMessage {
		empty := `{"failureMessage":"","package":{"packageName":"blue","versionRange":">=1.0.0"}}`
		return json.RawMessage(strings.Replace(empty, `""`, `"`+strings.Repeat("x", size-len(empty))+`"`, 1))
	}
	for name, test := range map[string]struct {
		size int
		ok   bool
	}{"64 KiB": {64 << 10, true}, "one byte more": {64<<10 + 1, false}} {
		t.Run(name, func(t *testing.T) {
			result := must.Value(Namespace(context.Background(), palette(t, fill(test.size))))(t)
			switch err := result.Groups[0].Err; {
			case test.ok && err != nil:
				t.Error(err)
			case !test.ok && (err == nil || !strings.Contains(err.Error(), "greater than max constraint size 65536 bytes")):
				t.Errorf("error %v, want one about the size", err)
			}
		})
	}
}

// TestRuleThatCostsTooMuch has a rule that costs a lot on every bundle: it is given up, with a word about it, long before it has been
// asked of all of them.
func TestRuleThatCostsTooMuch(t *testing.T) {
	var k rulebook
	rule := must.Value(constraint.Compile(`properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, properties.all(f, a == a))))))`))(t)
	c := k.condition(rule, "p")
	properties := make([]catalog.Property, 12)
	for i := range properties {
		properties[i] = catalog.Property{Type: "x", Value: json.RawMessage(`1`)}
	}
	for range 10_000 {
		if c.meets(&node{bundle: &catalog.BundleInfo{Properties: properties}}) {
			t.Fatal("the rule ended within its limit: it shows nothing")
		}
	}
	if k.costs.all > 2*maxRuleCost || c.tooDear().pkg != "p" {
		t.Errorf("a rule that costs its limit took %d, and says %+v", k.costs.all, c.tooDear())
	}
}
