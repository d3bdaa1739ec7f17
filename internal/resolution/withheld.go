package resolution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/resolve"
)

// no one says why no catalog in view offers what n needs: it may be there, and not be usable, or have other versions.
func (b *dependencies) nobody(n *node, c condition, origin *resolve.Origin, brief string) {
	correct := "ask the authors of package " + n.bundle.Package + " to correct what " + n.bundle.Name + " requires"
	switch {
	case c.never:
		origin.Text, origin.Hint = origin.Text+", which no operator does", correct
		return
	case c.pkg != "" && c.pkg == n.bundle.Package:
		origin.Text, origin.Hint = origin.Text+", and a namespace has only one version of a package", correct
		return
	}
	origin.Text += ", and no catalog in view of the namespace has one"
	origin.Hint = "create a CatalogSource whose catalog has " + brief
	if c.pkg == "" {
		return
	}
	h, known := b.withheld[c.pkg]
	if !known {
		h = b.withholding(c.pkg)
		b.withheld[c.pkg] = h
	}
	origin.Text += h.text
	origin.Hint = cmp.Or(h.hint, origin.Hint)
}

// withholding is what catalogs have of a package although they do not offer what is asked for, and what to do about it.
type withholding struct{ text, hint string }

// withholding tells it of the first catalog that has something.
func (b *dependencies) withholding(pkg string) withholding {
	for _, s := range b.sourcesFor(nil) {
		if s.Index == nil {
			continue
		}
		if problem := withheld(s.Index, pkg); problem != "" {
			h := withheldBy(s, pkg, problem)
			h.text = ": " + h.text
			return h
		}
		p, ok := s.Index.Package(pkg)
		if !ok {
			continue
		}
		// List some versions of a package, the newest first.
		const shown = 3
		bundles := bundlesOf(s.Index, pkg)
		slices.SortFunc(bundles, func(a, b *catalog.BundleInfo) int { return b.Version.Compare(a.Version) })
		var names []string
		for _, bundle := range bundles[:min(shown, len(bundles))] {
			names = append(names, bundle.Name)
		}
		text := strings.Join(names, ", ")
		if more := len(bundles) - shown; more > 0 {
			text += " and " + safetext.Count(more, "older version")
		}
		h := withholding{text: fmt.Sprintf(": catalog %s has %s", s.Ref, text)}
		// The first error about a served package, one of whose channels or entries is not served.
		x := s.Index
		if problem := problemOf(x, func(o catalog.Object) bool {
			switch o.Schema {
			case catalog.SchemaBundle:
				_, served := x.Bundle(p.Name, o.Name)
				return o.Package == p.Name && !served
			case catalog.SchemaChannel:
				_, served := p.Channel(o.Name)
				return o.Package == p.Name && !served
			}
			return false
		}); problem != "" {
			h.text += ", and something of it cannot be used: " + problem
		}
		return h
	}
	return withholding{}
}

// Withheld says which catalog in view has a package of which nothing can be used, why, and what to do about it; empty when none has.
func (r *NamespaceResult) Withheld(pkg string) (text, hint string) {
	for _, s := range r.b.sourcesFor(nil) {
		if s.Index == nil {
			continue
		}
		if problem := withheld(s.Index, pkg); problem != "" {
			h := withheldBy(s, pkg, problem)
			return h.text, h.hint
		}
	}
	return "", ""
}

func withheldBy(s *Source, pkg, problem string) withholding {
	return withholding{fmt.Sprintf("catalog %s has the package, but nothing of it can be used: %s", s.Ref, problem),
		fmt.Sprintf("ask the authors of catalog %s to correct package %s", s.Ref, pkg)}
}

// withheld says why a package that a catalog has is not served; empty when it is served, or not there.
func withheld(x *catalog.Index, pkg string) string {
	if _, served := x.Package(pkg); served {
		return ""
	}
	// Of the package itself, else of what is in it: then all of its channels are not usable.
	return cmp.Or(problemOf(x, func(o catalog.Object) bool { return o == catalog.Object{Schema: catalog.SchemaPackage, Name: pkg} }),
		problemOf(x, func(o catalog.Object) bool { return o.Package == pkg && o.Schema == catalog.SchemaBundle }),
		problemOf(x, func(o catalog.Object) bool { return o.Package == pkg }))
}

// problemOf is the first error about an object; empty when there is none. A bundle that is missing may be in text that cannot be read,
// which comes first then: of the text no one knows what it is about.
func problemOf(x *catalog.Index, is func(catalog.Object) bool) string {
	for _, p := range x.Problems() {
		if p.Severity != catalog.Error || !is(p.Object) {
			continue
		}
		if p.Rule == catalog.RuleEntryWithoutBundle {
			// The first error about text of the file that cannot be read, from that line on.
			for _, unread := range x.Problems() {
				if at := unread.Position; unread.Severity == catalog.Error && unread.Rule == catalog.RuleSyntax && at.File == p.Position.File && at.Line >= p.Position.Line {
					return unread.String() + "; with that, " + p.String()
				}
			}
		}
		return p.String()
	}
	return ""
}
