package resolution

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
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
		if nearest.version.Compare(catalog.Released(b.in.Installed.Version)) < 0 {
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

// conclude gives the class of the conflict, and the summary that has always been used for it.
func (b *extensionFront) conclude(e *explanation, c *Conflict) {
	c.Reason = b.reason(e.core)
	if b.in.Installed != nil && c.Reason != CatalogUnavailable {
		c.Summary = fmt.Sprintf("error upgrading from currently installed version %q: ", b.in.Installed.Version)
	}
	switch c.Reason {
	case CatalogUnavailable:
		c.Summary = fmt.Sprintf("error walking catalogs: error getting package %q from catalog %q: %s", b.in.Package, b.unavailable().Name, b.trouble(b.unavailable()))
	case DependencyMissing:
		nearest := b.candidates.nearest()
		c.Summary += fmt.Sprintf("bundle %q has a dependency declared via property %q that is not met", nearest.bundle.Name, nearest.refusal().by)
	case KubernetesTooOld:
		c.Summary += fmt.Sprintf("bundle %q needs a newer Kubernetes than %s", b.candidates.nearest().bundle.Name, b.in.Kubernetes)
	case BreaksOthers:
		nearest := b.candidates.nearest()
		c.Summary += fmt.Sprintf("bundle %q would break ClusterExtension %q", nearest.bundle.Name, nearest.refusal().by)
	default:
		text, catalogs := "no bundles found", b.ambiguous(e.core)
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
		c.Summary += text
	}
}

// nothingToChoose says why there is no bundle of the package that one could check; nil when there are some.
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
	case b.leftOut(nil) != "":
		o = b.origin(fieldPackage, "package %s is in a catalog, but nothing of it can be used", b.in.Package)
		o.Hint = "ask the authors of the catalog to correct it"
	default:
		o = b.origin(fieldPackage, "package %s was looked for in %s%s", b.in.Package, list("catalog", b.names(func(*Catalog) bool { return true })), b.similar())
		o.Hint = fmt.Sprintf("correct %s or %s of ClusterExtension %s, or create a ClusterCatalog that has the package", fieldPackage, fieldSelector, b.name)
	}
	return &o
}
