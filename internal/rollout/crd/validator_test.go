package crd

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

func object(t testing.TB, spec string) map[string]any {
	t.Helper()
	o := map[string]any{}
	text := "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: ns}, spec: " + spec + "}"
	must.NoError(t, yaml.Unmarshal([]byte(text), &o, yaml.DisallowUnknownFields))
	return whole(o).(map[string]any)
}

// whole makes whole numbers of what is one, as the API server does.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

func spec(schema string) string {
	return ": {type: object, properties: {spec: " + schema + "}}"
}

// choice is a schema whose fields each must have either x or y.
func choice(names ...string) string {
	var fields []string
	for _, name := range names {
		fields = append(fields, name+": {type: object, properties: {x: {type: string}, y: {type: string}, z: {type: string}}, oneOf: [{required: [x]}, {required: [y]}]}")
	}
	if len(names) == 1 {
		fields = append(fields, "b: {type: object, properties: {x: {type: string}}}")
	}
	return "{type: object, properties: {" + strings.Join(fields, ", ") + "}}"
}

func TestValidator(t *testing.T) {
	const rule = "{type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: self.a > 1, message: a must be more than 1}]}"
	const rules = "{type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: self.a > 1, message: a must be more than 1}, {rule: self.a % 2 == 0, message: a must be even}]}"
	tests := map[string]struct {
		old, new, object string
		want             []string
	}{
		"valid":                               {"{type: object, properties: {a: {type: integer}}}", "{type: object, properties: {a: {type: integer, minimum: 1}}}", "{a: 1}", nil},
		"becomes too small":                   {"{type: object, properties: {a: {type: integer}}}", "{type: object, properties: {a: {type: integer, minimum: 1}}}", "{a: 0}", []string{"v1: ^.spec.a: spec.a in body should be greater than or equal to 1"}},
		"was too small":                       {"{type: object, properties: {a: {type: integer, minimum: 1}}}", "{type: object, properties: {a: {type: integer, minimum: 5}}}", "{a: 0}", nil},
		"was wrong elsewhere":                 {"{type: object, properties: {a: {type: integer, minimum: 1}, b: {type: integer}}}", "{type: object, properties: {a: {type: integer, minimum: 1}, b: {type: integer, minimum: 1}}}", "{a: 0, b: 0}", []string{"v1: ^.spec.b: spec.b in body should be greater than or equal to 1"}},
		"becomes required":                    {"{type: object, properties: {a: {type: integer}}}", "{type: object, required: [a], properties: {a: {type: integer}}}", "{}", []string{"v1: ^.spec.a: Required value"}},
		"becomes required, with a default":    {"{type: object, properties: {a: {type: integer}}}", "{type: object, required: [a], properties: {a: {type: integer, default: 3}}}", "{}", nil},
		"the field goes":                      {"{type: object, properties: {a: {type: integer}}}", "{type: object, properties: {b: {type: integer}}}", "{a: 1}", nil},
		"another type":                        {"{type: object, properties: {a: {type: integer}}}", "{type: object, properties: {a: {type: string}}}", "{a: 1}", []string{`v1: ^.spec.a: spec.a in body must be of type string: "integer"`}},
		"no longer allowed":                   {"{type: object, properties: {a: {type: string, enum: [x, y]}}}", "{type: object, properties: {a: {type: string, enum: [x]}}}", "{a: y}", []string{`v1: ^.spec.a: supported values: "x"`}},
		"too long, without the value":         {"{type: object, properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string, maxLength: 3}}}", "{a: secret}", []string{"v1: ^.spec.a: may not be more than 3 bytes"}},
		"a null is dropped by the API server": {"{type: object, properties: {a: {type: string, nullable: true}}}", "{type: object, properties: {a: {type: string}}}", "{a: null}", nil},
		"twice in a set":                      {"{type: object, properties: {a: {type: array, items: {type: string}}}}", "{type: object, properties: {a: {type: array, items: {type: string}, x-kubernetes-list-type: set}}}", "{a: [x, x]}", []string{"v1: ^.spec.a[1]: Duplicate value"}},
		"breaks a new rule":                   {"{type: object, properties: {a: {type: integer}}}", rule, "{a: 1}", []string{"v1: ^.spec: a must be more than 1"}},
		"meets a new rule":                    {"{type: object, properties: {a: {type: integer}}}", rule, "{a: 2}", nil},
		"broke the rule before":               {rule, strings.Replace(rule, "{type: integer}", "{type: integer, maximum: 9}", 1), "{a: 1}", nil},
		"another limit at the same path":      {"{type: object, properties: {a: {type: integer, maximum: 5}}}", "{type: object, properties: {a: {type: integer, maximum: 5, multipleOf: 2}}}", "{a: 9}", []string{"v1: ^.spec.a: spec.a in body should be a multiple of 2"}},
		"the same limit, lower":               {"{type: object, properties: {a: {type: integer, maximum: 5}}}", "{type: object, properties: {a: {type: integer, maximum: 4}}}", "{a: 9}", nil},
		"a limit of the same kind besides":    {"{type: object, properties: {a: {type: string, maxLength: 3}}}", "{type: object, properties: {a: {type: string, maxLength: 3, allOf: [{maxLength: 2}]}}}", "{a: abcd}", nil},
		"such a limit, which alone is broken": {"{type: object, properties: {a: {type: string, maxLength: 5}}}", "{type: object, properties: {a: {type: string, maxLength: 5, allOf: [{maxLength: 2}]}}}", "{a: abcd}", []string{"v1: ^.spec.a: may not be more than 2 bytes"}},
		"such limits elsewhere":               {"{type: object, properties: {a: {type: string, maxLength: 3}, b: {type: string}}}", "{type: object, properties: {a: {type: string, maxLength: 2}, b: {type: string, maxLength: 3}}}", "{a: abcd, b: abcd}", []string{"v1: ^.spec.b: may not be more than 3 bytes"}},
		"another pattern before it":           {"{type: object, properties: {a: {type: string, pattern: '^x'}}}", "{type: object, properties: {a: {type: string, pattern: '^y', allOf: [{pattern: '^x'}]}}}", "{a: zz}", []string{"v1: ^.spec.a: spec.a in body should match '^y'"}},
		"another pattern behind it":           {"{type: object, properties: {a: {type: string, pattern: '^x'}}}", "{type: object, properties: {a: {type: string, pattern: '^x', allOf: [{pattern: '^y'}]}}}", "{a: zz}", []string{"v1: ^.spec.a: spec.a in body should match '^y'"}},
		"one of two in allOf is met now":      {"{type: object, properties: {a: {type: string, allOf: [{minLength: 9}, {pattern: '^x'}]}}}", "{type: object, properties: {a: {type: string, allOf: [{minLength: 1}, {pattern: '^x'}]}}}", "{a: zz}", nil},
		"another one in allOf":                {"{type: object, properties: {a: {type: string, allOf: [{minLength: 9}, {pattern: '^z'}]}}}", "{type: object, properties: {a: {type: string, allOf: [{minLength: 1}, {pattern: '^x'}]}}}", "{a: zz}", []string{"v1: ^.spec.a: spec.a in body should match '^x'"}},
		"the same pattern, changed":           {"{type: object, properties: {a: {type: string, pattern: '^x'}}}", "{type: object, properties: {a: {type: string, pattern: '^y'}}}", "{a: zz}", nil},
		"another check of a text":             {"{type: object, properties: {a: {type: string, pattern: '^x'}}}", "{type: object, properties: {a: {type: string, pattern: '^x', minLength: 3}}}", "{a: zz}", []string{"v1: ^.spec.a: spec.a in body should be at least 3 chars long"}},
		"the same choice elsewhere":           {choice("a"), choice("a", "b"), "{a: {}, b: {}}", []string{"v1: ^.spec.b: must validate one and only one schema (oneOf). Found none valid"}},
		"the same choice, which is wider":     {choice("a"), strings.Replace(choice("a"), "[{required: [x]}", "[{required: [z]}, {required: [x]}", 1), "{a: {}}", nil},
		"the same rule twice at one path":     {rule, strings.Replace(rule, "}]", "}, {rule: self.a > 2, message: a must be more than 1}]", 1), "{a: 1}", []string{"v1: ^.spec: a must be more than 1"}},
		"broke another rule at the same path": {rule, rules, "{a: 1}", []string{"v1: ^.spec: a must be even"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := must.Value(NewValidator(crd(t, "v1 served stored"+spec(tc.old)), crd(t, "v1 served stored"+spec(tc.new)), []string{"v1"}))(t)
			o := object(t, tc.object)
			before := maps.Clone(o)
			budget := int64(celconfig.RuntimeCELCostBudget)
			problems := must.Value(v.Check(t.Context(), o, "", &budget))(t)
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			must.Equal(t, "result", got, tc.want)
			must.Equal(t, "the object was changed", o, before)
		})
	}
}

