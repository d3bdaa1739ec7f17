package crds_test

import (
	"iter"
	"maps"
	"math"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// hostile are values for which a schema may be laxer than the Go type behind it.
var hostile = map[string][]any{
	"string": {
		"", "x", "v1.2", "01.2", "1.2.3-01", "1.99999999999999999999.0", "99999999999999999999", "1.2.3-99999999999999999999", "é",
		"1e1.5", "1e.5", "1e99999999999999999999", ".5", "5.", "1Ei", "99999999999999h", "9999999999999h1m", "1.5h", "1h",
		"2020-01-01T00:00:00Z", "2020-01-01t00:00:00z", "2020-01-01T00:00:00+25:00", "2020-01-01T00:00:00,5Z", "0000-01-01T00:00:00Z",
	},
	"integer": {int64(0), int64(-1), int64(1), int64(443), int64(math.MaxInt32), int64(math.MaxInt32 + 1), int64(math.MinInt64), int64(math.MaxInt64), 1e30},
	"number":  {1.5, 1e30},
	"boolean": {true, "true", int64(1)},
	"":        {nil, true, int64(7), "x", []any{nil}, map[string]any{"k": nil}},
}

// simplest is a value of a schema with nothing in it but what is required.
func simplest(s *structuralschema.Structural) any {
	if s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0 {
		return s.ValueValidation.Enum[0].Object
	}
	switch s.Type {
	case "object":
		out := map[string]any{}
		for _, name := range required(s) {
			property := s.Properties[name]
			out[name] = simplest(&property)
		}
		return out
	case "array":
		return []any{}
	case "boolean":
		return true
	case "integer", "number":
		return int64(10)
	default:
		return "a"
	}
}

func required(s *structuralschema.Structural) []string {
	if s.ValueValidation == nil {
		return nil
	}
	return s.ValueValidation.Required
}

// leaves are the hostile values for a schema without inner schemas. One is enough for a plain text: every Go type that
// is stricter than its schema refuses it.
func leaves(s *structuralschema.Structural) []any {
	values := hostile[s.Type]
	if s.Type == "string" && s.ValueValidation == nil && len(s.XValidations) == 0 {
		return []any{"x"}
	}
	return values
}

// variants are values of a schema, each with one hostile value somewhere in it.
func variants(s *structuralschema.Structural) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch {
		case s.XIntOrString:
			forEach(slices.Values(slices.Concat(hostile["string"], hostile["integer"])), yield, func(v any) any { return v })
		case s.Type == "object" && len(s.Properties) > 0:
			objectVariants(s, yield)
		case s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
			forEach(variants(s.AdditionalProperties.Structural), yield, func(v any) any { return map[string]any{"k": v} })
		case s.Type == "array" && s.Items != nil:
			forEach(variants(s.Items), yield, func(v any) any { return []any{v} })
		default:
			forEach(slices.Values(leaves(s)), yield, func(v any) any { return v })
		}
	}
}

func objectVariants(s *structuralschema.Structural, yield func(any) bool) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name == "initContainers" {
			continue // the same Go type as containers, and slow
		}
		property := s.Properties[name]
		more := forEach(variants(&property), yield, func(v any) any {
			out := simplest(s).(map[string]any)
			out[name] = v
			return out
		})
		if !more {
			return
		}
	}
}

// forEach yields what wrap makes of each value, and says whether to go on.
func forEach(values iter.Seq[any], yield func(any) bool, wrap func(any) any) bool {
	for v := range values {
		if !yield(wrap(v)) {
			return false
		}
	}
	return true
}

// overlay puts the fields of top over those of base; lists are replaced.
func overlay(base, top map[string]any) map[string]any {
	out := maps.Clone(base)
	for name, value := range top {
		under, isMap := out[name].(map[string]any)
		over, both := value.(map[string]any)
		if isMap && both {
			value = overlay(under, over)
		}
		out[name] = value
	}
	return out
}
