package observed

import (
	"cmp"
	"errors"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/extension"
)

// RequireAllCatalogsAnnotation set to "true" on a ClusterExtension lets it have nothing new while a catalog that it selects cannot be read, or
// has its package in a form of which nothing can be used, and could change the answer.
const RequireAllCatalogsAnnotation = "operators.fairlead.dev/require-all-catalogs"

// ExtensionRequest is what a ClusterExtension asks for. What it has installed and the catalogs are left to the caller, who knows
// where to look for them.
func ExtensionRequest(e *olmv1.ClusterExtension) (extension.Request, error) {
	filter := e.Spec.Source.Catalog
	if filter == nil {
		return extension.Request{}, errors.New("it has no spec.source.catalog; say there which package it asks for")
	}
	return extension.Request{Name: e.Name, Package: filter.PackageName, Version: filter.Version, Channels: filter.Channels,
		Selector: filter.Selector, Policy: extension.Policy(cmp.Or(string(filter.UpgradeConstraintPolicy), string(extension.CatalogProvided))),
		RequireAll: e.Annotations[RequireAllCatalogsAnnotation] == "true"}, nil
}

// ExtensionCatalog is a ClusterCatalog without its content.
func ExtensionCatalog(c *olmv1.ClusterCatalog) extension.Catalog {
	return extension.Catalog{Name: c.Name, Labels: c.Labels, Priority: int(c.Spec.Priority), Disabled: c.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable}
}