// TestEveryServedVersionIsChecked has an object that fits one version and not the other.
func TestEveryServedVersionIsChecked(t *testing.T) {
	live := crd(t, "v1 served stored"+spec("{type: object, properties: {a: {type: integer}}}"), "v2 served"+spec("{type: object, properties: {a: {type: integer}}}"))
	wanted := crd(t, "v1 served stored"+spec("{type: object, properties: {a: {type: integer, maximum: 5}}}"), "v2 served"+spec("{type: object, properties: {a: {type: integer, maximum: 3}}}"))
	v := must.Value(NewValidator(live, wanted, []string{"v1", "v2"}))(t)
	for as, want := range map[string]int{"": 1, "v1": 0, "v2": 1} {
		budget := int64(celconfig.RuntimeCELCostBudget)
		problems, err := v.Check(t.Context(), object(t, "{a: 4}"), as, &budget)
		must.NoErrorf(t, err, "%s", as)
		must.Equal(t, as, len(problems), want)
	}
}

// TestHostileRules has rules that would run for minutes.
func TestHostileRules(t *testing.T) {
	const loops = "{type: object, properties: {a: {type: array, items: {type: integer}}}, x-kubernetes-validations: [{rule: 'self.a.all(x, self.a.all(y, self.a.all(z, x + y + z >= 0)))'}]}"
	v := must.Value(NewValidator(crd(t, "v1 served stored"+spec("{type: object, properties: {a: {type: array, items: {type: integer}}}}")), crd(t, "v1 served stored"+spec(loops)), []string{"v1"}))(t)
	o := object(t, "{a: ["+strings.Repeat("1, ", 3000)+"1]}")
	budget, start := int64(15*celconfig.PerCallLimit), time.Now()
	problems, err := v.Check(t.Context(), o, "", &budget)
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].What, "cost") {
		t.Errorf("%v, %v: an object whose rules cost too much is none that the API server accepts", problems, err)
	}
	for range 10 {
		if _, err = v.Check(t.Context(), o, "", &budget); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrCost) {
		t.Errorf("%v with a budget of %d: all objects together have a limit as well", err, budget)
	}
	if took := time.Since(start); took > must.Within(time.Minute) {
		t.Errorf("it took %s", took)
	}
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	good := crd(t, "v1 served stored")
	for name, tc := range map[string]struct {
		wanted  *definition
		version string
		want    string
	}{
		"not structural": {crd(t, "v1 served stored: {type: object, properties: {a: {type: array, items: [{type: string}]}}}"), "v1", "structural"},
		"not there":      {good, "v7", "not there"},
	} {
		_, err := NewValidator(good, tc.wanted, []string{tc.version})
		must.Fail(t, name, err, tc.want)
	}
}
