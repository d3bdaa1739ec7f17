package crd

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// FuzzCompare has any two CRDs: nothing may panic, a CRD has no finding against itself, and the same pair has the same findings again.
func FuzzCompare(f *testing.F) {
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"],"maxLength":3}}}`,
		`{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer","minimum":1}}}`,
		`{"type":"object","oneOf":[{"required":["a"]}],"properties":{"a":{"x-kubernetes-int-or-string":true,"default":5}}}`,
		`{"x-kubernetes-preserve-unknown-fields":true,"nullable":true,"not":{"type":"string"},"items":[{"type":"string"}]}`,
		`{"type":"object","x-kubernetes-validations":[{"rule":"self.a > 1"}],"properties":{"a":{"type":"integer"}}}`,
	} {
		for _, other := range []string{`{"type":"object"}`, schema} {
			f.Add(schema, other, `{"a":1}`, uint8(3))
		}
	}
	f.Fuzz(func(t *testing.T, left, right, spec string, flags uint8) {
		old, new := fuzzed(left, flags), fuzzed(right, flags>>3)
		if old == nil || new == nil {
			return
		}
		for _, c := range []*definition{old, new} {
			if findings := safety(c, c, Policy{}); len(findings) > 0 {
				t.Fatalf("a CRD against itself: %v", findings)
			}
			if v := planRules(Change{Live: c, Desired: c, Strict: true}); len(v.Refused)+len(v.Changed)+len(v.Leaving)+len(v.Warnings) > 0 {
				t.Fatalf("a CRD against itself: %+v", v)
			}
		}
		first := safety(old, new, Policy{})
		if diff := cmp.Diff(first, safety(old, new, Policy{})); diff != "" {
			t.Fatal(diff)
		}
		_ = Report(new.Name, first)
		v := planRules(Change{Live: old, Desired: new})
		validator, err := NewValidator(old, new, v.Changed)
		object := map[string]any{}
		if err != nil || json.Unmarshal([]byte(spec), &object) != nil {
			return
		}
		budget := int64(celconfig.PerCallLimit)
		_, _ = validator.Check(t.Context(), whole(object).(map[string]any), "", &budget)
	})
}

// fuzzed is a CRD of two versions; the flags say which is served and listed as stored.
func fuzzed(schema string, flags uint8) *definition {
	c := &definition{}
	text := `{"metadata":{"name":"w.x"},"spec":{"group":"x","versions":[{"name":"v1","schema":{"openAPIV3Schema":` + schema + `}},{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`
	if json.Unmarshal([]byte(text), c) != nil || len(c.Spec.Versions) != 2 {
		return nil
	}
	c.Spec.Versions[0].Served = flags&1 != 0
	c.Spec.Versions[1].Served = flags&2 == 0
	c.Status.StoredVersions = []string{"v2"}
	if flags&4 != 0 {
		c.Status.StoredVersions = []string{"v1", "v2"}
	}
	return c
}
