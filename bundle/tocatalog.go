package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/catalog"
)

// ToCatalog is the olm.bundle of the bundle, with all manifests inline. The image is the reference that the bundle is
// published under; it is empty for a bundle that is not.
func (b *Bundle) ToCatalog(image string) (catalog.Bundle, error) {
	return b.toCatalog(image, b.AllObjects())
}

// ToCatalogWithCSV is ToCatalog with the ClusterServiceVersion as the only manifest: what catalog.Migrate needs to put metadata in
// its place, without the work for manifests that it drops.
func (b *Bundle) ToCatalogWithCSV(image string) (catalog.Bundle, error) {
	return b.toCatalog(image, b.AllObjects()[:1])
}

func (b *Bundle) toCatalog(image string, manifests []*unstructured.Unstructured) (catalog.Bundle, error) {
	properties, err := b.AllProperties()
	if err != nil {
		return catalog.Bundle{}, err
	}
	if b.Package == "" {
		return catalog.Bundle{}, fmt.Errorf("write bundle %s for a catalog: it names no package; add the annotation %s", b.Name, AnnotationPackage)
	}
	count := 0
	for _, property := range properties {
		if property.Type == catalog.PropertyPackage {
			count++
		}
	}
	if count != 1 {
		return catalog.Bundle{}, fmt.Errorf("write bundle %s for a catalog: it has %d properties %s; declare it once, or not at all",
			b.Name, count, catalog.PropertyPackage)
	}
	sortProperties(properties)
	// Hold each manifest in a property of its own.
	var objects []catalog.Property
	for _, object := range manifests {
		data, err := json.Marshal(object.Object)
		if err != nil {
			return catalog.Bundle{}, fmt.Errorf("write %s %s of bundle %s as JSON: %w", object.GetKind(), object.GetName(), b.Name, err)
		}
		value, err := compactJSON(struct {
			Data []byte `json:"data"`
		}{data})
		if err != nil {
			return catalog.Bundle{}, err
		}
		objects = append(objects, catalog.Property{Type: catalog.PropertyBundleObject, Value: value})
	}
	sortProperties(objects)
	return catalog.Bundle{
		Schema:        catalog.SchemaBundle,
		Name:          b.Name,
		Package:       b.Package,
		Image:         image,
		Properties:    append(properties, objects...),
		RelatedImages: b.relatedImages(image),
	}, nil
}

func sortProperties(properties []catalog.Property) {
	slices.SortStableFunc(properties, func(a, b catalog.Property) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(string(a.Value), string(b.Value)))
	})
}

// Images are the references to all images that the ClusterServiceVersion names, sorted.
func (b *Bundle) Images() []string {
	var all []string
	for _, related := range b.relatedImages("") {
		if related.Image != "" {
			all = append(all, related.Image)
		}
	}
	return slices.Compact(all)
}

// relatedImages are the images that the ClusterServiceVersion lists, that of the bundle and those of its containers,
// by image. The list of the author is kept as it is; others are added if they are missing there.
func (b *Bundle) relatedImages(bundleImage string) []catalog.RelatedImage {
	var out []catalog.RelatedImage
	seen := map[string]bool{"": true}
	for _, related := range b.CSV.Spec.RelatedImages {
		out = append(out, catalog.RelatedImage{Name: related.Name, Image: related.Image})
		seen[related.Image] = true
	}
	images := []string{bundleImage}
	for _, d := range b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, container := range slices.Concat(d.Spec.Template.Spec.InitContainers, d.Spec.Template.Spec.Containers) {
			images = append(images, container.Image)
		}
	}
	for _, image := range images {
		if !seen[image] {
			seen[image] = true
			out = append(out, catalog.RelatedImage{Image: image})
		}
	}
	slices.SortStableFunc(out, func(a, b catalog.RelatedImage) int { return cmp.Compare(a.Image, b.Image) })
	return out
}
