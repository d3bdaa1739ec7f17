package resolution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selection is what a ClusterExtension asks for, and the catalogs that it asks.
type selection struct {
	*builder
	in       ExtensionRequest
	name     string // of the extension, or what is known of it
	versions version.Constraint
	catalogs []*Catalog // those that are selected, of higher priority first
	unread   []*Catalog // those of them that have nothing that can be used
	blind    *Catalog   // the first of these that has to be waited for
	paused   bool       // a catalog that does not take part would be selected
}

// The fields of a ClusterExtension that explanations name.
const (
	fieldPackage  = "spec.source.catalog.packageName"
	fieldVersion  = "spec.source.catalog.version"
	fieldChannels = "spec.source.catalog.channels"
	fieldSelector = "spec.source.catalog.selector"
	fieldPolicy   = "spec.source.catalog.upgradeConstraintPolicy"
)

// read reads the range.
func (b *selection) read() *Conflict {
	if b.in.Version == "" {
		return nil
	}
	var err error
	if b.versions, err = version.ParseConstraint(b.in.Version); err != nil {
		return b.plain(InvalidRange, fmt.Sprintf("desired version range %q is invalid: %v", b.in.Version, err), fieldVersion,
			fmt.Sprintf("correct %s of ClusterExtension %s", fieldVersion, b.name))
	}
	return nil
}

// choose finds the catalogs that the selector matches.
func (b *selection) choose() *Conflict {
	selector := labels.Everything()
	if b.in.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(b.in.Selector); err != nil {
			return b.plain(InvalidSelector, fmt.Sprintf("desired catalog selector is invalid: %v", err), fieldSelector,
				fmt.Sprintf("correct %s of ClusterExtension %s", fieldSelector, b.name))
		}
	}
	for i := range b.in.Catalogs {
		c := &b.in.Catalogs[i]
		if !selector.Matches(labels.Set(c.Labels)) {
			continue
		}
		if c.Disabled {
			b.paused = true
			continue
		}
		b.catalogs = append(b.catalogs, c)
		if b.trouble(c) != "" {
			b.unread = append(b.unread, c)
			if b.blind == nil && (b.in.RequireAll || c.loading() && b.in.Installed == nil) {
				b.blind = c
			}
		}
	}
	return nil
}

// IsLoading reports whether a catalog that the request selects is still being loaded.
func IsLoading(in ExtensionRequest) bool {
	b := &selection{in: in.canonical()}
	return b.choose() == nil && slices.ContainsFunc(b.catalogs, (*Catalog).loading)
}

// suffices reports whether the installed version is one of those that are asked for.
func (b *selection) suffices() bool {
	return b.versions.IsZero() || b.versions.Contains(b.in.Installed.Version.Version)
}

func (b *selection) packageOf(c *Catalog) (*catalog.PackageInfo, bool) {
	if c.Index == nil {
		return nil, false
	}
	return c.Index.PackageV1(b.in.Package)
}

func (b *selection) follows(channel string) bool {
	return len(b.in.Channels) == 0 || slices.Contains(b.in.Channels, channel)
}

func (b *selection) isInstalled(c *candidate) bool {
	return b.in.Installed != nil && c.bundle.Name == b.in.Installed.Name
}

// prefer orders candidates: what is not deprecated first, then catalogs of higher priority, then higher versions. Of the same version
// the installed bundle comes first, and others are in the order of their names.
func (b *selection) prefer(x, y *candidate) int {
	return cmp.Or(
		first(!x.deprecated())-first(!y.deprecated()),
		cmp.Compare(y.catalog.Priority, x.catalog.Priority),
		y.version.Compare(x.version),
		first(b.isInstalled(x))-first(b.isInstalled(y)),
		cmp.Compare(x.bundle.Name, y.bundle.Name),
		cmp.Compare(x.catalog.Name, y.catalog.Name),
	)
}

