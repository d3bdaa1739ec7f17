package grpccatalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

// bundleOf writes a message as a bundle. Older servers say in fields of the message what newer ones say in properties: both are taken.
func bundleOf(b *registry.Bundle) (catalog.Bundle, error) {
	n := catalog.JSONValues(b.GetCsvJson())
	for _, property := range b.GetProperties() {
		n += catalog.JSONValues(property.GetValue())
	}
	for _, dependency := range b.GetDependencies() {
		n += catalog.JSONValues(dependency.GetValue())
	}
	if n > maxValues {
		return catalog.Bundle{}, fmt.Errorf("its properties and its ClusterServiceVersion have about %d values, more than the %d that are read; make them smaller", n, maxValues)
	}
	p := properties{}
	for _, property := range b.GetProperties() {
		p.addText(property.GetType(), property.GetValue())
	}
	if !has(p.list, catalog.PropertyPackage) {
		p.add(catalog.PropertyPackage, packageProperty{b.GetPackageName(), b.GetVersion()})
	}
	for _, gvk := range b.GetProvidedApis() {
		p.add(catalog.PropertyGVK, catalog.GVK{Group: gvk.GetGroup(), Version: gvk.GetVersion(), Kind: gvk.GetKind()})
	}
	for _, gvk := range b.GetRequiredApis() {
		p.add(catalog.PropertyGVKRequired, catalog.GVK{Group: gvk.GetGroup(), Version: gvk.GetVersion(), Kind: gvk.GetKind()})
	}
	for _, dependency := range b.GetDependencies() {
		// Add a dependency as the property that it is.
		switch dependency.GetType() {
		case catalog.PropertyGVK:
			p.addText(catalog.PropertyGVKRequired, dependency.GetValue())
		case catalog.PropertyLabel:
			p.addText(catalog.PropertyLabelRequired, dependency.GetValue())
		case catalog.PropertyPackage:
			var needed packageProperty
			if err := json.Unmarshal([]byte(dependency.GetValue()), &needed); err != nil {
				p.err = cmp.Or(p.err, fmt.Errorf("dependency %s: %w", dependency.GetType(), err))
				continue
			}
			p.add(catalog.PropertyPackageRequired, packageRequired{needed.Name, needed.Version})
		default:
			p.addText(dependency.GetType(), dependency.GetValue())
		}
	}
	for _, object := range b.GetObject() {
		p.add(catalog.PropertyBundleObject, manifest{[]byte(object)})
	}
	result := catalog.Bundle{Schema: catalog.SchemaBundle, Package: b.GetPackageName(), Name: b.GetCsvName(), Image: b.GetBundlePath(), Properties: p.list}
	var csv struct {
		Spec struct {
			RelatedImages []catalog.RelatedImage `json:"relatedImages"`
		} `json:"spec"`
	}
	if json.Unmarshal([]byte(b.GetCsvJson()), &csv) == nil { // one that cannot be read names no images
		result.RelatedImages = csv.Spec.RelatedImages
	}
	return result, p.err
}

// The values of properties, and of the dependencies like them.
type (
	packageProperty struct {
		Name    string `json:"packageName"`
		Version string `json:"version"`
	}
	packageRequired struct {
		Name  string `json:"packageName"`
		Range string `json:"versionRange"`
	}
	manifest struct {
		Data []byte `json:"data"`
	}
)

// properties are collected without repeating what is the same.
type properties struct {
	list []catalog.Property
	seen map[string]bool
	err  error
}

// has reports whether there is a property of a type.
func has(list []catalog.Property, kind string) bool {
	return slices.ContainsFunc(list, func(have catalog.Property) bool { return have.Type == kind })
}

// add adds a property.
func (p *properties) add(kind string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		p.err = cmp.Or(p.err, fmt.Errorf("encode property %s: %w", kind, err))
		return
	}
	p.addText(kind, string(text))
}

// addText adds a property, whose value is JSON in any form.
func (p *properties) addText(kind, value string) {
	same, err := canonical(value)
	if err != nil {
		p.err = cmp.Or(p.err, fmt.Errorf("property %s: %w", kind, err))
		return
	}
	key := kind + "\x00" + same
	if p.seen[key] && kind != catalog.PropertyBundleObject {
		return
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[key] = true
	p.list = append(p.list, catalog.Property{Type: kind, Value: json.RawMessage(same)})
}

// canonical writes JSON with sorted keys, so that what is the same looks the same.
func canonical(text string) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("the value is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("the value is more than one value of JSON")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("encode the value again: %w", err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}
