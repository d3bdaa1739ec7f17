package crd

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// crd reads versions from lines such as `v1 served stored: {type: object}`, each with its schema in YAML.
func crd(t testing.TB, lines ...string) *definition {
	t.Helper()
	c := &definition{}
	c.Name = "widgets.example.com"
	text := "spec: {group: example.com, scope: Namespaced, names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}}"
	must.NoError(t, yaml.Unmarshal([]byte(text), c))
	for _, line := range lines {
		head, schema, _ := strings.Cut(line, ":")
		words := strings.Fields(head)
		has := func(word string) bool { return strings.Contains(" "+head+" ", " "+word+" ") }
		version := fmt.Sprintf("{name: %s, served: %t, storage: %t, schema: {openAPIV3Schema: %s}}", words[0], has("served"), has("stored"), orObject(schema))
		part := &definition{}
		must.NoErrorf(t, yaml.UnmarshalStrict([]byte("spec: {versions: ["+version+"]}"), part), "%s", version)
		c.Spec.Versions = append(c.Spec.Versions, part.Spec.Versions...)
		if has("stored") || has("listed") {
			c.Status.StoredVersions = append(c.Status.StoredVersions, words[0])
		}
	}
	return c
}

func orObject(schema string) string {
	if strings.TrimSpace(schema) == "" {
		return "{type: object}"
	}
	return schema
}

// withX is a CRD with one field, spec.x, of a schema.
func withX(t testing.TB, schema string) *definition {
	t.Helper()
	return crd(t, "v1 served stored: {type: object, properties: {spec: {type: object, properties: {x: "+schema+"}}}}")
}