// trouble is why nothing of a catalog can be used; empty when it can, or when it does not have the package.
func (b *selection) trouble(c *Catalog) string {
	if c.Index == nil {
		return cmp.Or(c.Problem, "it is still being loaded")
	}
	if !b.in.RequireAll {
		return ""
	}
	if _, there := b.packageOf(c); there {
		return ""
	}
	broken := c.Index.Problems().About(b.in.Package)
	if len(broken) == 0 {
		return ""
	}
	return "nothing of the package can be used: " + broken[0].String()
}

// unavailable is the catalog that explanations name when there is no answer; nil when all selected ones can be used.
func (b *selection) unavailable() *Catalog {
	switch {
	case b.blind != nil:
		return b.blind
	case len(b.unread) > 0:
		return b.unread[0]
	}
	return nil
}

// providers are the packages of the selected catalogs that have what a constraint without parts asks for.
func (b *selection) providers(c constraint.Constraint) []string {
	var packages []string
	for _, source := range b.catalogs {
		if source.Index == nil {
			continue
		}
		if c.GVK != nil {
			for _, bundle := range source.Index.ProvidersV1(*c.GVK) {
				packages = append(packages, bundle.Package)
			}
		}
		if c.Package == nil {
			continue
		}
		if p, ok := source.Index.PackageV1(c.Package.Name); ok && slices.ContainsFunc(p.Channels, func(channel *catalog.ChannelInfo) bool {
			return slices.ContainsFunc(channel.Entries, func(e *catalog.EntryInfo) bool { return c.Package.Range.Contains(e.Bundle.Version.Version) })
		}) {
			packages = append(packages, p.Name)
		}
	}
	slices.Sort(packages)
	return slices.DeleteFunc(slices.Compact(packages), func(pkg string) bool { return pkg == b.in.Package })
}

// names are those of some of the selected catalogs.
func (b *selection) names(which func(*Catalog) bool) []string {
	var names []string
	for _, c := range b.catalogs {
		if which(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// left tells of the catalogs that are not checked.
func (b *selection) left() string {
	var disabled, others []string
	for _, c := range b.in.Catalogs {
		if c.Disabled {
			disabled = append(disabled, c.Name)
		} else {
			others = append(others, c.Name)
		}
	}
	var parts []string
	if len(others) > 0 {
		parts = append(parts, "not selected is "+list("catalog", others))
	}
	if len(disabled) > 0 {
		parts = append(parts, "disabled is "+list("catalog", disabled))
	}
	return strings.Join(parts, ", ")
}

// similar names packages that may have been meant: those whose name has the wanted one in it, or the reverse, else the least mistyped.
func (b *selection) similar() string {
	const meaningful = 4 // shorter names are part of too many others
	var all, found []string
	for _, c := range b.catalogs {
		if c.Index != nil {
			all = append(all, c.Index.PackageNamesV1()...)
		}
	}
	for _, name := range all {
		if len(b.in.Package) >= meaningful && strings.Contains(name, b.in.Package) || len(name) >= meaningful && strings.Contains(b.in.Package, name) {
			found = append(found, name)
		}
	}
	if found = inOrder(found); len(found) == 0 {
		if name := messages.Closest(b.in.Package, all); name != "" {
			found = []string{name}
		}
	}
	if len(found) > 0 {
		return "; there is " + list("package", found)
	}
	return ""
}

// plain is a conflict of a request with itself: there is nothing to solve.
func (b *selection) plain(r Reason, text, field, advice string) *Conflict {
	return &Conflict{Reason: r, Summary: text, Advice: advice,
		Chain: []Link{{Text: text, Object: "ClusterExtension " + b.name, Field: field}}}
}

// originOf says where a rule about a candidate comes from.
func (b *selection) originOf(c *candidate, field, format string, args ...any) resolve.Origin {
	o := b.origin(field, format, args...)
	o.Catalog, o.Digest = c.catalog.Name, c.catalog.digest()
	return o
}

// origin says where a rule of the extension comes from.
func (b *selection) origin(field, format string, args ...any) resolve.Origin {
	return resolve.Origin{Object: "ClusterExtension " + b.name, Field: field, Text: fmt.Sprintf(format, args...)}
}
