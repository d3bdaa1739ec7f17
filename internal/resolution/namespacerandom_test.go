package resolution

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// dice hands out numbers from bytes; zeros when they are used up.
type dice []byte

func (d *dice) below(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

func (d *dice) one(in int) bool { return d.below(in) == in-1 }

const randomPackages = 5

func (d *dice) api() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"group":"g","version":"v1","kind":"K%d"}`, d.below(randomPackages+2)))
}

func (d *dice) requirement() json.RawMessage {
	ranges := []string{">=1.0.0", ">=2.0.0", "<2.0.0", "<3.0.0", ">=4.0.0"}
	return json.RawMessage(fmt.Sprintf(`{"packageName":"p%d","versionRange":%q}`, d.below(randomPackages+1), ranges[d.below(len(ranges))]))
}

func (d *dice) properties(pkg string, i, v int) []catalog.Property {
	ps := []catalog.Property{{Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":%q,"version":"%d.0.0"}`, pkg, v))}}
	if !d.one(5) {
		ps = append(ps, catalog.Property{Type: catalog.PropertyGVK, Value: json.RawMessage(fmt.Sprintf(`{"group":"g","version":"v1","kind":"K%d"}`, i))})
	}
	if d.one(4) {
		ps = append(ps, catalog.Property{Type: catalog.PropertyGVK, Value: d.api()})
	}
	if d.one(3) {
		ps = append(ps, catalog.Property{Type: catalog.PropertyGVKRequired, Value: d.api()})
	}
	if d.one(6) {
		ps = append(ps, catalog.Property{Type: catalog.PropertyPackageRequired, Value: d.requirement()})
	}
	if d.one(8) {
		ps = append(ps, catalog.Property{Type: catalog.PropertyDeprecated, Value: json.RawMessage(`{}`)})
	}
	if d.one(6) {
		leaf := func() string {
			return []string{fmt.Sprintf(`{"gvk":%s}`, d.api()), fmt.Sprintf(`{"package":%s}`, d.requirement())}[d.below(2)]
		}
		op := func() string { return []string{"all", "any", "not"}[d.below(3)] }
		ps = append(ps, catalog.Property{Type: catalog.PropertyConstraint, Value: json.RawMessage(listOf(op(), leaf(), listOf(op(), leaf(), leaf())))})
	}
	return ps
}

// catalog makes packages with channels that have chains, skips and skipRanges.
func (d *dice) catalog(t testing.TB, name string, extra bool) *catalog.Index {
	t.Helper()
	c := &catalog.Catalog{}
	count := 1 + d.below(randomPackages)
	for i := range count {
		pkg := fmt.Sprintf("p%d", i)
		c.Packages = append(c.Packages, catalog.Package{Schema: catalog.SchemaPackage, Name: pkg, DefaultChannel: "stable"})
		versions := 1 + d.below(4)
		for _, ch := range []string{"stable", "fast"}[:1+d.below(2)] {
			channel := catalog.Channel{Schema: catalog.SchemaChannel, Name: ch, Package: pkg}
			for v := 1; v <= versions; v++ {
				e := catalog.Entry{Name: fmt.Sprintf("%s.v%d.0.0", pkg, v)}
				if v > 1 {
					e.Replaces = channel.Entries[v-2].Name
				}
				if v > 2 && d.one(4) {
					e.Skips = []string{channel.Entries[v-3].Name}
				}
				if d.one(5) {
					e.SkipRange = fmt.Sprintf("<%d.0.0", v)
				}
				channel.Entries = append(channel.Entries, e)
			}
			c.Channels = append(c.Channels, channel)
		}
		for v := 1; v <= versions; v++ {
			c.Bundles = append(c.Bundles, catalog.Bundle{Schema: catalog.SchemaBundle, Name: fmt.Sprintf("%s.v%d.0.0", pkg, v), Package: pkg,
				Image: "registry.example.com/x:y", Properties: d.properties(pkg, i, v)})
		}
	}
	if extra {
		generatedPackage(c, 999, 2)
	}
	x := must.Value(catalog.NewIndex(c, "sha256:"+name))(t)
	return x
}

// randomNamespace makes a namespace of any bytes: Subscriptions, operators with and without, and two catalogs, to which extra adds a
// package that has nothing to do with any other.
func randomNamespace(t testing.TB, data []byte, extra bool) NamespaceRequest {
	t.Helper()
	d := dice(data)
	in := NamespaceRequest{Namespace: "ns", AnyCatalog: d.one(8), Together: d.one(8)}
	refs := []catalog.Ref{{Namespace: "olm", Name: "first"}, {Namespace: "ns", Name: "second"}}
	for _, ref := range refs {
		s := Source{Ref: ref, Priority: d.below(2)}
		if d.one(10) {
			s.Problem = "refused"
		} else {
			s.Index = d.catalog(t, ref.Name, extra)
		}
		in.Sources = append(in.Sources, s)
	}
	for i := range randomPackages {
		pkg := fmt.Sprintf("p%d", i)
		s := Subscription{Name: "s-" + pkg, Package: pkg, Channel: []string{"stable", "", "fast"}[d.below(3)], Catalog: refs[d.below(2)]}
		what := d.below(5) // 0: nothing, 1: asked for, 2: installed, 3: an orphan, 4: recreated
		if what == 1 && d.one(4) {
			s.StartingCSV = pkg + ".v1.0.0"
		}
		if what >= 2 {
			if o, ok := d.operator(in, pkg); ok {
				in.Operators = append(in.Operators, o)
				if what == 2 {
					s.Installed = o.Name
				}
			}
		}
		if what != 0 && what != 3 {
			in.Subscriptions = append(in.Subscriptions, s)
		}
	}
	return in
}

// operator makes an installed operator of what some catalog has, or of something that none has.
func (d *dice) operator(in NamespaceRequest, pkg string) (Operator, bool) {
	v := fmt.Sprintf("%d.0.0", 1+d.below(3))
	o := Operator{Name: pkg + ".v" + v, Package: pkg, Version: semver.MustParse(v), Settled: !d.one(6)}
	for _, s := range in.Sources {
		if s.Index == nil || d.one(3) {
			continue
		}
		if b, ok := s.Index.Bundle(pkg, o.Name); ok {
			o.Provides, o.Requires, o.Properties = b.Provides, b.Requires, b.Properties
			for _, p := range b.RequiredPackages {
				o.Packages = append(o.Packages, PackageRequirement{Package: p.PackageName, Range: p.Range})
			}
			return o, true
		}
	}
	all, err := version.ParseRange(">=0.0.0")
	if err != nil {
		return o, false
	}
	o.Packages = []PackageRequirement{{Package: fmt.Sprintf("p%d", d.below(randomPackages)), Range: all}}
	return o, !slices.ContainsFunc(o.Packages, func(p PackageRequirement) bool { return p.Package == pkg })
}
