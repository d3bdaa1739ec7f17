package crd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestBounds: each of the eight bounds may be loosened and given up, and neither set nor tightened.
func TestBounds(t *testing.T) {
	for check, schema := range map[Check]string{
		Maximum: "type: integer", Minimum: "type: integer", MaxLength: "type: string", MinLength: "type: string",
		MaxItems: "type: array, items: {type: string}", MinItems: "type: array, items: {type: string}", MaxProperties: "type: object", MinProperties: "type: object",
	} {
		tighter, looser, word := 6, 4, "raised"
		if strings.HasPrefix(string(check), "max") {
			tighter, looser, word = 4, 6, "lowered"
		}
		with := func(bound int) string { return fmt.Sprintf("{%s, %s: %d}", schema, check, bound) }
		without := "{" + schema + "}"
		for name, test := range map[string]struct{ old, new, want string }{
			"set":       {without, with(5), fmt.Sprintf("%[1]s constraint 5 added where there was none", check)},
			"set to 0":  {without, with(0), fmt.Sprintf("%[1]s constraint 0 added where there was none", check)},
			"tightened": {with(5), with(tighter), fmt.Sprintf("%s %s from 5 to %d", check, word, tighter)},
			"loosened":  {with(5), with(looser), ""},
			"given up":  {with(5), without, ""},
			"the same":  {with(5), with(5), ""},
		} {
			t.Run(string(check)+" "+name, func(t *testing.T) {
				want := []string{}
				if test.want != "" {
					want = append(want, fmt.Sprintf("v1: ^.spec.x: %s: %s", check, test.want))
				}
				must.Equal(t, "texts", texts(safety(withX(t, test.old), withX(t, test.new), Policy{})), want)
			})
		}
	}
}

// TestEveryCheckCanBeExempt has, for each published check, an upgrade that it alone stops: exempting it lets that pass, and exempting all
// others does not.
func TestEveryCheckCanBeExempt(t *testing.T) {
	x := func(old, new string) [2]*definition { return [2]*definition{withX(t, old), withX(t, new)} }
	cluster := crd(t, "v1 served stored")
	cluster.Spec.Scope = "Cluster"
	upgrades := map[Check][2]*definition{
		Scope:                {crd(t, "v1 served stored"), cluster},
		StoredVersionRemoval: {crd(t, "v1 served listed", "v2 served stored"), crd(t, "v2 served stored")},
		ExistingFieldRemoval: {crd(t, "v1 served stored: {type: object, properties: {a: {type: string}}}"), crd(t, "v1 served stored")},
		Default:              x("{type: string}", "{type: string, default: a}"),
		Enum:                 x("{type: string, enum: [a, b]}", "{type: string, enum: [a]}"),
		Maximum:              x("{type: integer}", "{type: integer, maximum: 5}"),
		MaxItems:             x("{type: array, items: {type: string}}", "{type: array, items: {type: string}, maxItems: 5}"),
		MaxLength:            x("{type: string}", "{type: string, maxLength: 5}"),
		MaxProperties:        x("{type: object}", "{type: object, maxProperties: 5}"),
		Minimum:              x("{type: integer}", "{type: integer, minimum: 5}"),
		MinItems:             x("{type: array, items: {type: string}}", "{type: array, items: {type: string}, minItems: 5}"),
		MinLength:            x("{type: string}", "{type: string, minLength: 5}"),
		MinProperties:        x("{type: object}", "{type: object, minProperties: 5}"),
		Nullable:             x("{type: string}", "{type: string, nullable: true}"),
		OneOf:                x("{type: string}", "{type: string, oneOf: [{enum: [a]}]}"),
		Pattern:              x("{type: string}", "{type: string, pattern: a+}"),
		Required:             x("{type: object, properties: {a: {type: string}}}", "{type: object, required: [a], properties: {a: {type: string}}}"),
		Type:                 x("{type: string}", "{type: integer}"),
		Unhandled:            x("{type: string}", "{type: string, format: date}"),
	}
	var published []Check
	for _, check := range Published() {
		if check != Removal { // whoever counts custom resources finds it
			published = append(published, check)
		}
	}
	must.Equal(t, "checks of this table, -, and published ones, +", published, slices.Sorted(maps.Keys(upgrades)))
	for check, crds := range upgrades {
		t.Run(string(check), func(t *testing.T) {
			var others Policy
			for _, other := range slices.Sorted(maps.Keys(upgrades)) {
				if other != check {
					others.Exemptions = append(others.Exemptions, Exemption{Check: other})
				}
			}
			if err := NewUnsafeError("widgets.example.com", safety(crds[0], crds[1], others)); err == nil {
				t.Error("it passes where only the other checks are exempt")
			}
			findings := safety(crds[0], crds[1], Policy{Exemptions: []Exemption{{Check: check}}})
			if err := NewUnsafeError("widgets.example.com", findings); err != nil || len(findings) == 0 {
				t.Errorf("it does not pass where the check is exempt: %v (findings %v)", err, findings)
			}
		})
	}
}
