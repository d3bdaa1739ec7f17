package constraint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"

	"fairlead.dev/fairlead/test/must"
)

func TestLimitsAreExact(t *testing.T) {
	sized := func(n int) string {
		const begin, end = `{"failureMessage":"`, `","gvk":{"group":"g","version":"v1","kind":"K"}}`
		return begin + strings.Repeat("x", n-len(begin)-len(end)) + end
	}
	nested := func(n int) string {
		return strings.Repeat(`{"all":{"constraints":[`, n) + `{"gvk":{"group":"g","version":"v1","kind":"K"}}` + strings.Repeat(`]}}`, n)
	}
	for name, test := range map[string]struct{ most, more, want string }{
		"size":   {sized(MaxSize), sized(MaxSize + 1), "greater than max constraint size 65536 bytes"},
		"levels": {nested(MaxDepth), nested(MaxDepth + 1), "nests deeper than 32 levels"},
	} {
		if _, err := Parse(json.RawMessage(test.most)); err != nil {
			t.Errorf("%s: as much as is allowed is refused: %v", name, err)
		}
		_, err := Parse(json.RawMessage(test.more))
		must.Fail(t, name+": one more gives", err, test.want)
	}
}

// TestEveryPartIsPaidFor: what is compared costs what it is made of, keys and bytes too.
func TestEveryPartIsPaidFor(t *testing.T) {
	long := strings.Repeat("x", 1000)
	adapt := types.DefaultTypeAdapter.NativeToValue
	for name, test := range map[string]struct {
		value any
		cost  int64
	}{
		"a text":                  {long, 100},
		"bytes":                   {[]byte(long), 100},
		"the text in a list":      {[]any{long}, 101},
		"the value in a map":      {map[string]any{"k": long}, 101},
		"the key in a map":        {map[string]any{long: true}, 101},
		"the key of an inner map": {[]any{map[string]any{long: long}}, 202},
	} {
		b := &budget{left: test.cost}
		if !b.payFor(adapt(test.value)) || b.left != 0 {
			t.Errorf("%s: %d of %d are left", name, b.left, test.cost)
		}
		if b := (&budget{left: test.cost - 1}); b.payFor(adapt(test.value)) {
			t.Errorf("%s is paid for with less than it costs", name)
		}
	}
	must.Equal(t, "size(types.Bytes(long))", size(types.Bytes(long)), 1000)
}

// TestNameOfAPackage: the examples of the manuals write "name" where other readers want packageName.
func TestNameOfAPackage(t *testing.T) {
	c, err := Parse(json.RawMessage(`{"all":{"constraints":[{"package":{"name":"blue","versionRange":">=1.0.0"}}]}}`))
	if err != nil || c.All[0].Package.Name != "blue" {
		t.Errorf("got %+v, %v; want the package blue", c, err)
	}
	_, err = Parse(json.RawMessage(`{"packages":{}}`))
	if err == nil || strings.Contains(err.Error(), "packageName") {
		t.Errorf("error %v, want one that says nothing of packageName", err)
	}
}
