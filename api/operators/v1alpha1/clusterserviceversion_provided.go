package v1alpha1

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// PluralAndGroup takes the name of a CRD, <plural>.<group>, apart. It is an error when there is no dot in it.
func (d CRDDescription) PluralAndGroup() (plural, group string, err error) {
	plural, group, found := strings.Cut(d.Name, ".")
	if !found || plural == "" || group == "" {
		return "", "", fmt.Errorf("read CRD name %q: want <plural>.<group>", d.Name)
	}
	return plural, group, nil
}

// AllCRDs are the owned and required CRDs, each name once with the owned description first, by name.
func (c *ClusterServiceVersion) AllCRDs() []CRDDescription {
	all := slices.Concat(c.Spec.CustomResourceDefinitions.Owned, c.Spec.CustomResourceDefinitions.Required)
	return firstOfEach(all, func(d CRDDescription) string { return d.Name })
}

// OwnsCRD says whether the CRD of this name is owned.
func (c *ClusterServiceVersion) OwnsCRD(name string) bool {
	return slices.ContainsFunc(c.Spec.CustomResourceDefinitions.Owned, func(d CRDDescription) bool { return d.Name == name })
}

// OwnsAPIService says whether the APIService of this name, <version>.<group>, is owned.
func (c *ClusterServiceVersion) OwnsAPIService(name string) bool {
	return slices.ContainsFunc(c.Spec.APIServiceDefinitions.Owned, func(d APIServiceDescription) bool { return d.APIServiceName() == name })
}

// OwnedAPIServices are the owned aggregated APIs, each APIService and kind once, by name and kind.
func (c *ClusterServiceVersion) OwnedAPIServices() []APIServiceDescription {
	return firstOfEach(c.Spec.APIServiceDefinitions.Owned, apiServiceKey)
}

// RequiredAPIServices are the aggregated APIs that are required and not owned, each once, by name and kind.
func (c *ClusterServiceVersion) RequiredAPIServices() []APIServiceDescription {
	owned := map[string]bool{}
	for _, d := range c.Spec.APIServiceDefinitions.Owned {
		owned[apiServiceKey(d)] = true
	}
	required := slices.DeleteFunc(slices.Clone(c.Spec.APIServiceDefinitions.Required), func(d APIServiceDescription) bool {
		return owned[apiServiceKey(d)]
	})
	return firstOfEach(required, apiServiceKey)
}

func apiServiceKey(d APIServiceDescription) string { return d.APIServiceName() + " " + d.Kind }

// ProvidedAPIs are the kinds of the owned CRDs and aggregated APIs, sorted, each once. A CRD whose name has no dot has
// no group and is left out.
func (c *ClusterServiceVersion) ProvidedAPIs() []schema.GroupVersionKind {
	return kindsOf(c.Spec.CustomResourceDefinitions.Owned, c.Spec.APIServiceDefinitions.Owned)
}

// RequiredAPIs are the kinds of the required CRDs and aggregated APIs, sorted, each once.
func (c *ClusterServiceVersion) RequiredAPIs() []schema.GroupVersionKind {
	return kindsOf(c.Spec.CustomResourceDefinitions.Required, c.Spec.APIServiceDefinitions.Required)
}

func kindsOf(crds []CRDDescription, services []APIServiceDescription) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, d := range crds {
		if _, group, err := d.PluralAndGroup(); err == nil {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: d.Version, Kind: d.Kind})
		}
	}
	for _, d := range services {
		kinds = append(kinds, schema.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind})
	}
	slices.SortFunc(kinds, compareKinds)
	return slices.Compact(kinds)
}

func compareKinds(a, b schema.GroupVersionKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
}

// firstOfEach sorts by key and keeps the first item of each key.
func firstOfEach[T any](items []T, key func(T) string) []T {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return slices.CompactFunc(sorted, func(a, b T) bool { return key(a) == key(b) })
}