// TestSafetyOfProperties has, for each published check, what it stops and the nearest that it lets pass.
func TestSafetyOfProperties(t *testing.T) {
	const at = "v1: ^.spec.x: "
	tests := map[string]struct {
		old, new string
		want     string // without the place; empty passes
	}{
		"default added":                 {"{type: string}", "{type: string, default: a}", `default: default value "a" added`},
		"default removed":               {"{type: string, default: a}", "{type: string}", `default: default value "a" removed`},
		"default changed":               {"{type: string, default: a}", "{type: string, default: b}", `default: default value changed from "a" to "b"`},
		"default written differently":   {"{type: object, default: {a: 1, b: 2}, x-kubernetes-preserve-unknown-fields: true}", "{type: object, default: {b: 2, a: 1}, x-kubernetes-preserve-unknown-fields: true}", ""},
		"enum added":                    {"{type: string}", "{type: string, enum: [a]}", `enum: enum constraint "a" added where every value was allowed`},
		"enum value removed":            {"{type: string, enum: [a, b]}", "{type: string, enum: [a]}", `enum: values "b" removed from those that were allowed`},
		"enum value added":              {"{type: string, enum: [a]}", "{type: string, enum: [b, a]}", ""},
		"enum given up":                 {"{type: string, enum: [a]}", "{type: string}", ""},
		"maximum added":                 {"{type: integer}", "{type: integer, maximum: 5}", "maximum: maximum constraint 5 added where there was none"},
		"maximum lowered":               {"{type: integer, maximum: 6}", "{type: integer, maximum: 5}", "maximum: maximum lowered from 6 to 5"},
		"maximum raised":                {"{type: integer, maximum: 5}", "{type: integer, maximum: 6}", ""},
		"maximum given up":              {"{type: integer, maximum: 5}", "{type: integer}", ""},
		"maxItems lowered":              {"{type: array, maxItems: 6, items: {type: string}}", "{type: array, maxItems: 5, items: {type: string}}", "maxItems: maxItems lowered from 6 to 5"},
		"maxItems added":                {"{type: array, items: {type: string}}", "{type: array, maxItems: 5, items: {type: string}}", "maxItems: maxItems constraint 5 added where there was none"},
		"maxItems raised":               {"{type: array, maxItems: 5, items: {type: string}}", "{type: array, maxItems: 6, items: {type: string}}", ""},
		"maxLength lowered":             {"{type: string, maxLength: 6}", "{type: string, maxLength: 5}", "maxLength: maxLength lowered from 6 to 5"},
		"maxLength added":               {"{type: string}", "{type: string, maxLength: 5}", "maxLength: maxLength constraint 5 added where there was none"},
		"maxLength given up":            {"{type: string, maxLength: 5}", "{type: string}", ""},
		"maxProperties lowered":         {"{type: object, maxProperties: 6}", "{type: object, maxProperties: 5}", "maxProperties: maxProperties lowered from 6 to 5"},
		"maxProperties added":           {"{type: object}", "{type: object, maxProperties: 5}", "maxProperties: maxProperties constraint 5 added where there was none"},
		"maxProperties raised":          {"{type: object, maxProperties: 5}", "{type: object, maxProperties: 6}", ""},
		"minimum added":                 {"{type: integer}", "{type: integer, minimum: 5}", "minimum: minimum constraint 5 added where there was none"},
		"minimum raised":                {"{type: integer, minimum: 5}", "{type: integer, minimum: 6}", "minimum: minimum raised from 5 to 6"},
		"minimum lowered":               {"{type: integer, minimum: 6}", "{type: integer, minimum: 5}", ""},
		"minimum given up":              {"{type: integer, minimum: 6}", "{type: integer}", ""},
		"minItems raised":               {"{type: array, minItems: 5, items: {type: string}}", "{type: array, minItems: 6, items: {type: string}}", "minItems: minItems raised from 5 to 6"},
		"minItems lowered":              {"{type: array, minItems: 6, items: {type: string}}", "{type: array, minItems: 5, items: {type: string}}", ""},
		"minLength raised":              {"{type: string, minLength: 5}", "{type: string, minLength: 6}", "minLength: minLength raised from 5 to 6"},
		"minLength lowered":             {"{type: string, minLength: 6}", "{type: string, minLength: 5}", ""},
		"minProperties raised":          {"{type: object, minProperties: 5}", "{type: object, minProperties: 6}", "minProperties: minProperties raised from 5 to 6"},
		"minProperties lowered":         {"{type: object, minProperties: 6}", "{type: object, minProperties: 5}", ""},
		"nullable":                      {"{type: string}", "{type: string, nullable: true}", "nullable: nullable changed from false to true"},
		"not nullable":                  {"{type: string, nullable: true}", "{type: string}", "nullable: nullable changed from true to false"},
		"oneOf added":                   {"{type: string}", "{type: string, oneOf: [{enum: [a]}]}", "oneOf: oneOf added with 1 sub-schemas where there was none"},
		"oneOf shrunk":                  {"{type: string, oneOf: [{enum: [a]}, {enum: [b]}]}", "{type: string, oneOf: [{enum: [b]}]}", `oneOf: sub-schemas {"enum":["a"]} removed from oneOf`},
		"oneOf grown":                   {"{type: string, oneOf: [{enum: [b]}]}", "{type: string, oneOf: [{enum: [a]}, {enum: [b]}]}", `oneOf: sub-schemas {"enum":["a"]} added to oneOf`},
		"oneOf in another order":        {"{type: string, oneOf: [{enum: [a]}, {enum: [b]}]}", "{type: string, oneOf: [{enum: [b]}, {enum: [a]}]}", ""},
		"pattern added":                 {"{type: string}", "{type: string, pattern: a+}", `pattern: pattern "a+" added where there was none`},
		"pattern removed":               {"{type: string, pattern: a+}", "{type: string}", `pattern: pattern "a+" removed`},
		"pattern changed":               {"{type: string, pattern: a+}", "{type: string, pattern: b+}", `pattern: pattern changed from "a+" to "b+"`},
		"required added":                {"{type: object, properties: {a: {type: string}}}", "{type: object, required: [a], properties: {a: {type: string}}}", "required: new required fields a"},
		"required given up":             {"{type: object, required: [a], properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}}}", ""},
		"type changed":                  {"{type: string}", "{type: integer}", "type: type changed from string to integer"},
		"optional field added":          {"{type: object, properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}, b: {type: string, maxLength: 3}}}", ""},
		"documentation changed":         {"{type: string, description: old, title: t}", "{type: string, description: new, example: e}", ""},
		"format changed":                {"{type: string}", "{type: string, format: date-time}", `unhandled: unhandled changes found (format none -> "date-time")`},
		"rule added":                    {"{type: integer}", "{type: integer, x-kubernetes-validations: [{rule: self > 1}]}", `unhandled: unhandled changes found (x-kubernetes-validations none -> [{"rule":"self \u003e 1"}])`},
		"exclusive bound":               {"{type: integer, minimum: 1}", "{type: integer, minimum: 1, exclusiveMinimum: true}", "unhandled: unhandled changes found (exclusiveMinimum none -> true)"},
		"unknown fields no longer kept": {"{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object}", "unhandled: unhandled changes found (x-kubernetes-preserve-unknown-fields true -> none)"},
		"anyOf changed":                 {"{type: string, anyOf: [{enum: [a]}]}", "{type: string}", `unhandled: unhandled changes found (anyOf [{"enum":["a"]}] -> none)`},
		"kind of list changed":          {"{type: array, items: {type: string}}", "{type: array, items: {type: string}, x-kubernetes-list-type: set}", `unhandled: unhandled changes found (x-kubernetes-list-type none -> "set")`},
		"map of anything gets a schema": {"{type: object, additionalProperties: true}", "{type: object, additionalProperties: {type: string}}", "unhandled: unhandled changes found (additionalProperties true -> {})"},
		"no change":                     {"{type: string, maxLength: 3, pattern: a}", "{type: string, maxLength: 3, pattern: a}", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := []string{}
			if tc.want != "" {
				want = append(want, at+tc.want)
			}
			findings := safety(withX(t, tc.old), withX(t, tc.new), Policy{})
			must.Equal(t, "texts", texts(findings), want)
			for _, f := range findings {
				if f.CRD != "widgets.example.com" || f.Remedy == "" {
					t.Errorf("%+v says not which CRD or what to do", f)
				}
			}
			must.Empty(t, "without enforcement", safety(withX(t, tc.old), withX(t, tc.new), Policy{None: true}))
		})
	}
}

