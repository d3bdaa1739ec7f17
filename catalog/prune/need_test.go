package prune

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func TestNeeds(t *testing.T) {
	deep := strings.Repeat(`{"all":{"constraints":[`, 40) + `{"gvk":{"kind":"K"}}` + strings.Repeat(`]}}`, 40)
	for name, test := range map[string]struct {
		constraint   string
		want, untold string
	}{
		"package":              {`{"failureMessage":"m","package":{"packageName":"p","versionRange":">=1.0.0"}}`, `package "p" >=1.0.0`, ""},
		"API":                  {`{"gvk":{"group":"g","version":"v1","kind":"K"}}`, "API K.v1.g", ""},
		"CEL":                  {`{"cel":{"rule":"size(properties) > 0"}}`, `what meets the rule "size(properties) > 0"`, ""},
		"itself":               {`{"all":{"constraints":[{"cel":{"rule":"true"}},{"gvk":{"group":"g","version":"v1","kind":"Own"}},{"package":{"packageName":"own","versionRange":">=0.0.0"}}]}}`, "", ""},
		"a part of it":         {`{"all":{"constraints":[{"gvk":{"group":"g","version":"v1","kind":"K"}},{"package":{"name":"own","versionRange":">=0.0.0"}}]}}`, "all of (API K.v1.g)", ""},
		"not":                  {`{"not":{"constraints":[{"gvk":{"kind":"K"}}]}}`, "", ""},
		"nothing":              {`{}`, "", "constraint is empty"},
		"all, some of nothing": {`{"all":{"constraints":[{"gvk":{"group":"g","version":"v1","kind":"K"}},{"not":{"constraints":[{"cel":{"rule":"true"}}]}}]}}`, `all of (API K.v1.g, none of (what meets the rule "true"))`, ""},
		"all of nothing":       {`{"all":{"constraints":[{"not":{"constraints":[{"cel":{"rule":"true"}}]}}]}}`, "", ""},
		"any, some of nothing": {`{"any":{"constraints":[{"gvk":{"group":"g","version":"v1","kind":"K"}},{"not":{"constraints":[{"cel":{"rule":"true"}}]}}]}}`, "", ""},
		"any of none":          {`{"any":{"constraints":[]}}`, "any of ()", ""},
		"all of none":          {`{"all":{"constraints":[]}}`, "", ""},
		"a bad rule":           {`{"cel":{"rule":"1"}}`, "", "must have type Bool"},
		"a bad range":          {`{"package":{"packageName":"p","versionRange":"x"}}`, "", "a constraint cannot be read"},
		"another type":         {`[]`, "", "a constraint cannot be read"},
		"too deep":             {deep, "", "deeper than 32 levels"},
		"too large":            {`"` + strings.Repeat("x", 100_000) + `"`, "", "max constraint size 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &offers{constraints: map[string]readConstraint{}}
			all, untold := p.needs(&catalog.BundleInfo{Package: "own", Provides: []catalog.GVK{{Group: "g", Version: "v1", Kind: "Own"}}, Constraints: []json.RawMessage{json.RawMessage(test.constraint)}})
			var got []string
			for _, n := range all {
				got = append(got, n.text())
			}
			if strings.Join(got, "; ") != test.want {
				t.Errorf("needs %q, want %s", got, test.want)
			}
			if said := strings.Join(untold, "; "); !strings.Contains(said, test.untold) || (test.untold == "") != (said == "") {
				t.Errorf("untold: %s, want %s", said, test.untold)
			}
		})
	}
}

// TestLargeCatalogIsPrunedInTime has packages with thousands of versions that
// require each one of the other package, and skip each other.
func TestLargeCatalogIsPrunedInTime(t *testing.T) {
	const n = 2_500
	c := &catalog.Catalog{}
	for _, names := range [][2]string{{"p", "q"}, {"q", "p"}} {
		pkg := names[0]
		line := catalog.Channel{Package: pkg, Name: "c"}
		for i := range n {
			e := catalog.Entry{Name: fmt.Sprint(pkg, ".v1.", i, ".0"), SkipRange: fmt.Sprintf(">=0.%d.0 <1.0.0", i)}
			switch {
			case i%2 == 1:
				e.Replaces = fmt.Sprint(pkg, ".v1.", i-2, ".0")
				e.Skips = []string{fmt.Sprint(pkg, ".v1.", i-1, ".0")}
			case i > 0:
				e.Skips = []string{fmt.Sprint(pkg, ".v1.", i-2, ".0")}
			}
			line.Entries = append(line.Entries, e)
			c.Bundles = append(c.Bundles, catalog.Bundle{Package: pkg, Name: e.Name, Image: "i", Properties: []catalog.Property{
				property(catalog.PropertyPackage, map[string]string{"packageName": pkg, "version": fmt.Sprintf("1.%d.0", i)}),
				property(catalog.PropertyPackageRequired, map[string]string{"packageName": names[1], "versionRange": fmt.Sprintf("1.%d.0", (i+n-2)%n)}),
			}})
		}
		c.Packages = append(c.Packages, catalog.Package{Name: pkg, DefaultChannel: "c"})
		c.Channels = append(c.Channels, line)
	}
	start := time.Now()
	for _, s := range []Selection{{Package: "p", HeadsOnly: true}, {Package: "p", Versions: mustRange("<=1.2498.0 || 1.5.x")}, {Package: "p", HeadsOnly: true, Versions: mustRange("1.5.0")}} {
		_, report, err := Prune(c, Options{Packages: []Selection{s}})
		must.NoError(t, err)
		for _, note := range report.Notes {
			if strings.Contains(note, "cost too much") {
				t.Error(note)
			}
		}
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestCostlyConstraintsAreSaidToBe has a rule that takes long to ask, for each
// of many bundles.
func TestCostlyConstraintsAreSaidToBe(t *testing.T) {
	c := &catalog.Catalog{}
	const n = 40
	for i := range n {
		pkg := fmt.Sprint("p", i)
		rule := fmt.Sprintf("[1,2,3,4,5,6,7,8].all(a, [1,2,3,4,5,6,7,8].all(b, [1,2,3,4,5,6,7,8].all(c, [1,2,3,4,5,6,7,8].all(d, a+b+c+d > 0)))) && %d < 0", i)
		c.Packages = append(c.Packages, catalog.Package{Name: pkg, DefaultChannel: "c"})
		c.Channels = append(c.Channels, catalog.Channel{Package: pkg, Name: "c", Entries: []catalog.Entry{{Name: pkg}}})
		c.Bundles = append(c.Bundles, catalog.Bundle{Package: pkg, Name: pkg, Image: "i", Properties: []catalog.Property{
			property(catalog.PropertyPackage, map[string]string{"packageName": pkg, "version": "1.0.0"}),
			property(catalog.PropertyConstraint, map[string]any{"cel": map[string]string{"rule": rule}}),
		}})
	}
	var all []Selection
	for i := range n {
		all = append(all, Selection{Package: fmt.Sprint("p", i)})
	}
	_, report, err := Prune(c, Options{Packages: all})
	must.NoError(t, err)
	costly := 0
	for _, note := range report.Notes {
		if strings.Contains(note, "cost too much to find out who provides it") {
			costly++
		}
	}
	if costly == 0 || costly == n {
		t.Errorf("%d of %d are said to cost too much", costly, n)
	}
}
