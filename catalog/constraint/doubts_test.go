package constraint

import (
	"encoding/json"
	"fmt"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestDoubtfulConstraints are accepted with the meaning that clusters have given them so far, and are not accepted silently.
func TestDoubtfulConstraints(t *testing.T) {
	owner := OwnerOf("red", []catalog.Property{
		{Type: catalog.PropertyPackage, Value: json.RawMessage(`{"packageName":"red","version":"1.2.0"}`)},
		{Type: catalog.PropertyGVK, Value: json.RawMessage(`{"group":"g","version":"v1","kind":"Red"}`)},
		{Type: catalog.PropertyGVK, Value: json.RawMessage(`[]`)},
		{Type: "certified", Value: json.RawMessage(`true`)},
	})
	const (
		gvk   = `"gvk":{"group":"g","version":"v1","kind":"Blue"}`
		blue  = `"package":{"packageName":"blue","versionRange":">=1.0.0"}`
		alias = `"package":{"name":"blue","versionRange":">=1.0.0"}`
		rule  = `"cel":{"rule":"properties."}`
		red   = `"gvk":{"group":"g","version":"v1","kind":"Red"}`
	)
	itself := ": the bundle meets it itself, so it asks nothing of other operators"
	for name, test := range map[string]struct {
		value  string
		counts string // the kind that is read
		want   []string
	}{
		"nothing doubtful":                    {`{` + blue + `}`, kindPackage, nil},
		"the name of a package as in manuals": {`{"any":{"constraints":[{` + blue + `},{` + alias + `}]}}`, kindAny, []string{"any #2: the package is named by the field name, which other tools refuse"}},
		"both names of a package, the same":   {`{"package":{"packageName":"blue","name":"blue","versionRange":">=1.0.0"}}`, kindPackage, []string{"the package is named by the field name, which other tools refuse"}},
		"an empty all":                        {`{"all":{"constraints":[]}}`, kindAll, []string{"all has no constraints, so it always holds"}},
		"an all of nothing":                   {`{"all":{}}`, kindAll, []string{"all has no constraints, so it always holds"}},
		"an empty any":                        {`{"all":{"constraints":[{"any":{"constraints":[]}}]}}`, kindAll, []string{"all #1: any has no constraints, so it never holds"}},
		"an empty not":                        {`{"not":{"constraints":[]}}`, kindNot, []string{"not has no constraints, so it always holds"}},
		"two kinds: an API and a package":     {`{` + blue + `,` + gvk + `}`, kindGVK, []string{"it has gvk and package; gvk counts and package is passed over"}},
		"two kinds: a package and an all":     {`{"all":{"constraints":[{` + gvk + `}]},` + blue + `}`, kindPackage, []string{"it has package and all; package counts and all is passed over"}},
		"two kinds: what is passed over may be broken": {`{` + rule + `,"not":{"constraints":[{` + gvk + `}]}}`, kindNot,
			[]string{"it has not and cel; not counts and cel is passed over"}},
		"three kinds": {`{"any":{"constraints":[{` + gvk + `}]},"all":{"constraints":[{` + gvk + `}]},` + rule + `}`, kindAll,
			[]string{"it has all and any and cel; all counts and any and cel are passed over"}},
		"an API that the bundle has":         {`{"all":{"constraints":[{` + gvk + `},{` + red + `}]}}`, kindAll, []string{"all #2" + itself}},
		"the bundle's own package":           {`{"package":{"packageName":"red","versionRange":"<2.0.0"}}`, kindPackage, []string{itself[2:]}},
		"a rule that the bundle meets":       {`{"cel":{"rule":"properties.exists(p, p.type == 'certified')"}}`, kindCEL, []string{itself[2:]}},
		"its own package in another version": {`{"package":{"packageName":"red","versionRange":"<1.0.0"}}`, kindPackage, nil},
		"what others must not have":          {`{"not":{"constraints":[{` + red + `}]}}`, kindNot, nil},
		"not the absence of what it has":     {`{"not":{"constraints":[{"not":{"constraints":[{` + red + `}]}}]}}`, kindNot, []string{"not #1, not #1" + itself}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Parse(json.RawMessage(test.value))
			must.NoErrorf(t, err, "Parse(%s)", test.value)
			read := map[string]bool{kindGVK: c.GVK != nil, kindPackage: c.Package != nil, kindAll: c.All != nil, kindAny: c.Any != nil, kindNot: c.Not != nil, kindCEL: c.CEL != nil}
			for kind, there := range read {
				must.Equal(t, kind+": there", there, kind == test.counts)
			}
			var got []string
			for _, d := range c.Doubts(owner) {
				if d.Fix == "" {
					t.Errorf("%q says nothing of what to do", d)
				}
				got = append(got, d.String())
			}
			must.Equal(t, "doubts", got, test.want)
		})
	}
}

func TestDoubtsOfPackage(t *testing.T) {
	owner := OwnerOf("red", []catalog.Property{{Type: catalog.PropertyPackage, Value: json.RawMessage(`{"packageName":"red","version":"1.2.0"}`)}})
	for name, test := range map[string]struct{ pkg, versions, want string }{
		"another package":              {"blue", ">=1.0.0", "[]"},
		"its own, and the version is":  {"red", ">=1.0.0", "[the bundle meets it itself, so it asks nothing of other operators]"},
		"its own, in another version":  {"red", "<1.0.0", "[the bundle requires its own package red in another version than its own, 1.2.0, and a namespace has only one version of a package, so it can never be installed]"},
		"its own, in a later version":  {"red", ">1.2.0", "[the bundle requires its own package red in another version than its own, 1.2.0, and a namespace has only one version of a package, so it can never be installed]"},
		"one that begins like its own": {"redder", ">=1.0.0", "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, field := range []string{"version", "versionRange"} { // as in a dependency, as in a catalog
				need := catalog.Property{Type: catalog.PropertyPackageRequired, Value: json.RawMessage(fmt.Sprintf(`{"packageName":%q,%q:%q}`, test.pkg, field, test.versions))}
				must.Equal(t, field+": doubts", fmt.Sprint(DoubtsOf(need, owner)), test.want)
			}
		})
	}
	for name, other := range map[string]catalog.Property{
		"a range that cannot be read":      {Type: catalog.PropertyPackageRequired, Value: json.RawMessage(`{"packageName":"red","versionRange":"~~"}`)},
		"a constraint that cannot be read": {Type: catalog.PropertyConstraint, Value: json.RawMessage(`{}`)},
		"an arbitrary property":            {Type: "all", Value: json.RawMessage(`{"all":{}}`)},
	} {
		if got := DoubtsOf(other, owner); got != nil {
			t.Errorf("%s has doubts %v", name, got)
		}
	}
}
