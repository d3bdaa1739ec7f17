package extension

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/resolve"
)

// summary is the conflict in the words that have always been used for it.
func (b *builder) summary(r Reason, core []resolve.Clause) string {
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

func (b *builder) upgrading() string {
	if b.in.Installed == nil {
		return ""
	}
	return fmt.Sprintf("error upgrading from currently installed version %q: ", b.in.Installed.Version)
}

// nothingToChoose says why there is no bundle of the package that one could look at; nil when there are some.
func (b *builder) nothingToChoose() *resolve.Origin {
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
func (b *builder) left() string {
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

func (b *builder) names() []string {
	out := make([]string, len(b.catalogs))
	for i, c := range b.catalogs {
		out[i] = c.Name
	}
	return out
}

// offering says which versions of the package there are.
func (b *builder) offering() string {
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

// similar names packages that may have been meant.
func (b *builder) similar() string {
	const meaningful = 4 // shorter names are part of too many others
	var found []string
	for _, c := range b.catalogs {
		if c.Index == nil {
			continue
		}
		for _, name := range c.Index.PackageNamesV1() {
			if len(b.in.Package) >= meaningful && strings.Contains(name, b.in.Package) || len(name) >= meaningful && strings.Contains(b.in.Package, name) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) > 0 {
		return "; there is " + list("package", found)
	}
	return ""
}
