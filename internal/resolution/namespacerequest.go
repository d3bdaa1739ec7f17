package resolution

import (
	"cmp"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// NamespaceRequest is all that a decision depends on.
type NamespaceRequest struct {
	// Namespace is where the operators are installed.
	Namespace string
	// Subscriptions are the requests of the namespace.
	Subscriptions []Subscription
	// Operators are the ClusterServiceVersions of the namespace that are not copies.
	Operators []Operator
	// Sources are the catalogs in view of the namespace.
	Sources []Source
	// Together asks for one answer for the whole namespace, so that one unsatisfiable Subscription, or one catalog in view without
	// content, stops all of them.
	Together bool
	// AnyCatalog lets an operator whose own catalog has no upgrade for it move to a version from another catalog in view.
	AnyCatalog bool
	// Kubernetes is the version of the cluster. Bundles that say they need a newer one are not chosen; the zero version is not known
	// and refuses none.
	Kubernetes semver.Version
}

// Subscription is a request to have a package installed and kept up to date.
type Subscription struct {
	Name        string
	Package     string
	Channel     string // empty: any channel of the package, the default channel first
	StartingCSV string // used only when nothing is installed
	Catalog     catalog.Ref
	Installed   string // the ClusterServiceVersion that the Subscription stands for, if there is one
	// VersionRange is what the Subscription says, in an annotation, about the versions that it may move to; any when empty.
	VersionRange string
}

// Operator is an installed ClusterServiceVersion.
type Operator struct {
	Name     string
	Package  string // empty when it is not known
	Version  semver.Version
	Replaces string
	Provides []catalog.GVK
	Requires []catalog.GVK
	Packages []PackageRequirement
	// Properties are those that its bundle had in the catalog, as far as they are recorded.
	Properties []catalog.Property
	// Settled is true when a newer version may replace the operator: it runs (phase Succeeded), or it has failed and its OperatorGroup
	// lets failed operators be replaced, or what was replacing it has been deleted.
	Settled bool
	// Failed is true when the operator has failed.
	Failed bool
	// Phase is that of an operator that is not settled, to tell of it; it decides nothing.
	Phase string
}

// PackageRequirement is a dependency on a package in a version range.
type PackageRequirement struct {
	Package string
	Range   version.Range
}

// Source is a catalog in view. A Source without Index has no content to offer; Problem says why.
type Source struct {
	Ref      catalog.Ref
	Priority int
	Index    *catalog.Index
	Problem  string
	// Remedy is what to do about the Problem, where that is not to repair the catalog.
	Remedy string
}

// canonical returns the input in an order of its own, so that the order in which things were listed decides nothing.
func (in NamespaceRequest) canonical() NamespaceRequest {
	// What has no name, as files for offline decisions may have it, gets one that says what is known of it. Of several that are alike in that, each has
	// its own.
	in.Subscriptions, in.Operators = slices.Clone(in.Subscriptions), slices.Clone(in.Operators)
	slices.SortStableFunc(in.Subscriptions, func(a, b Subscription) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.StartingCSV, b.StartingCSV), a.Catalog.Compare(b.Catalog),
			cmp.Compare(a.Installed, b.Installed), cmp.Compare(a.VersionRange, b.VersionRange))
	})
	slices.SortStableFunc(in.Operators, func(a, b Operator) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), a.Version.Compare(b.Version), cmp.Compare(a.Replaces, b.Replaces))
	})
	seen := map[string]int{}
	unnamed := func(known string) string {
		seen[known]++
		if n := seen[known]; n > 1 {
			known += fmt.Sprintf(" #%d", n)
		}
		return "(unnamed, " + known + ")"
	}
	for i := range in.Subscriptions {
		if s := &in.Subscriptions[i]; s.Name == "" {
			s.Name = unnamed("of package " + cmp.Or(s.Package, "none"))
		}
	}
	for i := range in.Operators {
		if o := &in.Operators[i]; o.Name == "" {
			o.Name = unnamed(fmt.Sprintf("version %s of package %s", o.Version, cmp.Or(o.Package, "unknown")))
		}
	}
	slices.SortFunc(in.Subscriptions, func(a, b Subscription) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(in.Operators, func(a, b Operator) int { return cmp.Compare(a.Name, b.Name) })
	in.Sources = slices.Clone(in.Sources)
	slices.SortFunc(in.Sources, func(a, b Source) int { return a.Ref.Compare(b.Ref) })
	return in
}

// current drops operators that another installed operator is replacing: a replacement chain counts as the one unit it is about
// to become, so an upgrade that is under way makes nothing unsatisfiable, one to a package of another name included. An operator of another
// package that a Subscription stands for is not replaced, and of those that replace each other in a circle all stand.
func (in NamespaceRequest) current() []Operator {
	operators := in.Operators
	byName := map[string]*Operator{}
	for i := range operators {
		byName[operators[i].Name] = &operators[i]
	}
	kept := make([]Operator, 0, len(operators))
	for _, o := range operators {
		if !slices.ContainsFunc(operators, func(newer Operator) bool {
			if newer.Replaces != o.Name || newer.Name == o.Name {
				return false
			}
			samePackage := newer.Package == o.Package || newer.Package == "" || o.Package == ""
			return (samePackage || !slices.ContainsFunc(in.Subscriptions, func(s Subscription) bool { return s.Installed == o.Name })) && !leadsTo(o, newer.Name, byName)
		}) {
			kept = append(kept, o)
		}
	}
	return kept
}

// leadsTo tells whether the replaces chain of an operator comes to another one.
func leadsTo(o Operator, name string, byName map[string]*Operator) bool {
	for range len(byName) {
		next := byName[o.Replaces]
		if next == nil {
			return false
		}
		if next.Name == name {
			return true
		}
		o = *next
	}
	return false
}
