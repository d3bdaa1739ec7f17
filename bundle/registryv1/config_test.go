package registryv1

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

const (
	modeAll    = v1alpha1.InstallModeTypeAllNamespaces
	modeOwn    = v1alpha1.InstallModeTypeOwnNamespace
	modeSingle = v1alpha1.InstallModeTypeSingleNamespace
	modeMulti  = v1alpha1.InstallModeTypeMultiNamespace
)

type modes = []v1alpha1.InstallModeType

// prefix is what every complaint about a configuration begins with.
const prefix = "invalid ClusterExtension configuration: invalid configuration: "

const (
	mustBeOwn   = `invalid value "x": must be "ns" (field "watchNamespace": the operator can only watch the namespace that it is installed in)`
	mustDiffer  = `invalid value "ns": must be different from "ns" (field "watchNamespace": the operator cannot watch the namespace that it is installed in)`
	missing     = `required field "watchNamespace" is missing`
	missingList = `required field "watchNamespaces" is missing`
	missingBoth = `required field "watchNamespace" is missing (or "watchNamespaces")`
	unknown     = `unknown field "watchNamespace" (the operator can only watch all namespaces)`
	exclude     = `fields "watchNamespace" and "watchNamespaces" exclude each other: set one of them`
)

// TestWatchNamespace holds what can be watched for each set of install modes, in namespace ns.
func TestWatchNamespace(t *testing.T) {
	tests := []struct {
		name   string
		modes  modes
		config string
		want   string // the target namespaces, or after "!" the complaint
	}{
		{"all, nothing", modes{modeAll}, ``, ""},
		{"all, null", modes{modeAll}, `null`, ""},
		{"all, empty", modes{modeAll}, `{}`, ""},
		{"all, one", modes{modeAll}, `{"watchNamespace": "x"}`, "!" + unknown},
		{"all, null namespace", modes{modeAll}, `{"watchNamespace": null}`, "!" + unknown},
		{"all, list", modes{modeAll}, `{"watchNamespaces": ["x"]}`, `!unknown field "watchNamespaces" (the operator can only watch all namespaces)`},
		{"all and own, nothing", modes{modeAll, modeOwn}, `{}`, ""},
		{"all and own, null", modes{modeAll, modeOwn}, `{"watchNamespace": null}`, ""},
		{"all and own, own", modes{modeAll, modeOwn}, `{"watchNamespace": "ns"}`, "ns"},
		{"all and own, other", modes{modeAll, modeOwn}, `{"watchNamespace": "x"}`, "!" + mustBeOwn},
		{"all and single, nothing", modes{modeAll, modeSingle}, ``, ""},
		{"all and single, other", modes{modeAll, modeSingle}, `{"watchNamespace": "x"}`, "x"},
		{"all and single, own", modes{modeAll, modeSingle}, `{"watchNamespace": "ns"}`, "!" + mustDiffer},
		{"all, own and single, own", modes{modeAll, modeOwn, modeSingle}, `{"watchNamespace": "ns"}`, "ns"},
		{"all, own and single, other", modes{modeAll, modeOwn, modeSingle}, `{"watchNamespace": "x"}`, "x"},
		{"all, own and single, list", modes{modeAll, modeOwn, modeSingle}, `{"watchNamespaces": ["x"]}`, `!unknown field "watchNamespaces" (the operator can watch one namespace, which is given as watchNamespace)`},
		{"own, nothing", modes{modeOwn}, ``, "!" + missing},
		{"own, empty", modes{modeOwn}, `{}`, "!" + missing},
		{"own, null", modes{modeOwn}, `{"watchNamespace": null}`, `!invalid type for field "watchNamespace": got null, want string`},
		{"own, own", modes{modeOwn}, `{"watchNamespace": "ns"}`, "ns"},
		{"own, other", modes{modeOwn}, `{"watchNamespace": "x"}`, "!" + mustBeOwn},
		{"single, nothing", modes{modeSingle}, ``, "!" + missing},
		{"single, other", modes{modeSingle}, `{"watchNamespace": "x"}`, "x"},
		{"single, own", modes{modeSingle}, `{"watchNamespace": "ns"}`, "!" + mustDiffer},
		{"own and single, nothing", modes{modeOwn, modeSingle}, ``, "!" + missing},
		{"own and single, own", modes{modeOwn, modeSingle}, `{"watchNamespace": "ns"}`, "ns"},
		{"own and single, other", modes{modeOwn, modeSingle}, `{"watchNamespace": "x"}`, "x"},

		{"a number", modes{modeSingle}, `{"watchNamespace": 1}`, `!invalid type for field "watchNamespace": got integer, want string`},
		{"a number or null", modes{modeAll, modeSingle}, `{"watchNamespace": 1.5}`, `!invalid type for field "watchNamespace": got number, want null or string`},
		{"a list in place of one", modes{modeSingle}, `{"watchNamespace": ["x"]}`, `!invalid type for field "watchNamespace": got array, want string`},
		{"empty", modes{modeSingle}, `{"watchNamespace": ""}`, `!invalid value "": must be at least 1 characters long (field "watchNamespace")`},
		{"too long", modes{modeSingle}, `{"watchNamespace": "` + strings.Repeat("a", 64) + `"}`, `!invalid value "` + strings.Repeat("a", 64) + `": must be at most 63 characters long (field "watchNamespace")`},
		{"longest", modes{modeSingle}, `{"watchNamespace": "` + strings.Repeat("a", 63) + `"}`, strings.Repeat("a", 63)},
		{"no DNS label", modes{modeSingle}, `{"watchNamespace": "a.b"}`, `!invalid value "a.b": must match pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ (field "watchNamespace")`},
		{"a line", modes{modeSingle}, `{"watchNamespace": "a\n"}`, `!invalid value "a\n": must match pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ (field "watchNamespace")`},

		{"multi, nothing", modes{modeMulti}, ``, "!" + missingList},
		{"multi, one", modes{modeMulti}, `{"watchNamespaces": ["x"]}`, "x"},
		{"multi, two in any order", modes{modeMulti}, `{"watchNamespaces": ["y", "x"]}`, "x,y"},
		{"multi, own", modes{modeMulti}, `{"watchNamespaces": ["x", "ns"]}`, `!invalid value "ns": must be different from "ns" (field "watchNamespaces[1]": the operator cannot watch the namespace that it is installed in)`},
		{"multi and own, own", modes{modeMulti, modeOwn}, `{"watchNamespaces": ["x", "ns"]}`, "ns,x"},
		{"multi, none", modes{modeMulti}, `{"watchNamespaces": []}`, `!invalid value for field "watchNamespaces": got 0 items, must have at least 1 items`},
		{"multi, twice", modes{modeMulti}, `{"watchNamespaces": ["x", "x"]}`, `!invalid value "x": is in the list already (field "watchNamespaces[1]")`},
		{"multi, too many", modes{modeMulti}, `{"watchNamespaces": [` + strings.Repeat(`"x",`, 100) + `"x"]}`, `!invalid value for field "watchNamespaces": got 101 items, must have at most 100 items`},
		{"multi, single form", modes{modeMulti}, `{"watchNamespace": "x"}`, "!multiple errors found:\n  - " + `unknown field "watchNamespace" (the operator takes a list of namespaces, which is given as watchNamespaces)` + "\n  - " + missingList},
		{"multi and single, nothing", modes{modeMulti, modeSingle}, `{}`, "!" + missingBoth},
		{"multi and single, one", modes{modeMulti, modeSingle}, `{"watchNamespace": "x"}`, "x"},
		{"multi and single, list", modes{modeMulti, modeSingle}, `{"watchNamespaces": ["x"]}`, "x"},
		{"multi and single, both", modes{modeMulti, modeSingle}, `{"watchNamespace": "x", "watchNamespaces": ["x"]}`, "!" + exclude},
		{"every mode, nothing", modes{modeAll, modeOwn, modeSingle, modeMulti}, ``, ""},
		{"every mode, null list", modes{modeAll, modeOwn, modeSingle, modeMulti}, `{"watchNamespaces": null}`, ""},
		{"every mode, list", modes{modeAll, modeOwn, modeSingle, modeMulti}, `{"watchNamespaces": ["ns", "x"]}`, "ns,x"},
		{"every mode, both", modes{modeAll, modeOwn, modeSingle, modeMulti}, `{"watchNamespace": "x", "watchNamespaces": ["x"]}`, "!" + exclude},

		{"an unknown field", modes{modeAll}, `{"other": 1}`, `!unknown field "other"`},
		{"several mistakes", modes{modeOwn}, `{"a": 1, "deploymentConfig": 2}`, "!multiple errors found:\n  - unknown field \"a\"\n  - " + missing + "\n  - invalid type for field \"deploymentConfig\": got integer, want object"},
		{"no object", modes{modeAll}, `"x"`, `!invalid type: got string, want object`},
		{"a field twice", modes{modeSingle}, `{"watchNamespace": "x", "watchNamespace": "y"}`, `!it cannot be understood: duplicate field "watchNamespace"`},
		{"no JSON", modes{modeAll}, `{`, `!it is not JSON: unexpected end of JSON input`},
		{"another case", modes{modeAll, modeSingle}, `{"watchnamespace": "x"}`, `!unknown field "watchnamespace"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, err := Render(loadTest(t, supporting(test.modes...)), Options{Namespace: "ns", Config: json.RawMessage(test.config)})
			if want, ok := strings.CutPrefix(test.want, "!"); ok {
				var bad *ConfigError
				if !errors.As(err, &bad) {
					t.Fatalf("error %v, want a ConfigError", err)
				}
				must.Equal(t, "err", err.Error(), prefix+want)
				return
			}
			must.NoError(t, err)
			if got := strings.Join(out.WatchNamespaces, ","); got != test.want || len(out.WatchNamespaces) == 0 {
				t.Errorf("watches %q, want %q", out.WatchNamespaces, test.want)
			}
			template := find(t, out, "Deployment", "ns", "op.manager")["spec"].(map[string]any)["template"].(map[string]any)
			annotations := template["metadata"].(map[string]any)["annotations"].(map[string]any)
			if annotations["olm.targetNamespaces"] != test.want || annotations["olm.operatorNamespace"] != "ns" {
				t.Errorf("annotations %v", annotations)
			}
		})
	}
}

// TestDeploymentConfigForm holds what is said about deploymentConfig that has not the form of Kubernetes' own types.
func TestDeploymentConfigForm(t *testing.T) {
	var out []string
	for i := range 25 {
		out = append(out, `"k`+strings.Repeat("x", i)+`": 1`)
	}
	tests := map[string]struct{ config, want string }{
		"nothing":                {`null`, ``},
		"null twice":             {`{"env": null, "affinity": {"nodeAffinity": null}, "env": null}`, `it cannot be understood: duplicate field "deploymentConfig.env"`},
		"null deep within":       {`{"volumes": [{"name": "v", "emptyDir": null, "secret": {"secretName": "s", "optional": null}}]}`, ``},
		"a selector":             {`{"selector": {}}`, `unknown field "deploymentConfig.selector"`},
		"a typing error":         {`{"tolerations": [{"kye": "a"}]}`, `unknown field "deploymentConfig.tolerations[0].kye"`},
		"a name is missing":      {`{"env": [{"value": "a"}]}`, `required field "deploymentConfig.env[0].name" is missing`},
		"a null name":            {`{"env": [{"name": null}]}`, `required field "deploymentConfig.env[0].name" is missing`},
		"a number for a text":    {`{"env": [{"name": "A", "value": 1}]}`, `invalid type for field "deploymentConfig.env[0].value": got integer, want string`},
		"a text for a number":    {`{"tolerations": [{"tolerationSeconds": "1"}]}`, `invalid type for field "deploymentConfig.tolerations[0].tolerationSeconds": got string, want integer`},
		"a fraction":             {`{"tolerations": [{"tolerationSeconds": 1.5}]}`, `invalid type for field "deploymentConfig.tolerations[0].tolerationSeconds": got number, want integer`},
		"too large a number":     {`{"volumes": [{"name": "v", "secret": {"defaultMode": 4294967296}}]}`, `invalid value 4294967296: must be less than or equal to 2147483647 (field "deploymentConfig.volumes[0].secret.defaultMode")`},
		"a null item":            {`{"tolerations": [null]}`, `invalid type for field "deploymentConfig.tolerations[0]": got null, want object`},
		"a label that is a list": {`{"nodeSelector": {"a": []}}`, `invalid type for field "deploymentConfig.nodeSelector.a": got array, want string`},
		"quantities":             {`{"resources": {"limits": {"cpu": "100m", "memory": 1024}, "requests": {"cpu": 0.5, "memory": "1.5Gi"}}}`, ``},
		"no quantity":            {`{"resources": {"limits": {"cpu": "much"}}}`, `invalid value "much": must match pattern ` + quantityPattern + ` (field "deploymentConfig.resources.limits.cpu")`},
		"nearly a quantity":      {`{"resources": {"limits": {"cpu": "1.2.3"}}}`, `invalid value for field "deploymentConfig": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
		"a quantity without end": {`{"resources": {"limits": {"cpu": "1e999999999"}}}`, `invalid value "1e999999999": must match pattern ` + quantityPattern + ` (field "deploymentConfig.resources.limits.cpu")`},
		"what texts come from":   {`{"envFrom": [{"prefix": "A_", "configMapRef": {"name": "c", "optional": true}}]}`, ``},
		"all keys": {`{"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}], "resources": {}, "envFrom": [], "env": [], "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}],
			"volumeMounts": [{"name": "v", "mountPath": "/v"}], "affinity": {"nodeAffinity": {}}, "annotations": {"a": "b"}}`, ``},
		"many mistakes": {`{"nodeSelector": {` + strings.Join(out, ",") + `}}`, ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Render(loadTest(t, nil), Options{Namespace: "ns", Config: json.RawMessage(`{"deploymentConfig": ` + test.config + `}`)})
			switch {
			case name == "many mistakes":
				if lines := strings.Split(err.Error(), "\n"); len(lines) != 1+maxProblems+1 || lines[len(lines)-1] != "  - and more" {
					t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
				}
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || err.Error() != prefix+test.want):
				t.Errorf("error  %v\nwanted %s%s", err, prefix, test.want)
			}
		})
	}
}
