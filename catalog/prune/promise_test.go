package prune

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
	"fairlead.dev/fairlead/version"
)

// TestPromises prunes random catalogs with random options and checks all that
// is promised.
func TestPromises(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	valid, pruned, runs := 0, 0, 2_000
	if sweep.Whole() {
		runs = 20_000
	}
	for range runs {
		c := randomCatalog(r)
		if catalog.Validate(c).Err() != nil {
			continue
		}
		valid++
		opts := randomOptions(r, c)
		before := text(t, c)
		out, report, err := Prune(c, opts)
		if !bytes.Equal(before, text(t, c)) {
			t.Fatal("the source was changed")
		}
		if err != nil {
			continue
		}
		pruned++
		check := promises{t: t, source: index(t, c), result: index(t, out), opts: opts, report: report}
		check.all()
		again, _, err := Prune(c, opts)
		if err != nil || !bytes.Equal(text(t, out), text(t, again)) {
			t.Errorf("another result the second time (%v)", err)
		}
		if t.Failed() {
			var b bytes.Buffer
			_ = report.Write(&b)
			t.Fatalf("source:\n%s\noptions: %+v\nreport:\n%s\nresult:\n%s", before, opts, b.Bytes(), text(t, out))
		}
	}
	if valid < runs/8 || pruned < valid/2 {
		t.Errorf("of %d catalogs only %d were valid, and %d pruned", runs, valid, pruned)
	}
}

func text(t testing.TB, c *catalog.Catalog) []byte {
	t.Helper()
	var b bytes.Buffer
	must.NoError(t, catalog.WriteYAML(&b, c))
	return b.Bytes()
}

func index(t testing.TB, c *catalog.Catalog) *catalog.Index {
	t.Helper()
	if err := catalog.Validate(c).Err(); err != nil {
		t.Error(err)
	}
	x := must.Value(catalog.NewIndex(c, ""))(t)
	return x
}

// promises holds a result against its source.
type promises struct {
	t              testing.TB
	source, result *catalog.Index
	opts           Options
	report         *Report
}

func (p promises) all() {
	for _, name := range p.result.PackageNames() {
		old, _ := p.source.Package(name)
		now, _ := p.result.Package(name)
		for _, c := range now.Channels {
			before, ok := old.Channel(c.Name)
			if !ok {
				p.t.Errorf("channel %s of %s is new", c.Name, name)
				continue
			}
			p.sameJudgements(before, c)
			for _, e := range c.Entries {
				if arrives(before, e.Name, e.Bundle.Version, true) && !arrives(c, e.Name, e.Bundle.Version, true) {
					p.t.Errorf("%s of channel %s has lost its way to the head", e.Name, c.Name)
				}
			}
		}
	}
	for _, s := range p.opts.Packages {
		p.selected(s)
	}
	p.installed()
	if !p.opts.WithoutDependencies {
		p.dependencies()
	}
	p.reported()
}

// sameJudgements: what is kept is unchanged, and on the chain or skipped as it
// was; the chain is a part of the chain without a gap.
func (p promises) sameJudgements(before, now *catalog.ChannelInfo) {
	var was, is []string
	for _, e := range before.Entries {
		if e.InChain {
			was = append(was, e.Name)
		}
	}
	for _, e := range now.Entries {
		if e.InChain {
			is = append(is, e.Name)
		}
		old, ok := before.Entry(e.Name)
		if !ok || old.InChain != e.InChain || old.Skipped != e.Skipped || old.Replaces != e.Replaces || !reflect.DeepEqual(old.Skips, e.Skips) || old.SkipRange.String() != e.SkipRange.String() {
			p.t.Errorf("entry %s of channel %s was %+v and is %+v", e.Name, now.Name, old, e)
		}
	}
	from := slices.Index(was, is[0])
	if from < 0 || from+len(is) > len(was) || !slices.Equal(was[from:from+len(is)], is) {
		p.t.Errorf("the chain of channel %s was %v and is %v", now.Name, was, is)
	}
}

// arrives tells whether hop by hop, as a Subscription goes, a version comes to
// the head of the channel.
func arrives(c *catalog.ChannelInfo, name string, v version.VersionRelease, known bool) bool {
	for range len(c.Entries) + 1 {
		if name == c.Head {
			return true
		}
		i := slices.IndexFunc(c.Entries, func(e *catalog.EntryInfo) bool {
			return e.InChain && e.Name != name && (e.Replaces == name || slices.Contains(e.Skips, name) || known && e.SkipRange.Contains(v.Version))
		})
		if i < 0 {
			return false
		}
		name, v, known = c.Entries[i].Name, c.Entries[i].Bundle.Version, true
	}
	return false
}

// selected: all that is on a chain and selected is kept; of HeadsOnly the first.
func (p promises) selected(s Selection) {
	old, _ := p.source.Package(s.Package)
	now, ok := p.result.Package(s.Package)
	if !ok {
		p.t.Errorf("package %s is selected and not kept", s.Package)
		return
	}
	for _, before := range old.Channels {
		if !s.has(before.Name) {
			continue
		}
		for _, e := range before.Entries {
			if !s.matches(e) || !e.InChain {
				continue
			}
			c, ok := now.Channel(before.Name)
			if ok {
				_, ok = c.Entry(e.Name)
			}
			if !ok {
				p.t.Errorf("%s of channel %s is selected and not kept", e.Name, before.Name)
			}
			if s.HeadsOnly {
				break
			}
		}
	}
}

