package plan

import (
	"bytes"
	"encoding/json"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

func (b *builder) recordOperator(o *Operator) RecordedOperator {
	out := RecordedOperator{Name: o.Name, Package: o.Package, Version: o.Version.String(), Unsettled: !o.Settled, Failed: o.Failed, Phase: o.Phase}
	for i := range b.in.Sources {
		if s := &b.in.Sources[i]; s.Index != nil {
			if bundle, ok := s.Index.Bundle(o.Package, o.Name); ok && o.says(bundle) {
				out.Catalog = s.Ref.String()
				return out
			}
		}
	}
	out.Provides, out.Requires, out.Properties = o.Provides, o.Requires, b.telling(o.Properties)
	for _, p := range o.Packages {
		out.Packages = append(out.Packages, RecordedRange{p.Package, p.Range.String()})
	}
	return out
}

// telling are the properties that can make a difference: all of them once a rule was asked, which may look at any.
func (b *builder) telling(properties []catalog.Property) []catalog.Property {
	if len(b.rules.rules) > 0 {
		return properties
	}
	var some []catalog.Property
	for _, p := range properties {
		if p.Type == catalog.PropertyConstraint || p.Type == catalog.PropertyDeprecated {
			some = append(some, p)
		}
	}
	return some
}

// says tells whether all that is known of an operator is what its bundle in a catalog says.
func (o *Operator) says(bundle *catalog.BundleInfo) bool {
	return slices.Equal(o.Provides, bundle.Provides) && slices.Equal(o.Requires, bundle.Requires) &&
		slices.EqualFunc(o.Packages, bundle.RequiredPackages, func(a PackageRequirement, b catalog.PackageRequirement) bool {
			return a.Package == b.PackageName && a.Range.Equal(b.Range)
		}) &&
		slices.EqualFunc(o.Properties, bundle.Properties, func(a, b catalog.Property) bool {
			return a.Type == b.Type && sameJSON(a.Value, b.Value)
		})
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if bytes.Equal(a, b) {
		return true
	}
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	canonical := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	return canonical(x) == canonical(y)
}
