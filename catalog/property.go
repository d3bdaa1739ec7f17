package catalog

import (
	"encoding/json"

	"fairlead.dev/fairlead/version"
)

// The property types that mean something here.
const (
	PropertyPackage         = "olm.package"
	PropertyPackageRequired = "olm.package.required"
	PropertyGVK             = "olm.gvk"
	PropertyGVKRequired     = "olm.gvk.required"
	PropertyLabel           = "olm.label"
	PropertyLabelRequired   = "olm.label.required"
	PropertyConstraint      = "olm.constraint"
	PropertyChannel         = "olm.channel"
	PropertyDeprecated      = "olm.deprecated"
	PropertyBundleObject    = "olm.bundle.object"
	PropertyCSVMetadata     = "olm.csv.metadata"
)

// Property is a typed piece of metadata.
type Property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// GVK names a Kubernetes API.
type GVK struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// String is "Kind.version.group".
func (g GVK) String() string { return g.Kind + "." + g.Version + "." + g.Group }

// PackageRequirement is a bundle's need for another package.
type PackageRequirement struct {
	PackageName string
	Range       version.Range
}
