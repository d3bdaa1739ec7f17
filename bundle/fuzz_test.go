package bundle

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	kyaml "sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// fuzzLimits keep what one input can cost small.
var fuzzLimits = limits{files: 10, fileBytes: 1 << 16, totalBytes: 1 << 17, tokens: 5000, totalTokens: 10000, depth: 50, values: 5000, totalValues: 10000}

// FuzzLoad loads a bundle of three files and takes whatever loads all the way: nothing panics, nothing changes what it
// is given, and the same bundle gives the same bytes.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(testAnnotationsYAML), []byte(testCSVYAML), []byte(testCRDYAML))
	f.Add([]byte(testAnnotationsYAML+"dependencies: [{type: olm.gvk, value: {group: g}}]\nproperties: [{type: a, value: 1}]"), []byte(testCSVYAML), []byte(configMap("x")))
	f.Add([]byte("annotations: &a {x: y}"), []byte(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"x"},"spec":{"install":{"strategy":"deployment","spec":{"deployments":[{"name":"d","spec":{}}],"permissions":[{"serviceAccountName":"","rules":[]}]}},"webhookdefinitions":[{"type":"ConversionWebhook","deploymentName":"d"}]}}`), []byte("{}"))
	f.Fuzz(func(t *testing.T, metadata, csv, other []byte) {
		files := fstest.MapFS{"metadata/m.yaml": {Data: metadata}, "manifests/a.yaml": {Data: csv}, "manifests/b": {Data: other}}
		in := inspect(files, fuzzLimits)
		if in.err() != nil {
			return
		}
		b, before, csvBefore := in.Bundle, asJSON(t, in.Bundle.AllObjects()), in.Bundle.CSV.DeepCopy()
		first := renderAll(t, b)
		must.Equal(t, "first", first, renderAll(t, b))
		if before != asJSON(t, b.AllObjects()) || !cmp.Equal(csvBefore, b.CSV) {
			t.Error("rendering changed the bundle")
		}
	})
}

// renderAll is all that can be made of a bundle, errors included.
func renderAll(t *testing.T, b *Bundle) string {
	c, err1 := b.ToCatalog("example.com/b:1")
	steps, err2 := Steps(b, StepTarget{Namespace: "ns"})
	deployments, err3 := Deployments(b.CSV, DeploymentOptions{ProxyEnv: env("HTTP_PROXY", "p")})
	services, err4 := Services(b.CSV)
	validating, err5 := ValidatingWebhooks(b.CSV, WebhookOptions{})
	mutating, err6 := MutatingWebhooks(b.CSV, WebhookOptions{})
	conversions, err7 := Conversions(b.CSV, WebhookOptions{})
	out := []any{Validate(b), c.Properties, c.RelatedImages, steps, deployments, services, validating, mutating, conversions}
	for _, err := range []error{err1, err2, err3, err4, err5, err6, err7} {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	return asJSON(t, out)
}

// FuzzMetadata reads a metadata file. What is read is bounded by the file, and properties are JSON.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(testAnnotationsYAML))
	f.Add([]byte("dependencies:\n- {type: olm.package, value: {packageName: p, version: '>1.0.0'}}\n"))
	f.Add([]byte("properties: &p\n- type: a\n  value: *p\n"))
	f.Add([]byte(`{"properties": [{"type": "x", "value": [1.5, null, "<"]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &Inspection{Bundle: &Bundle{}}
		in.takeMetadata(file{name: "m.yaml", data: data}, fuzzLimits, map[string]string{})
		if len(in.Problems) > 0 {
			return
		}
		b := in.Bundle
		for _, dependency := range b.Dependencies {
			b.Properties = append(b.Properties, catalog.Property(dependency))
		}
		for _, property := range b.Properties {
			if property.Type == "" || !json.Valid(property.Value) {
				t.Errorf("property %q %q", property.Type, property.Value)
			}
		}
	})
}

// FuzzDecode reads YAML. What Kubernetes clients can read as well has the same JSON form.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"a: 1", "a: [yes, 1.0, 0x1F, ~, 'x', \"\\n\"]", "a: &x {b: c}\nd: {<<: *x}", `{"a": [1e3, true]}`, testCSVYAML, testCRDYAML, "- |\n  text\n- >-\n  more\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		value, warnings, err := decodeValue(file{data: data}, fuzzLimits)
		if err != nil {
			return
		}
		if _, err := compactJSON(value); err != nil {
			t.Fatalf("not JSON: %v", err)
		}
		if json.Valid(data) {
			return // FuzzJSON compares JSON, which the reference reads as YAML
		}
		if len(warnings) > 0 || bytes.Contains(data, []byte("!")) || bytes.Contains(data, []byte("---")) {
			return // repeated keys, several documents and explicit tags are not read alike
		}
		if _, err := kyaml.YAMLToJSON(data); err != nil {
			return
		}
		if err := sameAsKubernetes(data, value); err != nil {
			t.Error(err)
		}
	})
}
