package resolution

import (
	"encoding/json"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"

	corev1 "k8s.io/api/core/v1"
)

// LookupOf records where the objects of a bundle come from, so that they can be read again when the content store has lost them. path is
// the image of the bundle; by digest, once that is known. from is the image of the catalog, as that is served; its Ref is empty for a catalog
// of another origin.
func LookupOf(choice Choice, path string, from image.Origin) v1alpha1.BundleLookup {
	record := struct {
		Properties []catalog.Property `json:"properties,omitempty"`
		Origin     *BundleOrigin      `json:"operators.fairlead.dev/origin,omitempty"`
	}{Properties: choice.Bundle.Properties}
	switch requested := choice.Bundle.Image; {
	case requested == "" || strings.Contains(requested, "@"):
		record.Origin = &BundleOrigin{Catalog: &from}
	case requested != path: // it has none while the path is a tag
		record.Origin = &BundleOrigin{Requested: requested}
	}
	properties, err := json.Marshal(record)
	if err != nil {
		properties = []byte("{}") // a property that is not JSON was refused when the catalog was loaded
	}
	return v1alpha1.BundleLookup{
		Path: path, Identifier: choice.Bundle.Name, Replaces: choice.Replaces, Properties: string(properties),
		CatalogSourceRef: &corev1.ObjectReference{Namespace: choice.Catalog.Namespace, Name: choice.Catalog.Name},
	}
}

// BundleOrigin is what a plan was made of, beyond what the fields of a lookup say. Policies are asked about it again before the plan is carried out.
type BundleOrigin struct {
	// Requested is the reference by tag that the catalog has, where the path is the digest that it stood for.
	Requested string `json:"requested,omitempty"`
	// Catalog is the image of the catalog that names the bundle by its digest, or holds the manifests of a bundle without an image. A signature on it
	// covers the bundle, whatever the catalog names by now. Its Ref is empty where the catalog was not read from an image, so that there is nothing
	// that could be signed.
	Catalog *image.Origin `json:"catalog,omitempty"`
}

// NamedBy is the image of the catalog, nil where it was not read from an image.
func (o *BundleOrigin) NamedBy() *image.Origin {
	if o.Catalog == nil || o.Catalog.Ref == "" {
		return nil
	}
	return o.Catalog
}

// originKey is the member of the properties of a lookup, beside those of the bundle, that holds its origin. Clients that read the properties
// look for their own members only, and the field is the one of a lookup that has room for more.
const originKey = "operators.fairlead.dev/origin"

// OriginOf reads the origin that a lookup records; nil where it records none, as in plans of other implementations.
func OriginOf(lookup v1alpha1.BundleLookup) *BundleOrigin {
	var record map[string]json.RawMessage
	if json.Unmarshal([]byte(lookup.Properties), &record) != nil || record[originKey] == nil {
		return nil
	}
	o := &BundleOrigin{}
	if json.Unmarshal(record[originKey], o) != nil {
		return nil
	}
	return o
}

// LookupPackage is the package of the bundle of a lookup; empty where its properties do not have it.
func LookupPackage(lookup v1alpha1.BundleLookup) string {
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

// PinLookup is a lookup whose path is the image with a digest that its tag stands for. A path by digest, or none, stays as it is.
func PinLookup(lookup v1alpha1.BundleLookup, digest string) v1alpha1.BundleLookup {
	if lookup.Path == "" || digest == "" || strings.Contains(lookup.Path, "@") {
		return lookup
	}
	record := map[string]json.RawMessage{}
	if lookup.Properties != "" && json.Unmarshal([]byte(lookup.Properties), &record) != nil {
		return lookup
	}
	origin, err := json.Marshal(BundleOrigin{Requested: lookup.Path})
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

// SignatureCondition is the condition of a lookup that reports who signed its bundle, or why the signature policy refuses it; nil where no policy
// applies.
func SignatureCondition(v image.Verdict) *v1alpha1.BundleLookupCondition {
	c := v.Condition()
	if c == nil {
		return nil
	}
	return &v1alpha1.BundleLookupCondition{Type: v1alpha1.BundleLookupSignatureVerified, Status: corev1.ConditionStatus(c.Status), Reason: c.Reason,
		Message: messages.Brief(c.Message)}
}
