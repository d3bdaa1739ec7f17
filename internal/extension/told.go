package extension

import (
	"encoding/json"

	"fairlead.dev/fairlead/catalog"
)

// deprecation tells what the catalog of the chosen candidate says or, without one, the first catalog that has the package.
func (b *builder) deprecation(chosen *candidate) *Deprecation {
	var source *Catalog
	for _, c := range b.catalogs {
		if _, ok := b.packageOf(c); ok {
			source = c
			break
		}
	}
	if chosen != nil {
		source = chosen.catalog
	}
	if source == nil {
		return nil
	}
	p, _ := b.packageOf(source)
	d := &Deprecation{Catalog: source.Name, Package: p.Deprecation}
	for _, c := range p.Channels {
		if c.Deprecation != "" && b.follows(c.Name) {
			if d.Channels == nil {
				d.Channels = map[string]string{}
			}
			d.Channels[c.Name] = c.Deprecation
		}
	}
	if b.in.Installed != nil {
		if bundle, ok := source.Index.BundleV1(p.Name, b.in.Installed.Name); ok {
			d.Installed = bundle.Deprecation
		}
	}
	if chosen != nil {
		d.Chosen = chosen.bundle.Deprecation
	}
	return d
}

// maxOpenShift reads olm.maxOpenShiftVersion, which people write as a string and as a number.
func maxOpenShift(bundle *catalog.BundleInfo) string {
	const property = "olm.maxOpenShiftVersion"
	for _, p := range bundle.Properties {
		if p.Type != property {
			continue
		}
		var text string
		if json.Unmarshal(p.Value, &text) == nil {
			return text
		}
		var number json.Number
		if json.Unmarshal(p.Value, &number) == nil {
			return number.String()
		}
	}
	return ""
}
