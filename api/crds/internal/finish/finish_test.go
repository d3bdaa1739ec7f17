package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

func schemaOf(t *testing.T, text string) object {
	t.Helper()
	var schema object
	must.NoError(t, yaml.Unmarshal([]byte(text), &schema))
	return schema
}

func checkSchema(t *testing.T, got object, want string) {
	t.Helper()
	gotText := must.Value(yaml.Marshal(got))(t)
	wantText := must.Value(yaml.Marshal(schemaOf(t, want)))(t)
	must.Equal(t, "the schema differs", string(gotText), string(wantText))
}

func TestSlim(t *testing.T) {
	schema := schemaOf(t, `
type: object
description: stays
properties:
  description: {type: string, description: goes}
  default: {type: string, default: a}
  selector: {type: object, x-kubernetes-map-type: atomic}
  ephemeralContainers: {type: array, items: {type: object, properties: {name: {type: string}}}}
  ports:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [port]
    items: {type: object, x-kubernetes-map-type: atomic, properties: {port: {type: integer, description: goes}}}
  labels: {type: object, additionalProperties: {type: string, description: goes}}
`)
	slim(schema, false)
	checkSchema(t, schema, `
type: object
description: stays
properties:
  description: {type: string}
  default: {type: string}
  selector: {type: object, x-kubernetes-map-type: atomic}
  ephemeralContainers: {type: array, maxItems: 0, items: {type: object}}
  ports: {type: array, items: {type: object, properties: {port: {type: integer}}}}
  labels: {type: object, additionalProperties: {type: string}}
`)
}

func TestSlimInsideAList(t *testing.T) {
	schema := schemaOf(t, `{type: object, x-kubernetes-map-type: atomic}`)
	slim(schema, true)
	checkSchema(t, schema, `{type: object}`)
}

func TestHarden(t *testing.T) {
	schema := object{
		"type": "object",
		"properties": map[string]any{
			"quantity": map[string]any{"x-kubernetes-int-or-string": true, "pattern": looseQuantity},
			"port":     map[string]any{"x-kubernetes-int-or-string": true},
			"times":    map[string]any{"type": "array", "items": map[string]any{"type": "string", "format": "date-time"}},
			"text":     map[string]any{"type": "string"},
		},
	}
	harden(schema)
	want := object{
		"type": "object",
		"properties": map[string]any{
			"quantity": map[string]any{"x-kubernetes-int-or-string": true, "pattern": strictQuantity},
			"port":     map[string]any{"x-kubernetes-int-or-string": true, "minimum": -2147483648, "maximum": 2147483647},
			"times":    map[string]any{"type": "array", "items": map[string]any{"type": "string", "format": "date-time", "pattern": strictTime}},
			"text":     map[string]any{"type": "string"},
		},
	}
	must.Equal(t, "the schema differs", schema, want)
}

func TestMakeTimeOptional(t *testing.T) {
	schema := schemaOf(t, `{required: [lastTransitionTime, type], properties: {lastTransitionTime: {type: string}, type: {type: string}}}`)
	makeTimeOptional(schema)
	checkSchema(t, schema, `{required: [type], properties: {lastTransitionTime: {type: string, nullable: true}, type: {type: string}}}`)
}

func TestAtNamesTheMissingPath(t *testing.T) {
	schema := schemaOf(t, `{properties: {spec: {properties: {list: {items: {properties: {a: {type: string}}}}}}}}`)
	if got, err := schema.at("spec.list[].a"); err != nil || got["type"] != "string" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, path := range []string{"spec.list[].b", "status", "spec[]"} {
		_, err := schema.at(path)
		must.Fail(t, path+": schema.at", err, path)
	}
}

// TestFinishedFilesStayAsTheyAre finishes the generated files once more: that changes nothing, so the program gives the
// same files however often it runs.
func TestFinishedFilesStayAsTheyAre(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("..", "..", "*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("found no generated files: %v", err)
	}
	dir := t.TempDir()
	before := map[string]string{}
	for _, name := range names {
		data := must.Value(os.ReadFile(name))(t)
		copied := filepath.Join(dir, filepath.Base(name))
		before[copied] = string(data)
		must.NoError(t, os.WriteFile(copied, data, 0o600))
	}
	must.NoError(t, finishDirectory(dir))
	for name, want := range before {
		got := must.Value(os.ReadFile(name))(t)
		must.Equal(t, fmt.Sprintf("%s changed", filepath.Base(name)), string(got), want)
	}
}

func TestFinishRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("kind: ConfigMap\n"), 0o600))
	must.Fail(t, "finishing a file of another kind", finishDirectory(dir), "a.yaml")
}
