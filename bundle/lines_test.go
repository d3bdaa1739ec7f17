package bundle

import (
	"fmt"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestLines(t *testing.T) {
	const text = "# first\nmetadata:\n  annotations:\n    olm.skipRange: x\n    a/b: y\nspec:\n  list:\n  - one\n  - name: two\n  same: &s\n    deep: 1\n  other: *s\n"
	lines := File{Data: []byte(text)}.Lines()
	for field, want := range map[string]int{
		"":                                    2,
		"metadata":                            2,
		"metadata.annotations[olm.skipRange]": 4,
		"metadata.annotations[a/b]":           5,
		"spec.list[0]":                        8,
		"spec.list[1].name":                   9,
		"spec.list[7].name":                   7, // the list that it is missing in
		"spec.other.deep":                     11,
		"spec.missing.deep":                   6,
		"..spec..list[":                       7,
	} {
		must.Equal(t, fmt.Sprintf("%q", field), lines.Of(field), want)
	}
	must.Equal(t, "a broken file has line", (File{Data: []byte("a: [")}).Lines().Of("a"), 0)
}

func FuzzLines(f *testing.F) {
	f.Add("a: {b: [1, {c: d}]}", "a.b[1].c")
	f.Add("&x {a: *x}", "a.a.a.a[")
	f.Fuzz(func(t *testing.T, text, field string) {
		if got := (File{Data: []byte(text)}).Lines().Of(field); got < 0 {
			t.Errorf("line %d", got)
		}
	})
}
