package prune

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Prune returns what the options keep of a catalog, and a report. c is left as
// it is.
func Prune(c *catalog.Catalog, opts Options) (*catalog.Catalog, *Report, error) {
	p, err := newPruner(c, opts)
	if err == nil {
		err = p.run()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("prune catalog: %w", err)
	}
	pruned := p.catalog()
	if err := catalog.Validate(pruned).Err(); err != nil {
		return nil, nil, fmt.Errorf("prune catalog: the result would break rules that the source keeps; please report this as a defect, with the options: %w", err)
	}
	// Make the report.
	r := &Report{Packages: []Package{}, Dropped: []string{}, Images: images(pruned)}
	for _, o := range p.source.Packages {
		pkg, ok := p.kept[o.Name]
		if !ok {
			r.Dropped = append(r.Dropped, o.Name)
			continue
		}
		r.Packages = append(r.Packages, pkg.report())
	}
	slices.Sort(r.Dropped)
	slices.SortFunc(r.Packages, func(a, b Package) int { return strings.Compare(a.Name, b.Name) })
	r.Notes = append(slices.Clone(p.notes), r.remarks()...)
	return pruned, r, nil
}

// pruner is a catalog that is being pruned.
type pruner struct {
	offers
	source *catalog.Catalog
	opts   Options
	notes  []string
	noted  map[string]bool

	residents []resident

	fresh   []*keptPackage        // their default channels were not checked
	touched []touched             // channels that may have to be settled
	queue   []*catalog.BundleInfo // kept, but what they require was not checked
	settled map[settledNeed]bool
}

type touched struct {
	pkg     *keptPackage
	stretch *stretch
}

func newPruner(c *catalog.Catalog, opts Options) (*pruner, error) {
	// Refuse what cannot be meant.
	if len(opts.Packages) == 0 && len(opts.Installed) == 0 {
		return nil, errors.New("nothing is to be kept; name packages, or what is installed")
	}
	for _, i := range opts.Installed {
		if i.Package == "" || i.Version == "" {
			return nil, fmt.Errorf("installed %q: name a package and a version", i)
		}
	}
	if err := c.LoadProblems.Err(); err != nil {
		return nil, fmt.Errorf("the catalog was not read completely: %w", err)
	}
	x, err := catalog.NewIndex(c, "")
	if err != nil {
		return nil, err
	}
	broken := map[string]catalog.Problems{}
	for _, problem := range x.Problems().Errors() {
		pkg := problem.Object.Package
		if problem.Object.Schema == catalog.SchemaPackage {
			pkg = problem.Object.Name
		}
		broken[pkg] = append(broken[pkg], problem)
	}
	return &pruner{
		offers: offers{index: x, broken: broken, kept: map[string]*keptPackage{}, constraints: map[string]readConstraint{}},
		source: c, opts: opts, settled: map[settledNeed]bool{}, noted: map[string]bool{},
	}, nil
}

func (p *pruner) run() error {
	for _, s := range p.opts.Packages {
		// Keep what a selection selects.
		pkg, err := p.keep(s.Package, "selected")
		if err != nil {
			return err
		}
		for _, name := range s.Channels {
			if _, err := pkg.channel(name); err != nil {
				return err
			}
		}
		found := false
		for _, c := range pkg.stretches {
			if s.has(c.info.Name) {
				found = p.selectFrom(pkg, c, s) || found
			}
		}
		if !found {
			selected := "version in " + safetext.Quote(s.Versions.String())
			if len(s.Channels) > 0 {
				selected += " in the channels " + safetext.QuoteList(s.Channels)
			}
			return fmt.Errorf("package %s has no %s; choose another range, or drop it", safetext.Quote(s.Package), selected)
		}
	}
	if err := p.keepInstalled(); err != nil {
		return err
	}
	if len(p.kept) == 0 {
		return fmt.Errorf("nothing is to be kept: %s", strings.Join(p.notes, "; "))
	}
	if err := p.keepDefaultChannels(); err != nil {
		return err
	}
	// Keep the ways of installed versions that follow no channel in particular to the head of the default channel, through whatever
	// channels they lead. What is in none of the kept channels keeps its ways to all of their heads: it may have to go through the
	// channels of several minor versions.
	for _, r := range p.residents {
		var targets []string
		for _, c := range r.pkg.stretches {
			isDefault := c.info.Name == r.pkg.defaultChannel && r.Channel == "" && (!r.chosen || !c.incidental)
			if !c.empty() && (isDefault || !r.related && !c.incidental) {
				targets = append(targets, c.head().Name)
			}
		}
		found := r.related
		for _, head := range slices.Compact(slices.Sorted(slices.Values(targets))) {
			found = p.keepRoute(r, head) || found
		}
		for _, c := range r.pkg.stretches {
			if _, listed := c.entries[r.version.Name]; listed && !r.related && !c.empty() {
				p.keepVersionIn(r.pkg, c, r.version) // a channel on the way
			}
		}
		if !found {
			p.note("installed %s is in no kept channel, and no way leads from it to their heads", r.Installed)
		}
	}
	if err := p.complete(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.opts.DefaultChannels)) {
		if p.kept[name] == nil {
			return fmt.Errorf("the default channel of package %s is to be %s, but nothing of the package is kept", safetext.Quote(name), safetext.Quote(p.opts.DefaultChannels[name]))
		}
	}
	return nil
}

// complete adds what the kept things need until nothing is missing.
func (p *pruner) complete() error {
	for {
		if err := p.keepDefaultChannels(); err != nil {
			return err
		}
		// Finish the channels that were touched.
		for i := 0; i < len(p.touched); i++ { // it may grow
			pkg, s := p.touched[i].pkg, p.touched[i].stretch
			if s.settled {
				continue
			}
			for !s.settled {
				if place, reason := s.settle(); place >= 0 {
					p.extend(pkg, s, place, reason)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(s.beside)) {
				p.keepBundle(pkg, s.entries[name], s.wished[name])
			}
		}
		p.touched = nil
		if len(p.queue) == 0 {
			return nil
		}
		queue := p.queue
		p.queue = nil
		if p.opts.WithoutDependencies {
			continue
		}
		slices.SortFunc(queue, func(a, b *catalog.BundleInfo) int {
			return strings.Compare(a.Package+"\x00"+a.Name, b.Package+"\x00"+b.Name)
		})
		for _, b := range queue {
			if err := p.keepRequired(b); err != nil {
				return err
			}
		}
	}
}

// extend keeps a place of a channel's line for a reason, and all that is
// between it and what was kept before.
func (p *pruner) extend(pkg *keptPackage, s *stretch, place int, reason string) {
	p.touched = append(p.touched, touched{pkg, s})
	for _, e := range s.extend(place) {
		if e != s.line[place] {
			p.keepBundle(pkg, e, "on the upgrade path of channel "+safetext.Quote(s.info.Name))
		}
	}
	p.keepBundle(pkg, s.line[place], reason)
}

// keepBundle notes a kept bundle and why it is kept.
func (p *pruner) keepBundle(pkg *keptPackage, e *catalog.EntryInfo, reason string) {
	why, ok := pkg.bundles[e.Name]
	if !ok {
		why = new(reasons)
		pkg.bundles[e.Name] = why
		p.queue = append(p.queue, e.Bundle)
	}
	why.add(reason)
}
