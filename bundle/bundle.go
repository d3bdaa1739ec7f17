package bundle

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// Bundle is one version of an operator, as its author published it. Load and FromManifests make Bundles.
type Bundle struct {
	// Name is the name of the ClusterServiceVersion.
	Name string
	// Package, Channels and DefaultChannel are what the annotations say; a bundle made of inline manifests has none,
	// because its catalog knows them. Without an annotation, the first of the sorted channels is the default.
	Package        string
	Channels       []string
	DefaultChannel string
	// Image is the reference that the bundle was pulled with. Load leaves it empty.
	Image string
	// Version orders bundles: it is the version and release of the ClusterServiceVersion. The build metadata of a rebuild of old is its
	// release here; VersionText has the version as it is written.
	Version version.VersionRelease
	// Annotations are those of the metadata.
	Annotations map[string]string

	// CSV is the ClusterServiceVersion.
	CSV *v1alpha1.ClusterServiceVersion
	// Objects are all other manifests, by file name.
	Objects []*unstructured.Unstructured

	// Properties are those that the author declared in the metadata, without what follows from the manifests.
	Properties []catalog.Property
	// Dependencies are those that the author declared in the metadata.
	Dependencies []Dependency

	// Warnings say what was passed over when the bundle was loaded.
	Warnings []string

	manifest   *unstructured.Unstructured // the ClusterServiceVersion as it was written
	incomplete []string                   // files of objects without apiVersion, which were passed over
}

// Dependency is a need of a bundle: an olm.package, olm.gvk, olm.label or olm.constraint, and its value.
type Dependency struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// AllObjects are all manifests as their author wrote them, the ClusterServiceVersion first. They are not to be changed.
func (b *Bundle) AllObjects() []*unstructured.Unstructured {
	return append([]*unstructured.Unstructured{b.manifest}, b.Objects...)
}
