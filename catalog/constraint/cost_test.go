package constraint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestHostileRulesEnd has rules whose evaluation would take all memory, or all time there is.
func TestHostileRulesEnd(t *testing.T) {
	text := must.Value(json.Marshal(strings.Repeat("a", 1<<20)))(t)
	properties := ValuesOf([]catalog.Property{{Type: "long", Value: text}, {Type: "short", Value: json.RawMessage(`"aa"`)}})
	const levels = 12
	doubled := "[1]" + strings.Repeat(".map(x, [x, x, x, x, x, x, x, x])", levels)
	tests := map[string]string{
		"equality of what refers to itself often":   doubled + " == " + doubled,
		"inequality of what refers to itself often": doubled + " != " + doubled,
		"a search in what refers to itself often":   doubled + "[0] in " + doubled,
		"equality of maps of maps":                  "[1]" + strings.Repeat(".map(x, {'a': x, 'b': x, 'c': x, 'd': x, 'e': x, 'f': x, 'g': x, 'h': x})", levels) + " == [2]" + strings.Repeat(".map(x, {'a': x, 'b': x, 'c': x, 'd': x, 'e': x, 'f': x, 'g': x, 'h': x})", levels),
		"lists that are added to themselves":        "[[1]]" + strings.Repeat(".map(x, x + x + x + x)", levels) + ".all(x, x.all(y, y == 1))",
		"texts that are added to themselves":        "properties.map(p, p.value)" + strings.Repeat(".map(x, x + x + x + x)", levels) + ".size() > 0",
		"an expression of many steps":               "properties.all(p, p.value.matches('" + strings.Repeat("(a?)", 5000) + "'))",
		"comparisons of long texts":                 "properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, a.value <= a.value)))))",
		"conversions of long texts":                 "properties.all(a, bytes(a.value) == bytes(a.value) || true)",
		"versions that are long":                    "properties.all(p, semver_compare(p.value, p.value) == 0 || true)",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			rule := must.Value(Compile(text))(t)
			met, cost := rule.Ask(properties)
			again, cost2 := rule.Ask(properties)
			if met || again || cost != maxCost || cost2 != maxCost {
				t.Errorf("met %t and %t, cost %d and %d", met, again, cost, cost2)
			}
		})
	}
}

// TestLargeBundlesCanBeAsked has more properties than bundles have, and the usual rules about them.
func TestLargeBundlesCanBeAsked(t *testing.T) {
	var properties []catalog.Property
	for i := range 1000 {
		value := must.Value(json.Marshal(map[string]any{"group": "example.com", "version": "v1", "kind": fmt.Sprintf("Kind%d", i)}))(t)
		properties = append(properties, catalog.Property{Type: catalog.PropertyGVK, Value: value})
	}
	properties = append(properties, catalog.Property{Type: catalog.PropertyPackage, Value: json.RawMessage(`{"packageName":"p","version":"1.2.3"}`)})
	tests := map[string]string{
		"a property":             `properties.exists(p, p.type == 'olm.gvk' && p.value.kind == 'Kind999')`,
		"a whole value":          `properties.exists(p, p.value == {'group': 'example.com', 'version': 'v1', 'kind': 'Kind999'})`,
		"no such value":          `properties.all(p, p.value != {'group': 'example.com', 'version': 'v2', 'kind': 'Kind1'})`,
		"one of several":         `properties.exists(p, p.type == 'olm.gvk' && p.value.kind in ['Kind9999', 'Kind999'])`,
		"a list made of others":  `'Kind999' in properties.filter(p, p.type == 'olm.gvk').map(p, p.value.kind)`,
		"by expression":          `properties.exists(p, p.type == 'olm.gvk' && p.value.kind.matches('^Kind99[89]$'))`,
		"a version":              `properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, '1.2.0') >= 0)`,
		"texts that are added":   `properties.exists(p, p.type == 'olm.gvk' && p.value.group + '/' + p.value.kind == 'example.com/Kind999')`,
		"as many as that":        `properties.filter(p, p.type == 'olm.gvk').size() == 1000`,
		"a comparison of texts":  `properties.exists(p, p.type < 'olm.h' && p.value.kind > 'Kind998')`,
		"a key that is there":    `properties.exists(p, 'packageName' in p.value)`,
		"what is no list has no": `!properties.exists(p, p.type == 'olm.package' && 'x' in p.value.version) || true`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			rule := must.Value(Compile(text))(t)
			if met, cost := rule.Ask(ValuesOf(properties)); !met {
				t.Errorf("not met, at a cost of %d", cost)
			}
		})
	}
}

// TestRulesOfTooManyParts has rules whose types would take minutes to check.
func TestRulesOfTooManyParts(t *testing.T) {
	chain := func(n int) string { return "[1]" + strings.Repeat(".map(x, [x, x])", n) + " == []" }
	tests := map[string]struct{ rule, want string }{
		"a long chain":          {chain(240), "lists, maps and macros, and may have 100"},
		"many chains":           {"(" + strings.Repeat(chain(20)+" || ", 190) + "true)", "operators and calls, and may have 1000"},
		"lists in lists":        {strings.Repeat("[", 200) + strings.Repeat("]", 200) + " == []", "lists, maps and macros, and may have 100"},
		"maps in maps":          {strings.Repeat("{1: ", 120) + "1" + strings.Repeat("}", 120) + " == {}", "lists, maps and macros, and may have 100"},
		"many equalities":       {strings.Repeat("1 == 1 && ", 2000) + "true", "operators and calls, and may have 1000"},
		"much that is no rule":  {strings.Repeat("x ", 30000), "Syntax error"},
		"much that is no types": {strings.Repeat("x", 60000) + " == 1", "undeclared reference"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(tc.rule)
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 1000 {
				t.Errorf("error %.2000v, want one with %q", err, tc.want)
			}
		})
	}
	if _, err := Compile("properties.exists(p, p.type in ['" + strings.Repeat("x', '", 5000) + "'])"); err != nil {
		t.Errorf("a list of many constants is refused: %v", err)
	}
}
