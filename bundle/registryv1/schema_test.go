package registryv1

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/fairlead/test/must"
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
			text := must.Value(ConfigSchema(loadTest(t, supporting(expect.modes...))))(t)
			var got, want map[string]any
			must.NoError(t, json.Unmarshal(text, &got))
			must.NoError(t, json.Unmarshal([]byte(expect.want), &want))
			if got["$schema"] != draft07 || got["type"] != "object" || got["additionalProperties"] != false {
				t.Errorf("schema %v, type %v, additional properties %v", got["$schema"], got["type"], got["additionalProperties"])
			}
			properties := got["properties"].(map[string]any)
			if properties["deploymentConfig"] == nil {
				t.Error("deploymentConfig is missing")
			}
			delete(properties, "deploymentConfig")
			for _, key := range []string{"$schema", "type", "additionalProperties", "title"} {
				delete(got, key)
			}
			for _, property := range properties {
				delete(property.(map[string]any), "description")
			}
			must.Equal(t, "result", got, want)
		})
	}
	if _, err := ConfigSchema(loadTest(t, supporting(modeOwn, modeOwn))); err == nil {
		t.Error("install modes that contradict each other have a schema")
	}
}

// TestSchemaIsComplete visits all schemas and looks for the keys of deploymentConfig.
func TestSchemaIsComplete(t *testing.T) {
	count := 0
	var visit func(place string, s *spec.Schema)
	visit = func(place string, s *spec.Schema) {
		count++
		if len(s.Type) == 0 || s.Ref.String() != "" {
			t.Errorf("%s: type %v, reference %q", place, s.Type, s.Ref.String())
		}
		if _, err := regexp.Compile(s.Pattern); err != nil {
			t.Errorf("%s: %v", place, err)
		}
		if s.Items != nil {
			visit(place+"[]", s.Items.Schema)
		}
		for name, property := range s.Properties {
			visit(place+"."+name, &property)
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			visit(place+".*", s.AdditionalProperties.Schema)
		}
	}
	root := configSchema(nil)
	visit("", root)
	keys := slices.Sorted(maps.Keys(root.Properties[deploymentConfig].Properties))
	want := []string{"affinity", "annotations", "env", "envFrom", "nodeSelector", "resources", "tolerations", "volumeMounts", "volumes"}
	must.Equal(t, "keys of deploymentConfig", keys, want)
	if count < 200 {
		t.Errorf("only %d schemas", count)
	}
}
