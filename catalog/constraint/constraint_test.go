package constraint

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func TestParse(t *testing.T) {
	raw := `{"failureMessage":"m","any":{"constraints":[{"all":{"constraints":[{"package":{"packageName":"a","versionRange":">=1.0.0"}},` +
		`{"gvk":{"group":"g","version":"v1","kind":"K"}}]}},{"not":{"constraints":[{"cel":{"rule":"1 == 1"}}]}}]}}`
	c := must.Value(Parse(json.RawMessage(raw)))(t)
	if c.FailureMessage != "m" || len(c.Any) != 2 || len(c.Any[0].All) != 2 || len(c.Any[1].Not) != 1 {
		t.Fatalf("got %+v", c)
	}
	if p := c.Any[0].All[0].Package; p == nil || p.Name != "a" || p.Range.String() != ">=1.0.0" {
		t.Errorf("package %+v", p)
	}
	if gvk := c.Any[0].All[1].GVK; gvk == nil || gvk.Kind != "K" {
		t.Errorf("API %+v", gvk)
	}
	if rule := c.Any[1].Not[0].CEL; rule == nil || rule.Text != "1 == 1" || !rule.Meets(nil) {
		t.Errorf("rule %+v", rule)
	}
}

func TestParseRefuses(t *testing.T) {
	nested := strings.Repeat(`{"all":{"constraints":[`, MaxDepth+2) + `{"gvk":{"group":"g","version":"v1","kind":"K"}}` + strings.Repeat(`]}}`, MaxDepth+2)
	tests := map[string]struct{ value, want string }{
		"what is not JSON":          {`{`, "unexpected EOF"},
		"unknown fields":            {`{"gvk":{"group":"g","version":"v1","kind":"K"},"x":1}`, "a field \"x\", which is not known"},
		"more than one value":       {`{"gvk":{"group":"g","version":"v1","kind":"K"}} {}`, "more follows"},
		"nothing":                   {`{}`, "constraint is empty"},
		"nothing inside":            {`{"all":{"constraints":[{"failureMessage":"m"}]}}`, "constraint is empty"},
		"a package with two names":  {`{"package":{"packageName":"p","name":"q","versionRange":"1"}}`, `packageName "p" and name "q": remove name`},
		"a broken range":            {`{"package":{"packageName":"p","versionRange":"~~"}}`, "~~"},
		"a rule that is no rule":    {`{"cel":{"rule":"properties."}}`, "Syntax error"},
		"a rule that is not a bool": {`{"cel":{"rule":"1 + 1"}}`, "cel expressions must have type Bool"},
		"a rule about other things": {`{"cel":{"rule":"nobody == ''"}}`, "undeclared reference"},
		"something inside":          {`{"not":{"constraints":[{"cel":{"rule":"1"}}]}}`, "type Bool"},
		"too much nesting":          {nested, "nests deeper"},
		"too large a value":         {`{"cel":{"rule":"` + strings.Repeat("x", MaxSize) + `"}}`, "greater than max constraint size 65536 bytes"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(json.RawMessage(test.value))
			must.Fail(t, "Parse", err, test.want)
		})
	}
}

func TestCEL(t *testing.T) {
	properties := []catalog.Property{
		{Type: "olm.package", Value: json.RawMessage(`{"packageName":"p","version":"1.10.0"}`)},
		{Type: "level", Value: json.RawMessage(`3`)},
		{Type: "more", Value: json.RawMessage(`"a"`)},
		{Type: "still more", Value: json.RawMessage(`"b"`)},
		{Type: "broken", Value: json.RawMessage(`{`)},
	}
	tests := map[string]struct {
		rule string
		want bool
	}{
		"a property that is there":                 {`properties.exists(p, p.type == "level" && p.value == 3)`, true},
		"one that is not":                          {`properties.exists(p, p.type == "none")`, false},
		"versions are compared as versions":        {`properties.exists(p, p.type == "olm.package" && semver_compare(p.value.version, "1.9") == 1)`, true},
		"a comparison of what is no version fails": {`properties.exists(p, semver_compare(p.value, 1) == 0)`, false},
		"a value that is not JSON is not there":    {`properties.exists(p, p.type == "broken")`, false},
		"a field that is not there fails":          {`properties[0].value.nothing == "x"`, false},
		"a rule that costs too much is not met":    {`properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, properties.all(f, properties.all(g, properties.all(h, properties.all(i, properties.all(j, properties.all(k, properties.all(l, a == a))))))))))))`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rule := must.Value(Compile(test.rule))(t)
			must.Equal(t, "rule.Meets(properties)", rule.Meets(properties), test.want)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"failureMessage":"m","all":{"constraints":[{"package":{"packageName":"a","versionRange":">=1.0.0"}},{"gvk":{"kind":"K"}}]}}`))
	f.Add([]byte(`{"not":{"constraints":[{"cel":{"rule":"properties.exists(p, p.type == 'x')"}}]}}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		c, err := Parse(value)
		if err == nil {
			checkParts(t, *c, 0)
		}
	})
}

// checkParts checks what users of a constraint rely on.
func checkParts(t *testing.T, c Constraint, depth int) {
	t.Helper()
	set := 0
	for _, is := range []bool{c.CEL != nil, c.Package != nil, c.GVK != nil, c.All != nil, c.Any != nil, c.Not != nil} {
		if is {
			set++
		}
	}
	if set != 1 || depth > MaxDepth {
		t.Errorf("%d parts are set at depth %d", set, depth)
	}
	if c.CEL != nil {
		if first, second := c.CEL.Meets(nil), c.CEL.Meets(nil); first != second {
			t.Error("the same question has two answers")
		}
	}
	for _, list := range [][]Constraint{c.All, c.Any, c.Not} {
		for _, part := range list {
			checkParts(t, part, depth+1)
		}
	}
}

// TestErrorsInWordsOfTheConstraint never quote the program that reads it.
func TestErrorsInWordsOfTheConstraint(t *testing.T) {
	for text, want := range map[string]string{
		`5`:                                      "its value is a number, and should be an object with one of gvk, package, all, any, not and cel",
		`{"cel":5}`:                              "cel is a number, which does not belong there",
		`{"cel":{"rule":"properties.exist(p,"}}`: `CEL rule "properties.exist(p,": at line 1, column 20: Syntax error: mismatched input the end of the rule`,
		`{"cel":{"rule":"nothing == 1"}}`:        `CEL rule "nothing == 1": at line 1, column 1: undeclared reference to 'nothing' (in container '')`,
	} {
		if _, err := Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
