package resolution

import (
	"context"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/resolve"
)

// Reason is the class of a conflict.
type Reason string

const (
	InvalidRange       Reason = "InvalidVersionRange"
	InvalidSelector    Reason = "InvalidSelector"
	NoCatalog          Reason = "NoCatalog"
	CatalogUnavailable Reason = "CatalogUnavailable"
	PackageNotFound    Reason = "PackageNotFound"
	ChannelNotFound    Reason = "ChannelNotFound"
	VersionNotFound    Reason = "VersionNotFound"
	NoSuccessor        Reason = "NoSuccessor"
	DowngradeRefused   Reason = "DowngradeRefused"
	DependencyMissing  Reason = "DependencyMissing"
	BreaksOthers       Reason = "BreaksOthers"
	KubernetesTooOld   Reason = "KubernetesTooOld"
	AmbiguousCatalogs  Reason = "AmbiguousCatalogs"
)

// conflict tells why there is no answer.
func (b *extensionBuilder) conflict(ctx context.Context, core *resolve.Unsatisfiable) *Conflict {
	c := &Conflict{Reason: b.reason(core.Core), core: core}
	reasons := core.Reasons()
	for i, r := range reasons {
		l := linkOf(r.Origin, r.More)
		l.plain = i == 0 && len(reasons) > 1 && l.Field == "" // that the extension exists
		c.Chain = append(c.Chain, l)
	}
	c.Summary = b.summary(c.Reason, core.Core)
	if !b.trial {
		c.Advice = b.hint(ctx, c.Reason, core.Core)
	}
	return c
}

// plain is a conflict of a request with itself: there is nothing to solve.
func (b *extensionBuilder) plain(r Reason, text, field, advice string) *Conflict {
	return &Conflict{Reason: r, Summary: text, Advice: advice,
		Chain: []Link{{Text: text, Object: "ClusterExtension " + b.name, Field: field}}}
}

// reason is the class of what is in the way: that of the candidate which came nearest to be chosen.
func (b *extensionBuilder) reason(core []resolve.Clause) Reason {
	if len(b.ambiguous(core)) > 0 {
		return AmbiguousCatalogs
	}
	if b.unavailable() != nil {
		return CatalogUnavailable
	}
	if len(b.catalogs) == 0 {
		return NoCatalog
	}
	if len(b.candidates) == 0 {
		return PackageNotFound
	}
	nearest := b.nearest()
	switch nearest.refusal().rule {
	case ruleChannel:
		return ChannelNotFound
	case ruleRange:
		return VersionNotFound
	case ruleEdge:
		if nearest.version.Compare(b.from()) < 0 {
			return DowngradeRefused
		}
		return NoSuccessor
	case ruleGuard:
		return BreaksOthers
	case ruleKubernetes:
		return KubernetesTooOld
	}
	return DependencyMissing
}

// nearest is the most wanted of the candidates that the latest rule refuses.
func (b *extensionBuilder) nearest() *candidate {
	var found *candidate
	for _, c := range b.candidates {
		if found == nil || c.refusal().rule > found.refusal().rule {
			found = c
		}
	}
	return found
}

// summary is the conflict in the words that have always been used for it.
func (b *extensionBuilder) summary(r Reason, core []resolve.Clause) string {
	switch r {
	case CatalogUnavailable:
		return fmt.Sprintf("error walking catalogs: error getting package %q from catalog %q: %s", b.in.Package, b.unavailable().Name, b.trouble(b.unavailable()))
	case DependencyMissing:
		nearest := b.nearest()
		return b.upgrading() + fmt.Sprintf("bundle %q has a dependency declared via property %q that is not met", nearest.bundle.Name, nearest.refusal().by)
	case KubernetesTooOld:
		nearest := b.nearest()
		return b.upgrading() + fmt.Sprintf("bundle %q needs a newer Kubernetes than %s", nearest.bundle.Name, b.in.Kubernetes)
	case BreaksOthers:
		nearest := b.nearest()
		return b.upgrading() + fmt.Sprintf("bundle %q would break ClusterExtension %q", nearest.bundle.Name, nearest.refusal().by)
	}
	text, catalogs := "no bundles found", b.ambiguous(core)
	if len(catalogs) > 0 {
		text = "found bundles"
	}
	text += fmt.Sprintf(" for package %q", b.in.Package)
	if b.in.Version != "" {
		text += fmt.Sprintf(" matching version %q", b.in.Version)
	}
	if len(b.in.Channels) > 0 {
		text += fmt.Sprintf(" in channels %v", b.in.Channels)
	}
	if len(catalogs) > 0 {
		text += fmt.Sprintf(" in multiple catalogs with the same priority %v", catalogs)
	}
	return b.upgrading() + text
}

func (b *extensionBuilder) upgrading() string {
	if b.in.Installed == nil {
		return ""
	}
	return fmt.Sprintf("error upgrading from currently installed version %q: ", b.in.Installed.Version)
}

// nothingToChoose says why there is no bundle of the package that one could look at; nil when there are some.
func (b *extensionBuilder) nothingToChoose() *resolve.Origin {
	if len(b.candidates) > 0 {
		return nil
	}
	var o resolve.Origin
	switch {
	case len(b.catalogs) == 0 && len(b.in.Catalogs) == 0:
		o = b.origin(fieldSelector, "there is no ClusterCatalog")
		o.Hint = "create a ClusterCatalog that has package " + b.in.Package
	case len(b.catalogs) == 0:
		o = b.origin(fieldSelector, "the extension selects no catalog that takes part; %s", b.left())
		o.Hint = fmt.Sprintf("correct %s of ClusterExtension %s", fieldSelector, b.name)
		if b.paused {
			o.Hint += ", or set spec.availabilityMode of a ClusterCatalog that it selects to Available"
		}
	case b.unavailable() != nil:
		o = b.origin(fieldPackage, "no catalog that can be read has package %s, and catalog %s has no content that is available: %s",
			b.in.Package, b.unavailable().Name, b.trouble(b.unavailable()))
		o.Catalog = b.unavailable().Name
	case b.leftOut(nil) != "":
		o = b.origin(fieldPackage, "package %s is in a catalog, but nothing of it can be used", b.in.Package)
		o.Hint = "ask the authors of the catalog to correct it"
	default:
		o = b.origin(fieldPackage, "package %s was looked for in %s%s", b.in.Package, list("catalog", b.names()), b.similar())
		o.Hint = fmt.Sprintf("correct %s or %s of ClusterExtension %s, or create a ClusterCatalog that has the package", fieldPackage, fieldSelector, b.name)
	}
	return &o
}

// left tells of the catalogs that are not looked at.
func (b *extensionBuilder) left() string {
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

func (b *extensionBuilder) names() []string {
	out := make([]string, len(b.catalogs))
	for i, c := range b.catalogs {
		out[i] = c.Name
	}
	return out
}

// offering says which versions of the package there are.
func (b *extensionBuilder) offering() string {
	var all []string
	for _, c := range b.catalogs {
		if _, ok := b.packageOf(c); ok {
			all = append(all, c.Name)
		}
	}
	count := "there are " + fmt.Sprint(len(b.candidates)) + " versions"
	if len(b.candidates) == 1 {
		count = "there is 1 version"
	}
	return count + " in " + list("catalog", all)
}

// similar names packages that may have been meant: those whose name has the wanted one in it, or the reverse, else the least mistyped.
func (b *extensionBuilder) similar() string {
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
		if name := closest(b.in.Package, all); name != "" {
			found = []string{name}
		}
	}
	if len(found) > 0 {
		return "; there is " + list("package", found)
	}
	return ""
}
