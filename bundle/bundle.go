package bundle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

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

// PackageNeed is the value of an olm.package dependency.
type PackageNeed struct {
	PackageName string `json:"packageName"`
	// Version is a range of versions.
	Version string `json:"version"`
}

// Package is the value of a dependency of type olm.package.
func (d Dependency) Package() (PackageNeed, error) {
	var need PackageNeed
	err := d.decode(&need)
	return need, err
}

// GVK is the value of a dependency of type olm.gvk.
func (d Dependency) GVK() (catalog.GVK, error) {
	var gvk catalog.GVK
	err := d.decode(&gvk)
	return gvk, err
}

func (d Dependency) decode(out any) error {
	if err := json.Unmarshal(d.Value, out); err != nil {
		return fmt.Errorf("value of %s: %w", d.Type, err)
	}
	return nil
}

// Icon is the first icon of the ClusterServiceVersion that can be read, for the package in a catalog; nil if there is none.
func (b *Bundle) Icon() *catalog.Icon {
	for _, icon := range b.CSV.Spec.Icon {
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(icon.Data), ""))
		if err == nil && len(data) > 0 {
			return &catalog.Icon{Data: data, MediaType: icon.MediaType}
		}
	}
	return nil
}

// PackageOf is the package that an installed ClusterServiceVersion comes from, as the properties recorded on it tell; empty when they
// do not.
func PackageOf(csv *v1alpha1.ClusterServiceVersion) string {
	var annotation struct {
		Properties []catalog.Property `json:"properties"`
	}
	if json.Unmarshal([]byte(csv.Annotations[v1alpha1.PropertiesAnnotation]), &annotation) != nil {
		return ""
	}
	for _, property := range annotation.Properties {
		var value struct {
			Name string `json:"packageName"`
		}
		if property.Type == catalog.PropertyPackage && json.Unmarshal(property.Value, &value) == nil {
			return value.Name
		}
	}
	return ""
}
