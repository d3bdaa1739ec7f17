package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// named gives what has no name, as files for offline decisions may have it, one that says what is known of it. Of several that are alike in
// that, each has its own.
func (in Input) named() Input {
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
	return in
}
