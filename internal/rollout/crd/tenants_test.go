package crd

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/fairlead/test/must"
)

// TestTenantsShareOneDefinition: an operator that becomes an owner beside one of another namespace must define the CRD as it is. Both are
// named, and what differs.
func TestTenantsShareOneDefinition(t *testing.T) {
	const size = ": {type: object, properties: {size: {type: integer, maximum: 5}}}"
	base := func(t *testing.T) *definition { return crd(t, "v1 served stored"+size) }
	edited := func(t *testing.T, edit func(*definition)) *definition {
		c := base(t)
		edit(c)
		return c
	}
	tests := map[string]struct {
		live, wanted *definition
		says         []string // nothing: it is not refused
	}{
		"the same":                  {base(t), base(t), nil},
		"other words":               {base(t), crd(t, "v1 served stored: {type: object, description: d, properties: {size: {type: integer, maximum: 5, title: t}}}"), nil},
		"required in another order": {crd(t, "v1 served stored: {type: object, required: [a, b]}"), crd(t, "v1 served stored: {type: object, required: [b, a]}"), nil},
		"enum in another order":     {crd(t, "v1 served stored: {type: string, enum: [a, b]}"), crd(t, "v1 served stored: {type: string, enum: [b, a]}"), nil},
		"printed otherwise": {base(t), edited(t, func(c *definition) {
			c.Spec.Versions[0].AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Size"}}
			c.Spec.Names.ShortNames = []string{"w"}
		}), nil},
		"converted otherwise, which is the webhook's affair": {base(t), edited(t, func(c *definition) {
			c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
		}), nil},
		"another type":          {base(t), crd(t, "v1 served stored: {type: object, properties: {size: {type: string, maximum: 5}}}"), []string{`v1: ^.size: type is "string" instead of "integer"`}},
		"another limit":         {base(t), crd(t, "v1 served stored: {type: object, properties: {size: {type: integer, maximum: 9}}}"), []string{"v1: ^.size: maximum is 9 instead of 5"}},
		"no limit":              {base(t), crd(t, "v1 served stored: {type: object, properties: {size: {type: integer}}}"), []string{"v1: ^.size: maximum is not set instead of 5"}},
		"a field is added":      {base(t), crd(t, "v1 served stored: {type: object, properties: {size: {type: integer, maximum: 5}, color: {type: object, properties: {red: {type: string}}}}}"), []string{"v1: ^.color: added; install"}},
		"a field is left out":   {base(t), crd(t, "v1 served stored: {type: object}"), []string{"v1: ^.size: left out"}},
		"a version is added":    {base(t), crd(t, "v1 served stored"+size, "v2 served"+size), []string{"v2 is added"}},
		"a version is left out": {crd(t, "v1 served stored", "v2 served"), crd(t, "v1 served stored"), []string{"v2 is left out"}},
		"another one is stored": {crd(t, "v1 served stored", "v2 served"), crd(t, "v1 served", "v2 served stored"), []string{"v1: storage is false instead of true; v2: storage is true instead of false"}},
		"one is not served":     {crd(t, "v1 served stored", "v2 served"), crd(t, "v1 served stored", "v2"), []string{"v2: served is false instead of true"}},
		"another scope":         {base(t), edited(t, func(c *definition) { c.Spec.Scope = apiextensionsv1.ClusterScoped }), []string{"scope is Cluster instead of Namespaced"}},
		"status is a subresource": {base(t), edited(t, func(c *definition) {
			c.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
		}), []string{"v1: other subresources"}},
		"much differs": {crd(t, "v1 served stored: {type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}, e: {type: string}, f: {type: string}, g: {type: string}}}"),
			crd(t, "v1 served stored: {type: object}"), []string{"^.e: left out; and 2 more; install"}},
	}
	by := Operator{Namespace: "ns", Name: "op.v2", Owns: []string{"v1"}}
	other := Operator{Namespace: "elsewhere", Name: "op.v1", Owns: []string{"v1"}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := sentences(planRules(Change{Live: tc.live, Desired: tc.wanted, By: by, Others: []Operator{other}, Joins: true}).Refused)
			if tc.says != nil {
				tc.says = append(tc.says, "CustomResourceDefinition widgets.example.com is owned by ClusterServiceVersion elsewhere/op.v1, and ClusterServiceVersion ns/op.v2 defines it otherwise",
					"upgrade ClusterServiceVersion elsewhere/op.v1 to this one first")
			}
			must.Equal(t, got, (got == ""), tc.says == nil)
			for _, words := range tc.says {
				must.Contain(t, "refused: which does not say", got, words)
			}
			needs := Operator{Namespace: "elsewhere", Name: "app.v1", Requires: []string{"v1"}}
			for what, u := range map[string]Change{
				"who has owned it before":   {Others: []Operator{other}},
				"whom nobody stands beside": {Joins: true, Others: []Operator{needs}},
			} {
				u.Live, u.Desired, u.By = tc.live, tc.wanted, by
				must.Lack(t, what, sentences(planRules(u).Refused), "defines it otherwise")
			}
		})
	}
}
