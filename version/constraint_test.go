package version

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
)

// samples are versions at and around all the bounds in the tables below.
var samples = func() []semver.Version {
	var all []semver.Version
	for _, text := range []string{
		"0.0.0", "0.0.2", "0.0.3", "0.0.4", "0.1.0", "0.1.9", "0.2.0", "0.2.2", "0.2.3", "0.2.9", "0.3.0", "0.9.9",
		"1.0.0", "1.1.0", "1.2.0", "1.2.2", "1.2.3", "1.2.4", "1.9.9", "1.10.9", "1.11.0", "1.11.1", "1.11.9", "1.12.0", "1.12.5", "1.13.0", "1.99.0",
		"2.0.0", "2.2.9", "2.3.0", "2.4.0", "2.9.9", "3.0.0", "3.0.1", "4.0.0", "10.0.0",
	} {
		all = append(all, semver.MustParse(text))
	}
	return all
}()

// TestConstraintTables are the documented comparison strings and what they
// stand for.
func TestConstraintTables(t *testing.T) {
	tables := map[string]map[string]string{
		"wildcards": {
			"1.11.x":   ">=1.11.0, <1.12.0",
			">=1.12.X": ">=1.12.0",
			"<=2.x":    "<3",
			"*":        ">=0.0.0",
		},
		"patch releases": {
			"~1.11.0": ">=1.11.0, <1.12.0",
			"~1":      ">=1, <2",
			"~1.12":   ">=1.12, <1.13",
			"~1.12.x": ">=1.12.0, <1.13.0",
			"~1.x":    ">=1, <2",
		},
		"major releases": {
			"^0":     ">=0.0.0, <1.0.0",
			"^0.0":   ">=0.0.0, <0.1.0",
			"^0.0.3": ">=0.0.3, <0.0.4",
			"^0.2":   ">=0.2.0, <0.3.0",
			"^0.2.3": ">=0.2.3, <0.3.0",
			"^1.2.x": ">= 1.2.0, < 2.0.0",
			"^1.2.3": ">= 1.2.3, < 2.0.0",
			"^2.x":   ">= 2.0.0, < 3",
			"^2.3":   ">= 2.3, < 3",
		},
		"other ways to write": {
			"=1.11.x":            "1.11.x",
			"~>1.2":              "~1.2",
			"=>1.0":              ">=1.0",
			"1.2.3 - 2.0.0":      ">=1.2.3 <=2.0.0",
			">=1.11 <1.13":       ">=1.11, <1.13",
			" 1.11.x \n":         "1.11.x",
			"v1.11.1":            "1.11.1",
			"1.x.x":              "1.x",
			"^1 || ^3":           ">=1 <2 || >=3 <4",
			">=1.11, <1.13 || 2": "~1.11 || ~1.12 || ^2",
		},
	}
	for table, rows := range tables {
		for left, right := range rows {
			t.Run(table+"/"+left, func(t *testing.T) {
				a := must.Value(ParseConstraint(left))(t)
				b := must.Value(ParseConstraint(right))(t)
				contained := 0
				for _, v := range samples {
					if a.Contains(v) != b.Contains(v) {
						t.Errorf("%s: in %q %v, in %q %v", v, left, a.Contains(v), right, b.Contains(v))
					}
					if a.Contains(v) {
						contained++
					}
				}
				if contained == 0 {
					t.Errorf("%q contains none of the samples", left)
				}
			})
		}
	}
}

func TestConstraint(t *testing.T) {
	tests := map[string]struct {
		text    string
		in, out []string
	}{
		"equal":             {"=1.11.0", []string{"1.11.0", "1.11.0+2"}, []string{"1.11.1", "1.11.0-rc.1"}},
		"pinned":            {"1.11.1", []string{"1.11.1"}, []string{"1.11.0", "1.11.2"}},
		"not equal":         {"!=1.11.0", []string{"1.11.1"}, []string{"1.11.0"}},
		"greater":           {">1.11.1", []string{"1.11.2", "2.0.0"}, []string{"1.11.1"}},
		"less":              {"<1.11.1", []string{"1.11.0"}, []string{"1.11.1"}},
		"or equal":          {">=1.11.1, <=1.12.0", []string{"1.11.1", "1.12.0"}, []string{"1.11.0", "1.12.1"}},
		"example":           {">=1.11, <1.13", []string{"1.11.0", "1.12.9"}, []string{"1.10.9", "1.13.0"}},
		"or":                {"1.2.3 || 2.x", []string{"1.2.3", "2.5.0"}, []string{"1.2.4", "3.0.0"}},
		"pre-releases out":  {">=1.0.0 <2.0.0", []string{"1.5.0"}, []string{"1.5.0-rc.1", "2.0.0-rc.1"}},
		"pre-releases in":   {">=1.0.0-0 <2.0.0", []string{"1.5.0-rc.1", "1.0.0-alpha"}, []string{"2.0.0"}},
		"exact pre-release": {"1.2.3-alpha+001", []string{"1.2.3-alpha"}, []string{"1.2.3", "1.2.3-beta"}},
		"several numbers":   {"1,2", nil, []string{"1.0.0", "2.0.0"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := must.Value(ParseConstraint(test.text))(t)
			if c.IsZero() || c.String() != test.text {
				t.Errorf("zero %v, text %q", c.IsZero(), c)
			}
			checkContains(t, c, test.in, test.out)
		})
	}
}

func TestParseConstraintRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "|", "||", "1.2.3||", "|| 1.2.3", "1.x | 2.x", "1.*]", "> =1", "1.2.3 junk", "latest", ">=1.0.0,", "!1.0.0 &",
		"99999999999999999999.0.0", strings.Repeat("1 ", maxText),
	} {
		c, err := ParseConstraint(text)
		if err == nil {
			t.Errorf("ParseConstraint(%q) accepts it", text)
			continue
		}
		if !c.IsZero() {
			t.Errorf("ParseConstraint(%q) returns a constraint and an error", text)
		}
		if len(err.Error()) > 500 {
			t.Errorf("ParseConstraint(%.20q…): the error has %d bytes", text, len(err.Error()))
		}
	}
}

func TestZeroConstraint(t *testing.T) {
	var c Constraint
	if !c.IsZero() || c.Contains(semver.MustParse("1.0.0")) || c.String() != "" {
		t.Error("the zero constraint is something")
	}
	a, _ := ParseConstraint("1.x")
	b, _ := ParseConstraint("1.x")
	if !cmp.Equal(a, b) || cmp.Equal(a, c) {
		t.Error("constraints do not compare by their text")
	}
}

func FuzzParseConstraint(f *testing.F) {
	for _, text := range []string{">=1.11, <1.13", "1.x || ^2", "~>1.2 != 1.2.3", "1.2.3 - 2", "1.2.3-rc.1", "*", "1.*]"} {
		f.Add(text, "1.2.3-rc.1")
	}
	f.Fuzz(func(t *testing.T, text, v string) {
		c, err := ParseConstraint(text)
		if err != nil {
			return
		}
		parsed, err := ParseTolerant(v)
		if err != nil {
			return
		}
		build := parsed
		build.Build = []string{"x"}
		must.Equal(t, "c.Contains(parsed)", c.Contains(parsed), c.Contains(build))
		if len(text)+len(v) > maxText/2 {
			return
		}
		both, err := ParseConstraint(text + " || =" + parsed.String())
		must.NoErrorf(t, err, "%q can be read, but not with an alternative", text)
		if !both.Contains(parsed) {
			t.Errorf("%s does not contain %s", both, parsed)
		}
	})
}