func TestSafetyOfPaths(t *testing.T) {
	schema := func(leaf string) string {
		return "v1 served stored: {type: object, properties: {spec: {type: object, properties: {list: {type: array, items: {type: object, properties: {map: {type: object, additionalProperties: {type: object, properties: {a.b/c: " + leaf + "}}}}}}}}}}"
	}
	got := texts(safety(crd(t, schema("{type: string}")), crd(t, schema("{type: integer}")), Policy{}))
	must.Equal(t, "result", got, []string{`v1: ^.spec.list[*].map.*["a.b/c"]: type: type changed from string to integer`})
}

func TestSafetyOfTheWhole(t *testing.T) {
	webhook := func(c *definition) *definition {
		must.NoError(t, yaml.Unmarshal([]byte("spec: {conversion: {strategy: Webhook}}"), c))
		return c
	}
	cluster := crd(t, "v1 served stored")
	cluster.Spec.Scope = "Cluster"
	const a, narrow = ": {type: object, properties: {a: {type: string}}}", ": {type: object, properties: {a: {type: string, maxLength: 3}}}"
	tests := map[string]struct {
		old, new *definition
		want     []string
	}{
		"a new CRD": {nil, crd(t, "v1 served stored"), []string{}},
		"scope":     {crd(t, "v1 served stored"), cluster, []string{"scope: scope changed from Namespaced to Cluster"}},
		"a stored version goes": {crd(t, "v1 served listed", "v2 served stored"), crd(t, "v2 served stored"),
			[]string{"storedVersionRemoval: stored version v1 removed"}},
		"the version that is stored goes":           {crd(t, "v1 stored", "v2 served"), crd(t, "v2 served stored"), []string{"storedVersionRemoval: stored version v1 removed"}},
		"a stored version goes that was turned off": {crd(t, "v1 listed", "v2 served stored"), crd(t, "v2 served stored"), []string{}},
		"a version goes that was never stored":      {crd(t, "v1 served", "v2 served stored"), crd(t, "v2 served stored"), []string{}},
		"a field goes, with all that it held": {
			crd(t, "v1 served stored: {type: object, properties: {a: {type: object, properties: {b: {type: string}}}, c: {type: string}}}"),
			crd(t, "v1 served stored: {type: object, properties: {c: {type: string}}}"),
			[]string{"existingFieldRemoval: field removed"}},
		"a served version that is narrower than another": {crd(t, "v1 served stored"+a), crd(t, "v1 served stored"+a, "v2 served"+narrow),
			[]string{"v1 -> v2: ^.a: maxLength: maxLength constraint 3 added where there was none"}},
		"that was so before": {crd(t, "v1 served stored"+a, "v2 served"+narrow), crd(t, "v1 served stored"+a, "v2 served"+narrow, "v3 served"+narrow),
			[]string{"v1 -> v3: ^.a: maxLength: maxLength constraint 3 added where there was none"}},
		"in the order of Kubernetes":   {crd(t, "v1 served stored"+narrow), crd(t, "v1 served stored"+narrow, "v1beta1 served"+a), []string{"v1beta1 -> v1: ^.a: maxLength: maxLength constraint 3 added where there was none"}},
		"a webhook converts":           {crd(t, "v1 served stored"+a), webhook(crd(t, "v1 served stored"+a, "v2 served"+narrow)), []string{}},
		"one of the two is not served": {crd(t, "v1 served stored"+a), crd(t, "v1 served stored"+a, "v2"+narrow), []string{}},
		"the same CRD":                 {cluster, cluster, []string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := []string{}
			for _, f := range safety(tc.old, tc.new, Policy{}) {
				if f.Check == ExistingFieldRemoval {
					must.Equal(t, "place", f.Version, "v1")
					must.Equal(t, "place", f.Path, "^.a")
					f.Version, f.Path = "", ""
				}
				got = append(got, f.String())
			}
			must.Equal(t, "result", got, tc.want)
		})
	}
}

