package plansteps

import (
	"encoding/json"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
)

// Origin is what a plan was made of, beyond what the fields of a lookup say. Policies are asked about it again before the plan is carried out.
type Origin struct {
	// Requested is the reference by tag that the catalog has, where the path is the digest that it stood for.
	Requested string `json:"requested,omitempty"`
	// Catalog is the image of the catalog that names the bundle by its digest, or holds the manifests of a bundle without an image. A signature on it
	// covers the bundle, whatever the catalog names by now. Its Ref is empty where the catalog was not read from an image, so that there is nothing
	// that could be signed.
	Catalog *image.Origin `json:"catalog,omitempty"`
}

// NamedBy is the image of the catalog, nil where it was not read from an image.
func (o *Origin) NamedBy() *image.Origin {
	if o.Catalog == nil || o.Catalog.Ref == "" {
		return nil
	}
	return o.Catalog
}

// originKey is the member of the properties of a lookup, beside those of the bundle, that holds its origin. Clients that read the properties
// look for their own members only, and the field is the one of a lookup that has room for more.
const originKey = "operators.fairlead.dev/origin"

// originOf is that of a bundle of a catalog whose path in a lookup is known; nil while the path is a tag.
func originOf(requested, path string, from image.Origin) *Origin {
	switch {
	case requested == "" || strings.Contains(requested, "@"):
		return &Origin{Catalog: &from}
	case requested != path:
		return &Origin{Requested: requested}
	}
	return nil
}

// OriginOf reads the origin that a lookup records; nil where it records none, as in plans of other implementations.
func OriginOf(lookup v1alpha1.BundleLookup) *Origin {
	var record map[string]json.RawMessage
	if json.Unmarshal([]byte(lookup.Properties), &record) != nil || record[originKey] == nil {
		return nil
	}
	o := &Origin{}
	if json.Unmarshal(record[originKey], o) != nil {
		return nil
	}
	return o
}

// PackageOf is the package of the bundle of a lookup; empty where its properties do not have it.
func PackageOf(lookup v1alpha1.BundleLookup) string {
	var record struct {
		Properties []catalog.Property `json:"properties"`
	}
	if json.Unmarshal([]byte(lookup.Properties), &record) != nil {
		return ""
	}
	for _, p := range record.Properties {
		var pkg struct {
			Name string `json:"packageName"`
		}
		if p.Type == catalog.PropertyPackage && json.Unmarshal(p.Value, &pkg) == nil && pkg.Name != "" {
			return pkg.Name
		}
	}
	return ""
}

// Pinned is a lookup whose path is the image with a digest that its tag stands for. A path by digest, or none, stays as it is.
func Pinned(lookup v1alpha1.BundleLookup, digest string) v1alpha1.BundleLookup {
	if lookup.Path == "" || digest == "" || strings.Contains(lookup.Path, "@") {
		return lookup
	}
	record := map[string]json.RawMessage{}
	if lookup.Properties != "" && json.Unmarshal([]byte(lookup.Properties), &record) != nil {
		return lookup
	}
	origin, err := json.Marshal(Origin{Requested: lookup.Path})
	if err != nil {
		return lookup
	}
	record[originKey] = origin
	properties, err := json.Marshal(record)
	if err != nil {
		return lookup
	}
	lookup.Path, lookup.Properties = image.Pin(lookup.Path, digest), string(properties)
	return lookup
}
