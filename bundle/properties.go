package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// propertiesAnnotation of a ClusterServiceVersion holds properties of its bundle, as a JSON list.
const propertiesAnnotation = "olm.properties"

// AllProperties are the properties of the bundle without its manifests: those that its author declared, its package and
// version unless declared, those in the annotation olm.properties, its APIs, and its needs. Each is there once, but for dependencies of
// other types than olm.gvk, which stay as their author lists them.
func (b *Bundle) AllProperties() ([]catalog.Property, error) {
	list := propertyList{items: append([]catalog.Property(nil), b.Properties...)}
	if !slices.ContainsFunc(list.items, func(p catalog.Property) bool { return p.Type == catalog.PropertyPackage }) {
		// The version as it is written. A release that follows from build metadata only orders bundles: readers of the property derive
		// it in the same way, and a bundle with a release in its property would need another name.
		list.add(catalog.PropertyPackage, packageValue{PackageName: b.Package, Version: b.VersionText(), Release: b.CSV.Spec.Release.String()})
	}
	annotated, _ := parseAnnotatedProperties(b.CSV.Annotations[propertiesAnnotation]) // Validate reports one that cannot be read
	list.items = append(list.items, annotated...)
	for _, gvk := range b.ProvidedAPIs() {
		list.add(catalog.PropertyGVK, apiValue{gvk.Group, gvk.Kind, gvk.Version})
	}
	for _, gvk := range b.RequiredAPIs() {
		list.add(catalog.PropertyGVKRequired, apiValue{gvk.Group, gvk.Kind, gvk.Version})
	}
	// Keep the first of properties with the same type and value.
	seen := map[string]bool{}
	out := make([]catalog.Property, 0, len(list.items))
	for _, item := range list.items {
		key := item.Type + "\x00" + string(item.Value)
		if !seen[key] {
			seen[key] = true
			out = append(out, item)
		}
	}
	list.items = out
	for i, dependency := range b.Dependencies {
		// Turn a dependency on a package or an API into the property for it, and adopt any other as it is.
		switch dependency.Type {
		case catalog.PropertyPackage:
			need, err := dependency.Package()
			if err != nil {
				return nil, fmt.Errorf("read dependency %d of bundle %s: %w", i, b.Name, err)
			}
			list.add(catalog.PropertyPackageRequired, requiredPackageValue{PackageName: need.PackageName, VersionRange: need.Version})
		case catalog.PropertyGVK:
			gvk, err := dependency.GVK()
			if err != nil {
				return nil, fmt.Errorf("read dependency %d of bundle %s: %w", i, b.Name, err)
			}
			// Add an API that is required, unless it is there. Required APIs are a set.
			if list.required == nil {
				list.required = map[string]bool{}
				for _, item := range list.items {
					if item.Type == catalog.PropertyGVKRequired {
						list.required[string(item.Value)] = true
					}
				}
			}
			list.add(catalog.PropertyGVKRequired, apiValue{gvk.Group, gvk.Kind, gvk.Version})
			last := len(list.items) - 1
			if value := string(list.items[last].Value); list.required[value] {
				list.items = list.items[:last]
			} else {
				list.required[value] = true
			}
		default:
			list.items = append(list.items, catalog.Property(dependency))
		}
	}
	if list.err != nil {
		return nil, fmt.Errorf("write properties of bundle %s: %w", b.Name, list.err)
	}
	return list.items, nil
}

// The values of the properties that are derived; keys stand in the order in which catalogs are written.
type (
	packageValue struct {
		PackageName string `json:"packageName"`
		Version     string `json:"version"`
		Release     string `json:"release,omitempty"`
	}
	requiredPackageValue struct {
		PackageName  string `json:"packageName"`
		VersionRange string `json:"versionRange"`
	}
	apiValue struct {
		Group   string `json:"group"`
		Kind    string `json:"kind"`
		Version string `json:"version"`
	}
)

func parseAnnotatedProperties(text string) ([]catalog.Property, error) {
	if text == "" {
		return nil, nil
	}
	var properties []catalog.Property
	if err := json.Unmarshal([]byte(text), &properties); err != nil {
		return nil, fmt.Errorf("read annotation %s: %w; it has to be a JSON list of type and value", propertiesAnnotation, err)
	}
	for i := range properties {
		var compact bytes.Buffer
		if properties[i].Type == "" || json.Compact(&compact, properties[i].Value) != nil {
			return nil, fmt.Errorf("read annotation %s: entry %d has no type or no value", propertiesAnnotation, i)
		}
		properties[i].Value = compact.Bytes()
	}
	return properties, nil
}

// propertyList collects properties and the first error of writing one.
type propertyList struct {
	items    []catalog.Property
	required map[string]bool // values of the APIs that are required, once a dependency names one
	err      error
}

func (l *propertyList) add(kind string, value any) {
	raw, err := compactJSON(value)
	if err != nil && l.err == nil {
		l.err = err
	}
	l.items = append(l.items, catalog.Property{Type: kind, Value: raw})
}
