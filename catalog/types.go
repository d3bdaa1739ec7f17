package catalog

import (
	"encoding/json"

	"fairlead.dev/fairlead/version"
)

// The schemas that mean something here. Objects of any other schema are kept
// as they are, as [Meta].
const (
	SchemaPackage      = "olm.package"
	SchemaChannel      = "olm.channel"
	SchemaBundle       = "olm.bundle"
	SchemaDeprecations = "olm.deprecations"
)

// Position is where an object was loaded from. The zero Position is that of an
// object made in memory.
type Position struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Catalog is a set of objects. Load fills it in the order of file and line.
type Catalog struct {
	Packages     []Package
	Channels     []Channel
	Bundles      []Bundle
	Deprecations []Deprecations
	Others       []Meta

	// LoadProblems are what Load found and could live with, and, when it
	// returned an error, also the objects it had to leave out. Validate
	// repeats them.
	LoadProblems Problems
}

// Package is an olm.package: one operator, with all its channels.
type Package struct {
	Schema         string     `json:"schema"`
	Name           string     `json:"name"`
	DefaultChannel string     `json:"defaultChannel"`
	Icon           *Icon      `json:"icon,omitempty"`
	Description    string     `json:"description,omitempty"`
	Properties     []Property `json:"properties,omitempty"`
	Position       Position   `json:"-"`
}

// Icon is the picture of a package.
type Icon struct {
	Data      []byte `json:"base64data"`
	MediaType string `json:"mediatype"`
}

// Channel is an olm.channel: a stream of updates of a package.
type Channel struct {
	Schema     string     `json:"schema"`
	Name       string     `json:"name"`
	Package    string     `json:"package"`
	Entries    []Entry    `json:"entries"`
	Properties []Property `json:"properties,omitempty"`
	Position   Position   `json:"-"`
}

// Entry is a bundle's place in a channel: what it upgrades from.
type Entry struct {
	Name      string   `json:"name"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`
}

// Bundle is an olm.bundle: one installable version.
type Bundle struct {
	Schema        string         `json:"schema"`
	Name          string         `json:"name,omitempty"`
	Package       string         `json:"package,omitempty"`
	Image         string         `json:"image"`
	Properties    []Property     `json:"properties,omitempty"`
	RelatedImages []RelatedImage `json:"relatedImages,omitempty"`
	Position      Position       `json:"-"`

	// Payloads are the properties of a loaded bundle that carry manifests:
	// Load takes them out of Properties, because they are most of a catalog
	// and seldom read. A Bundle made in memory may leave them in Properties.
	Payloads []Payload `json:"-"`
}

// RelatedImage is an image that a bundle needs at run time.
type RelatedImage struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// Deprecations is an olm.deprecations: what of a package is not to be used any
// more, and why.
type Deprecations struct {
	Schema   string        `json:"schema"`
	Package  string        `json:"package"`
	Entries  []Deprecation `json:"entries"`
	Position Position      `json:"-"`
}

// Deprecation is the message about one package, channel or bundle.
type Deprecation struct {
	Reference Reference `json:"reference"`
	Message   string    `json:"message"`
}

// Reference names the deprecated object: its schema and, unless it is the
// package itself, its name.
type Reference struct {
	Schema string `json:"schema"`
	Name   string `json:"name,omitempty"`
}

// Meta is an object of a schema that is not known here.
type Meta struct {
	Schema   string
	Package  string
	Name     string
	Blob     json.RawMessage // the whole object, compact, keys sorted
	Position Position
}

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
