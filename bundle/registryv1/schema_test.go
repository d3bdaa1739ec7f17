package registryv1

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConfigSchema holds what clients see of the fields for each set of install modes.
func TestConfigSchema(t *testing.T) {
	const name = `"minLength":1,"maxLength":63,"type":"string","pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	tests := map[string]struct {
		modes modes
		want  string // without deploymentConfig, definitions and descriptions
	}{
		"all":            {modes{modeAll}, `{"properties": {}}`},
		"all and own":    {modes{modeAll, modeOwn}, `{"properties": {"watchNamespace": {` + strings.Replace(name, `"string"`, `["null","string"]`, 1) + `, "format": "ownNamespaceInstallMode"}}}`},
		"own":            {modes{modeOwn}, `{"properties": {"watchNamespace": {` + name + `, "format": "ownNamespaceInstallMode"}}, "required": ["watchNamespace"]}`},
		"single":         {modes{modeSingle}, `{"properties": {"watchNamespace": {` + name + `, "format": "singleNamespaceInstallMode"}}, "required": ["watchNamespace"]}`},
		"own and single": {modes{modeOwn, modeSingle}, `{"properties": {"watchNamespace": {` + name + `}}, "required": ["watchNamespace"]}`},
		"multi": {modes{modeMulti}, `{"required": ["watchNamespaces"], "properties": {"watchNamespaces": {"type": "array", "minItems": 1, "maxItems": 100, "uniqueItems": true,
			"items": {` + name + `, "format": "singleNamespaceInstallMode"}}}}`},
		"multi and own": {modes{modeMulti, modeOwn}, `{"oneOf": [{"required": ["watchNamespace"]}, {"required": ["watchNamespaces"]}],
			"properties": {"watchNamespace": {` + name + `, "format": "ownNamespaceInstallMode"},
			"watchNamespaces": {"type": "array", "minItems": 1, "maxItems": 100, "uniqueItems": true, "items": {` + name + `}}}}`},
		"every mode": {modes{modeAll, modeOwn, modeSingle, modeMulti}, `{"not": {"required": ["watchNamespace", "watchNamespaces"]},
			"properties": {"watchNamespace": {` + strings.Replace(name, `"string"`, `["null","string"]`, 1) + `},
			"watchNamespaces": {"type": ["null", "array"], "minItems": 1, "maxItems": 100, "uniqueItems": true, "items": {` + name + `}}}}`},
	}
	for test, expect := range tests {
		t.Run(test, func(t *testing.T) {
			text, err := ConfigSchema(loadTest(t, supporting(expect.modes...)))
			if err != nil {
				t.Fatal(err)
			}
			var got, want map[string]any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(expect.want), &want); err != nil {
				t.Fatal(err)
			}
			if got["$schema"] != draft07 || got["type"] != "object" || got["additionalProperties"] != false {
				t.Errorf("schema %v, type %v, additional properties %v", got["$schema"], got["type"], got["additionalProperties"])
			}
			properties := got["properties"].(map[string]any)
			if properties["deploymentConfig"] == nil {
				t.Error("deploymentConfig is missing")
			}
			delete(properties, "deploymentConfig")
			for _, key := range []string{"$schema", "type", "additionalProperties", "title", "definitions"} {
				delete(got, key)
			}
			for _, property := range properties {
				delete(property.(map[string]any), "description")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := ConfigSchema(loadTest(t, supporting(modeOwn, modeOwn))); err == nil {
		t.Error("install modes that contradict each other have a schema")
	}
}

// TestSchemaIsComplete follows all references and looks for the keys of deploymentConfig.
func TestSchemaIsComplete(t *testing.T) {
	root := configSchema(nil)
	seen := map[*schema]bool{}
	var visit func(s *schema)
	visit = func(s *schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if s.Ref != "" {
			if visit(root.Definitions[strings.TrimPrefix(s.Ref, definitionsPath)]); root.Definitions[strings.TrimPrefix(s.Ref, definitionsPath)] == nil {
				t.Errorf("%s leads nowhere", s.Ref)
			}
			return
		}
		if len(s.Type) == 0 {
			t.Errorf("a schema without type: %+v", s)
		}
		if s.Pattern != "" {
			pattern(s.Pattern)
		}
		visit(s.Items)
		for _, property := range s.Properties {
			visit(property)
		}
		if s.Values != nil {
			visit(s.Values.schema)
		}
	}
	visit(root)
	var keys []string
	for _, key := range []string{"nodeSelector", "tolerations", "resources", "envFrom", "env", "volumes", "volumeMounts", "affinity", "annotations"} {
		if root.Properties[deploymentConfig].Properties[key] == nil {
			t.Errorf("%s is missing", key)
		}
		keys = append(keys, key)
	}
	if got := len(root.Properties[deploymentConfig].Properties); got != len(keys) {
		t.Errorf("%d keys, want %q", got, keys)
	}
	if len(root.Definitions) < 40 {
		t.Errorf("only %d definitions", len(root.Definitions))
	}
}
