package version

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		text, strict, tolerant string // canonical form, empty when refused
	}{
		"three numbers":       {"1.2.3", "1.2.3", "1.2.3"},
		"pre-release":         {"1.2.3-rc.1", "1.2.3-rc.1", "1.2.3-rc.1"},
		"build":               {"1.2.3+5.el9", "1.2.3+5.el9", "1.2.3+5.el9"},
		"all":                 {"1.2.3-a.b-c.0+x", "1.2.3-a.b-c.0+x", "1.2.3-a.b-c.0+x"},
		"v in front":          {"v1.2.3", "", "1.2.3"},
		"two numbers":         {"1.2", "", "1.2.0"},
		"one number":          {"v7", "", "7.0.0"},
		"space around":        {" 1.2.3\n", "", "1.2.3"},
		"leading zeros":       {"01.02.03", "", "1.2.3"},
		"zeros":               {"0.0.0", "0.0.0", "0.0.0"},
		"four numbers":        {"1.2.3.4", "", ""},
		"leading zero in pre": {"1.2.3-01", "", ""},
		"empty":               {"", "", ""},
		"words":               {"latest", "", ""},
		"too large":           {"99999999999999999999.0.0", "", ""},
		"too long":            {"1.2.3-" + strings.Repeat("a", maxText), "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			check := func(what, want, got string, err error) {
				if err != nil {
					got = ""
					if len(err.Error()) > 300 {
						t.Errorf("%s: the error has %d bytes", what, len(err.Error()))
					}
				}
				must.Equal(t, what+": result", got, want)
			}
			strict, err := Parse(test.text)
			check("Parse", test.strict, strict.String(), err)
			tolerant, err := ParseTolerant(test.text)
			check("ParseTolerant", test.tolerant, tolerant.String(), err)
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"1.2.3", "v1", " 01.2.3-a+b", "1.2.3-rc.1+5", "", "1.-.+"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		strict, err := Parse(text)
		if err == nil && strict.String() != text {
			t.Errorf("Parse(%q) = %s", text, strict)
		}
		tolerant, tolerantErr := ParseTolerant(text)
		if err == nil && (tolerantErr != nil || !tolerant.EQ(strict)) {
			t.Errorf("ParseTolerant(%q) = %s (%v), but Parse gives %s", text, tolerant, tolerantErr, strict)
		}
		if tolerantErr == nil {
			if again, err := Parse(tolerant.String()); err != nil || !again.Equals(tolerant) {
				t.Errorf("%q is read as %s, which is read as %s (%v)", text, tolerant, again, err)
			}
		}
	})
}
