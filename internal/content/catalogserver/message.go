package catalogserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

// bundleAt is a bundle as it is answered: alone, with its manifests and without its upgrade edges; in ListBundles with its upgrade edges, and
// with its manifests only where there is no image.
func bundleAt(x *catalog.Index, at place, alone bool) (*registry.Bundle, error) {
	b, err := message(at)
	if alone {
		b.Replaces, b.Skips = "", nil
	}
	if err == nil && (alone || b.BundlePath == "") {
		err = addManifests(b, x, at)
	}
	if err != nil {
		return nil, status.Errorf(codes.Internal, "read bundle %q of package %q: %v", at.entry.Name, at.pkg.Name, err)
	}
	return b, nil
}

// message is a bundle without manifests.
func message(at place) (*registry.Bundle, error) {
	info := at.entry.Bundle
	b := &registry.Bundle{
		CsvName:      at.entry.Name,
		PackageName:  at.pkg.Name,
		ChannelName:  at.channel.Name,
		BundlePath:   info.Image,
		ProvidedApis: apis(info.Provides),
		Version:      info.VersionText,
		SkipRange:    at.entry.SkipRange.String(),
		Replaces:     at.entry.Replaces,
		Skips:        at.entry.Skips,
		Deprecation:  deprecation(info.Deprecation),
	}
	return b, addProperties(b, info.Properties)
}

func deprecation(message string) *registry.Deprecation {
	if message == "" {
		return nil
	}
	return &registry.Deprecation{Message: message}
}

func apis(gvks []catalog.GVK) []*registry.GroupVersionKind {
	var list []*registry.GroupVersionKind
	for _, g := range gvks {
		list = append(list, &registry.GroupVersionKind{Group: g.Group, Version: g.Version, Kind: g.Kind})
	}
	return list
}

// addProperties adds properties, and once more as dependencies what is required: APIs first, then packages.
func addProperties(b *registry.Bundle, properties []catalog.Property) error {
	var packages []*registry.Dependency
	for _, p := range properties {
		value := string(p.Value)
		b.Properties = append(b.Properties, &registry.Property{Type: p.Type, Value: value})
		switch p.Type {
		case catalog.PropertyGVKRequired: // not of the bundle's needs, which may be more than it declares
			var required catalog.GVK
			if err := json.Unmarshal(p.Value, &required); err != nil {
				return fmt.Errorf("decode its property %s: %w", p.Type, err)
			}
			b.RequiredApis = append(b.RequiredApis, apis([]catalog.GVK{required})...)
			b.Dependencies = append(b.Dependencies, &registry.Dependency{Type: catalog.PropertyGVK, Value: value})
		case catalog.PropertyPackageRequired:
			// Write an olm.package.required property as a dependency, where the range has another key.
			var required struct {
				PackageName string `json:"packageName"`
				Range       string `json:"versionRange"`
			}
			if err := json.Unmarshal(p.Value, &required); err != nil {
				return fmt.Errorf("decode its property %s: %w", catalog.PropertyPackageRequired, err)
			}
			text, err := encode(struct {
				PackageName string `json:"packageName"`
				Version     string `json:"version"`
			}{required.PackageName, required.Range})
			if err != nil {
				return err
			}
			dependency := &registry.Dependency{Type: catalog.PropertyPackage, Value: text}
			packages = append(packages, dependency)
		}
	}
	b.Dependencies = append(b.Dependencies, packages...)
	return nil
}

// encode writes JSON in one line, leaving < and > as they are.
func encode(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("encode JSON: %w", err)
	}
	return string(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), nil
}
