package snapshot

import (
	"cmp"
	"errors"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"
)

// RequireAllCatalogsAnnotation set to "true" on a ClusterExtension lets it have nothing new while a catalog that it selects cannot be read, or
// has its package in a form of which nothing can be used, and could change the answer.
const RequireAllCatalogsAnnotation = "operators.fairlead.dev/require-all-catalogs"

// ExtensionRequest is what a ClusterExtension asks for. What it has installed and the catalogs are left to the caller, who knows
// where to look for them.
func ExtensionRequest(e *olmv1.ClusterExtension) (resolution.ExtensionRequest, error) {
	filter := e.Spec.Source.Catalog
	if filter == nil {
		return resolution.ExtensionRequest{}, errors.New("it has no spec.source.catalog; say there which package it asks for")
	}
	return resolution.ExtensionRequest{Name: e.Name, Package: filter.PackageName, Version: filter.Version, Channels: filter.Channels,
		Selector: filter.Selector, Policy: resolution.UpgradePolicy(cmp.Or(string(filter.UpgradeConstraintPolicy), string(resolution.CatalogProvided))),
		RequireAll: e.Annotations[RequireAllCatalogsAnnotation] == "true"}, nil
}

// ExtensionCatalog is a ClusterCatalog without its content.
func ExtensionCatalog(c *olmv1.ClusterCatalog) resolution.Catalog {
	return resolution.Catalog{Name: c.Name, Labels: c.Labels, Priority: int(c.Spec.Priority), Disabled: c.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable}
}
