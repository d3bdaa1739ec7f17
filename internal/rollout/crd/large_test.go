package crd

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"fairlead.dev/fairlead/test/must"
)

// large is a CRD of about 1.4 MB, which is as much as the storage of a cluster takes, with a limit of one of its 3,000 fields.
func large(t testing.TB, maximum float64) *definition {
	t.Helper()
	c := crd(t, "v1 served stored: {type: object, properties: {spec: {type: object, properties: {}}}}")
	root := c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	for i := range 1000 {
		part := props{Type: "object", Description: strings.Repeat("What this is for. ", 45), Properties: map[string]props{}}
		for _, name := range []string{"name", "pattern", "count"} {
			field := props{Type: "string", Description: strings.Repeat("More about it. ", 6)}
			switch name {
			case "pattern":
				field.Pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
			case "count":
				field.Type, field.Maximum = "integer", &maximum
			}
			part.Properties[name] = field
		}
		part.XValidations = apiextensionsv1.ValidationRules{{Rule: "!has(self.name) || size(self.name) < 100", Message: "too long"}}
		root.Properties[fmt.Sprintf("part%04d", i)] = part
	}
	c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = root
	return c
}

// TestLargeCRD bounds what the judgement of a CRD takes that is as large as can be.
func TestLargeCRD(t *testing.T) {
	live, wanted := large(t, 9), large(t, 5)
	text, err := json.Marshal(wanted)
	if err != nil || len(text) < 1_350_000 || len(text) > 1_500_000 {
		t.Fatalf("the CRD has %d bytes, %v", len(text), err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := planRules(Change{Live: live, Desired: wanted})
	validator := must.Value(NewValidator(live, wanted, v.Changed))(t)
	budget := int64(celconfig.RuntimeCELCostBudget)
	problems, err := validator.Check(t.Context(), object(t, "{part0999: {name: x, count: 7}, part0500: {count: 3}}"), "", &budget)
	if err != nil || len(problems) != 1 || problems[0].Path != "^.spec.part0999.count" {
		t.Errorf("%v, %v", problems, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 256<<20 {
		t.Errorf("%d MiB are kept", kept>>20)
	}
	runtime.KeepAlive(validator)
}

// BenchmarkLargeCRD judges the upgrade of a CRD of 1.4 MB with 1,000 rules, and compares an object with it.
func BenchmarkLargeCRD(b *testing.B) {
	for name, spec := range map[string]string{"valid": "{part0500: {count: 3}}", "invalid": "{part0500: {count: 7}}"} {
		b.Run(name, func(b *testing.B) {
			live, wanted, o := large(b, 9), large(b, 5), object(b, spec)
			var validator *Validator
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				v := planRules(Change{Live: live, Desired: wanted})
				var err error
				if validator, err = NewValidator(live, wanted, v.Changed); err != nil {
					b.Fatal(err)
				}
				budget := validator.Cost()
				must.Value(validator.Check(b.Context(), o, "", &budget))(b)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-min(before.HeapAlloc, after.HeapAlloc))/(1<<20), "MiB-kept")
			runtime.KeepAlive(validator)
		})
	}
}
