package resolution

import (
	"fmt"

	"fairlead.dev/fairlead/resolve"
)

// reason is the class of what is in the way: that of the candidate which came nearest to be chosen.
func (b *extensionFront) reason(core []resolve.Clause) Reason {
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
	nearest := b.candidates.nearest()
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

// summary is the conflict in the words that have always been used for it.
func (b *extensionFront) summary(r Reason, core []resolve.Clause) string {
	switch r {
	case CatalogUnavailable:
		return fmt.Sprintf("error walking catalogs: error getting package %q from catalog %q: %s", b.in.Package, b.unavailable().Name, b.trouble(b.unavailable()))
	case DependencyMissing:
		nearest := b.candidates.nearest()
		return b.upgrading() + fmt.Sprintf("bundle %q has a dependency declared via property %q that is not met", nearest.bundle.Name, nearest.refusal().by)
	case KubernetesTooOld:
		nearest := b.candidates.nearest()
		return b.upgrading() + fmt.Sprintf("bundle %q needs a newer Kubernetes than %s", nearest.bundle.Name, b.in.Kubernetes)
	case BreaksOthers:
		nearest := b.candidates.nearest()
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

// nothingToChoose says why there is no bundle of the package that one could look at; nil when there are some.
func (b *extensionFront) nothingToChoose() *resolve.Origin {
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
	case b.omitted(nil).leftOut() != "":
		o = b.origin(fieldPackage, "package %s is in a catalog, but nothing of it can be used", b.in.Package)
		o.Hint = "ask the authors of the catalog to correct it"
	default:
		o = b.origin(fieldPackage, "package %s was looked for in %s%s", b.in.Package, list("catalog", b.names(func(*Catalog) bool { return true })), b.similar())
		o.Hint = fmt.Sprintf("correct %s or %s of ClusterExtension %s, or create a ClusterCatalog that has the package", fieldPackage, fieldSelector, b.name)
	}
	return &o
}

// keepsInSpite reports whether what is installed stays, although there is no answer: it is what is asked for, and what could have led on from it
// cannot be used. No mistake in a catalog is one of the extension.
func (b *extensionFront) keepsInSpite(c *Conflict) bool {
	if b.in.Installed == nil || b.in.RequireAll || !b.suffices() {
		return false
	}
	switch c.Reason {
	case CatalogUnavailable:
		return true
	case PackageNotFound, ChannelNotFound, VersionNotFound, NoSuccessor, DowngradeRefused:
		return b.omitted(nil).leftOut() != ""
	}
	return false
}