func TestExemptions(t *testing.T) {
	old, new := withX(t, "{type: object, properties: {leaf: {type: string}}}"), withX(t, "{type: object, properties: {leaf: {type: integer}}}")
	tests := map[string]struct {
		exemption Exemption
		passes    bool
	}{
		"everything":             {Exemption{}, true},
		"this CRD":               {Exemption{CRD: "widgets.example.com"}, true},
		"another CRD":            {Exemption{CRD: "others.example.com"}, false},
		"this check":             {Exemption{Check: Type, Reason: "agreed"}, true},
		"another check":          {Exemption{Check: Enum}, false},
		"this property":          {Exemption{Path: "^.spec.x.leaf"}, true},
		"what holds it":          {Exemption{Path: "^.spec"}, true},
		"one that begins alike":  {Exemption{Path: "^.sp"}, false},
		"another of this object": {Exemption{Path: "^.spec.z"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			findings := safety(old, new, Policy{Exemptions: []Exemption{tc.exemption}})
			if len(findings) != 1 {
				t.Fatalf("what is exempted must be reported nevertheless: %v", findings)
			}
			if passes := NewUnsafeError("widgets.example.com", findings) == nil; passes != tc.passes {
				t.Errorf("passes %t: %+v", passes, findings)
			}
			if report := Report("widgets.example.com", findings); strings.Contains(report, "exempted") != tc.passes || strings.Contains(report, "to do") == tc.passes {
				t.Error(report)
			}
		})
	}
}

func TestMessageIsBounded(t *testing.T) {
	var before, after strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&before, "f%04d: {type: string}, ", i)
		fmt.Fprintf(&after, "f%04d: {type: integer, description: d}, ", i)
	}
	old, new := withX(t, "{type: object, properties: {"+before.String()+"}}"), withX(t, "{type: object, properties: {"+after.String()+"}}")
	findings := safety(old, new, Policy{})
	text := NewUnsafeError("widgets.example.com", findings).Error()
	if len(findings) != 2000 || len(text) > maxBytes+100 || !strings.HasSuffix(text, "and 1980 more") {
		t.Errorf("%d findings in %d bytes: %s", len(findings), len(text), text)
	}
	if first := `validating upgrade for CRD "widgets.example.com": v1: ^.spec.x.f0000: type: type changed from string to integer` + "\n"; !strings.HasPrefix(text, first) {
		t.Error(text)
	}
	must.Equal(t, "the report has findings", strings.Count(Report("widgets.example.com", findings), "to do: "), 2000)
}