// installed: an installed version is kept, and comes to the kept head wherever
// it came to the head.
func (p promises) installed() {
	for _, i := range p.opts.Installed {
		old, ok := p.source.Package(i.Package)
		if !ok {
			continue
		}
		now, ok := p.result.Package(i.Package)
		if !ok {
			p.t.Errorf("%s is installed and not kept", i)
			continue
		}
		name, v, known := i.Version, version.VersionRelease{}, false
		if parsed, err := version.Parse(i.Version); err == nil {
			name, v, known = i.Package+".v"+i.Version, version.VersionRelease{Version: parsed}, true
		}
		if b, ok := p.source.Bundle(i.Package, name); ok {
			v, known = b.Version, true
		}
		chosen := slices.ContainsFunc(p.opts.Packages, func(s Selection) bool { return s.Package == i.Package })
		for _, before := range old.Channels {
			followed := i.Channel == before.Name || i.Channel == "" && (!chosen || slices.ContainsFunc(p.opts.Packages, func(s Selection) bool {
				return s.Package == i.Package && s.has(before.Name) && slices.ContainsFunc(before.Entries, s.matches)
			}))
			_, listed := before.Entry(name)
			if !followed || !listed && !arrives(before, name, v, known) {
				continue
			}
			c, ok := now.Channel(before.Name)
			if !ok {
				p.t.Errorf("%s is installed, and channel %s is not kept", i, before.Name)
				continue
			}
			if _, ok := c.Entry(name); listed && !ok {
				p.t.Errorf("%s is installed and no entry of channel %s any more", i, before.Name)
			}
			if arrives(before, name, v, known) && !arrives(c, name, v, known) {
				p.t.Errorf("installed %s has lost its way in channel %s", i, before.Name)
			}
		}
	}
}

// dependencies: what could be met is met.
func (p promises) dependencies() {
	for _, name := range p.result.PackageNames() {
		pkg, _ := p.result.Package(name)
		for _, c := range pkg.Channels {
			for _, e := range c.Entries {
				all, untold := (&offers{constraints: map[string]readConstraint{}}).needs(e.Bundle)
				if len(untold) > 0 {
					p.t.Errorf("needs of %s: %v", e.Name, untold)
				}
				for _, n := range all {
					if meets(p.source, n) && !meets(p.result, n) {
						p.t.Errorf("%s requires %s, which is not kept", e.Name, n.text())
					}
				}
			}
		}
	}
}

// meets looks through the whole catalog for something that can be installed.
func meets(x *catalog.Index, n need) bool {
	switch {
	case n.Any != nil:
		return slices.ContainsFunc(n.choices(), func(part need) bool { return meets(x, part) })
	case n.All != nil:
		return !slices.ContainsFunc(n.parts(), func(part need) bool { return !meets(x, part) })
	}
	for _, name := range x.PackageNames() {
		pkg, _ := x.Package(name)
		for _, c := range pkg.Channels {
			for _, e := range c.Entries {
				if e.InChain && !e.Bundle.Deprecated && name != n.by && is(e.Bundle, n.Constraint) && !slices.ContainsFunc(n.without, func(c constraint.Constraint) bool { return is(e.Bundle, c) }) {
					return true
				}
			}
		}
	}
	return false
}

// is tells whether a bundle is what a constraint of one part asks for.
func is(b *catalog.BundleInfo, c constraint.Constraint) bool {
	switch {
	case c.GVK != nil:
		return slices.Contains(b.Provides, *c.GVK)
	case c.Package != nil:
		return b.Package == c.Package.Name && c.Package.Range.Contains(b.Version.Version)
	}
	return c.CEL.Meets(b.Properties)
}

// reported: the report agrees with the result.
func (p promises) reported() {
	var names []string
	for _, pkg := range p.report.Packages {
		names = append(names, pkg.Name)
		info, ok := p.result.Package(pkg.Name)
		if !ok || len(pkg.Why) == 0 || len(pkg.Channels) != len(info.Channels) || pkg.DefaultChannel != info.DefaultChannel {
			p.t.Errorf("the report says of package %s: %+v", pkg.Name, pkg)
			continue
		}
		for _, c := range pkg.Channels {
			channel, ok := info.Channel(c.Name)
			if !ok || channel.Head != c.Head || len(channel.Entries) != c.Entries || len(c.Why) == 0 {
				p.t.Errorf("the report says of channel %s of %s: %+v", c.Name, pkg.Name, c)
			}
		}
		for _, b := range pkg.Bundles {
			if _, ok := p.result.Bundle(pkg.Name, b.Name); !ok || len(b.Why) == 0 {
				p.t.Errorf("the report says of bundle %s: %+v", b.Name, b)
			}
		}
		for _, name := range pkg.DroppedBundles {
			if _, ok := p.result.Bundle(pkg.Name, name); ok {
				p.t.Errorf("bundle %s is not dropped", name)
			}
		}
	}
	if diff := cmp.Diff(p.result.PackageNames(), names); diff != "" {
		p.t.Errorf("reported packages:\n%s", diff)
	}
}
