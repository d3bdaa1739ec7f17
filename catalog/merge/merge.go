package merge

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// Source is a catalog, and what it is called in messages.
type Source struct {
	Name    string
	Catalog *catalog.Catalog
}

// Prefer says which source a package is taken from when they disagree about it.
type Prefer string

const (
	PreferNone  Prefer = ""      // a disagreement is an error
	PreferFirst Prefer = "first" // the first source that has the package
	PreferLast  Prefer = "last"  // the last one
)

// Options tune Merge. The zero value is the strictest.
type Options struct {
	Prefer Prefer
}

// Merge makes one catalog of all objects of the sources, in their order, and
// reports what it left out. If sources disagree, and none of them is preferred,
// the error is a *ConflictError. The sources are left as they are; the positions
// in the result begin with their names.
func Merge(sources []Source, opts Options) (*catalog.Catalog, *Report, error) {
	switch opts.Prefer {
	case PreferNone, PreferFirst, PreferLast:
	default:
		return nil, nil, fmt.Errorf("merge catalogs: there is no preference %q; choose %s or %s", opts.Prefer, PreferFirst, PreferLast)
	}
	report := &Report{}
	owners := map[string]int{}
	if opts.Prefer != PreferNone {
		_, conflicts, err := unite(sources, nil, &Report{})
		if err != nil {
			return nil, nil, err
		}
		owners = choose(sources, conflicts, opts.Prefer)
		// Fill in what the choice of owners means.
		dropped := map[string][]Dropped{}
		for i, s := range sources {
			for o := range objects(s, i) {
				owner, ok := owners[o.pkg]
				if !ok || owner == i {
					continue
				}
				all := dropped[o.pkg]
				if len(all) == 0 || all[len(all)-1].Source != s.Name {
					all = append(all, Dropped{Source: s.Name})
				}
				last := &all[len(all)-1]
				last.Objects = append(last.Objects, o.id.Object)
				dropped[o.pkg] = all
			}
		}
		for _, pkg := range slices.Sorted(maps.Keys(owners)) {
			report.Decided = append(report.Decided, Decision{Package: pkg, From: sources[owners[pkg]].Name, Dropped: dropped[pkg]})
		}
	}
	merged, conflicts, err := unite(sources, owners, report)
	if err != nil {
		return nil, nil, err
	}
	if len(conflicts) > 0 {
		return nil, nil, &ConflictError{Conflicts: conflicts, Sources: len(sources)}
	}
	return merged, report, nil
}

// unite puts together what differs. owners are the sources that alone speak for
// a package.
func unite(sources []Source, owners map[string]int, report *Report) (*catalog.Catalog, []Conflict, error) {
	u := union{out: &catalog.Catalog{}, seen: map[identity]item{}, report: report}
	for i, s := range sources {
		for o := range objects(s, i) {
			if owner, ok := owners[o.pkg]; ok && owner != i {
				continue
			}
			if err := u.add(o); err != nil {
				return nil, nil, err
			}
		}
		for _, p := range s.Catalog.LoadProblems {
			p.Position = within(s.Name, p.Position)
			u.out.LoadProblems = append(u.out.LoadProblems, p)
		}
	}
	return u.out, u.conflicts, nil
}

// choose finds the source that speaks for each package that there are conflicts
// about: one that defines it, if any does.
func choose(sources []Source, conflicts []Conflict, prefer Prefer) map[string]int {
	disputed := map[string]bool{}
	for _, c := range conflicts {
		disputed[c.pkg] = c.pkg != "" // what belongs to no package is no package
	}
	owners, defined := map[string]int{}, map[string]bool{}
	for i, s := range sources {
		for o := range objects(s, i) {
			if !disputed[o.pkg] {
				continue
			}
			defines := o.id.Schema == catalog.SchemaPackage
			_, chosen := owners[o.pkg]
			switch {
			case !chosen, defines && !defined[o.pkg], prefer == PreferLast && defines == defined[o.pkg]:
				owners[o.pkg] = i
			}
			defined[o.pkg] = defined[o.pkg] || defines
		}
	}
	return owners
}

// within puts the name of a source before a position.
func within(source string, p catalog.Position) catalog.Position {
	if p.File == "" {
		return catalog.Position{File: source, Line: p.Line}
	}
	return catalog.Position{File: path.Join(source, p.File), Line: p.Line}
}
