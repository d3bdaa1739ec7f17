package crd

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/fairlead/test/must"
)

// sentences are findings as people read them.
func sentences(findings []Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Sentence())
	}
	return strings.Join(all, "\n")
}

func TestJudge(t *testing.T) {
	elsewhere := func(owns ...string) Operator { return Operator{Namespace: "elsewhere", Name: "op.v1", Owns: owns} }
	needs := func(versions ...string) Operator {
		return Operator{Namespace: "apps", Name: "app.v1", Requires: versions}
	}
	const narrow = ": {type: object, properties: {a: {type: string, maxLength: 3}}}"
	const lost = `risk of data loss updating "widgets.example.com": new CRD removes version v1 that is listed as a stored version on the existing CRD; `
	tests := map[string]struct {
		live, wanted *definition
		others       []Operator
		strict       bool
		exempt       string // the annotation
		refused      string // parts of it, by line
		warned       string
		leaving      []string
		changed      []string
		dropped      []string
		binding      bool
	}{
		"single owner: a version is added":             {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served", "v2 served stored")},
		"single owner: the schema narrows":             {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served stored"+narrow), changed: []string{"v1"}, binding: true},
		"single owner: the schema narrows, exempt":     {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served stored"+narrow), exempt: "existingObjects", changed: []string{"v1"}},
		"the schema narrows, exempt for another":       {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served stored"+narrow), exempt: "existingObjects op.v3", changed: []string{"v1"}, binding: true},
		"the schema narrows, another check is exempt":  {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served stored"+narrow), exempt: "servedVersionRemoval op.v2", changed: []string{"v1"}, binding: true},
		"single owner, strict: the schema narrows":     {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served stored"+narrow), strict: true, changed: []string{"v1"}, binding: true},
		"single owner: a served version goes":          {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v2 served stored"), warned: "version v1 goes although it is served; clients that use it will fail; the upgrade is refused while objects were last written in that version", dropped: []string{"v1"}},
		"a served version goes, exempt":                {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v2 served stored"), exempt: "existingObjects; servedVersionRemoval op.v2", warned: "exempts it"},
		"a served version goes, exempt and strict":     {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v2 served stored"), strict: true, exempt: "servedVersionRemoval", refused: "its upgrades are strict"},
		"single owner, strict: a served version goes":  {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v2 served stored"), strict: true, refused: "its upgrades are strict, so every version that it serves must stay"},
		"single owner: a version is turned off":        {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v1", "v2 served stored")},
		"the storage version goes":                     {live: crd(t, "v1 served stored", "v2 served"), wanted: crd(t, "v2 served stored"), refused: lost + "objects are stored as v1: upgrade first to a bundle whose CRD stores another version and has v1 with served: false"},
		"the storage version goes, turned off":         {live: crd(t, "v1 stored", "v2 served"), wanted: crd(t, "v2 served stored"), refused: lost + "objects are stored as v1"},
		"a stored version goes that is served":         {live: crd(t, "v1 served listed", "v2 served stored"), wanted: crd(t, "v2 served stored"), refused: lost + "upgrade first to a bundle whose CRD has v1 with served: false; its objects are then rewritten when the version goes; or, when no client uses v1 any more, have them rewritten now: kubectl annotate --overwrite crd widgets.example.com operators.fairlead.dev/crd-upgrade-exemptions='servedVersionRemoval op.v2'"},
		"a stored version goes that is served, exempt": {live: crd(t, "v1 served listed", "v2 served stored"), wanted: crd(t, "v2 served stored"), exempt: "servedVersionRemoval op.v2", warned: "exempts it", leaving: []string{"v1"}},
		"the storage version goes, exempt":             {live: crd(t, "v1 served stored", "v2 served"), wanted: crd(t, "v2 served stored"), exempt: "servedVersionRemoval", refused: lost + "objects are stored as v1"},
		"a stored version goes that was turned off":    {live: crd(t, "v1 listed", "v2 served stored"), wanted: crd(t, "v2 served stored"), leaving: []string{"v1"}},
		"a stored version is turned off":               {live: crd(t, "v1 served listed", "v2 served stored"), wanted: crd(t, "v1", "v2 served stored")},
		"several owners: a version is added":           {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served", "v2 served stored"), others: []Operator{elsewhere("v1")}, binding: true},
		"several owners: a served version goes": {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v2 served stored"), others: []Operator{elsewhere("v2")},
			refused: "CustomResourceDefinition widgets.example.com is also owned by ClusterServiceVersion elsewhere/op.v1, so every version that it serves must stay, but the new one does not serve v1; upgrade to a bundle whose CRD has v1 with served: false first"},
		"several owners: one uses what is turned off": {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v1", "v2 served stored"), others: []Operator{elsewhere("v1")},
			refused: "the new one does not serve v1; upgrade or remove ClusterServiceVersion elsewhere/op.v1 first"},
		"several owners: nobody uses what is turned off":   {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v1", "v2 served stored"), others: []Operator{elsewhere("v2")}, binding: true},
		"several owners: what was off goes":                {live: crd(t, "v1", "v2 served stored"), wanted: crd(t, "v2 served stored"), others: []Operator{elsewhere("v2")}, binding: true},
		"several owners: the schema narrows":               {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served stored"+narrow), others: []Operator{elsewhere("v1")}, changed: []string{"v1"}, binding: true},
		"several owners: every one is named":               {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v2 served stored"), others: []Operator{elsewhere("v2"), {Namespace: "third", Name: "op.v3", Owns: []string{"v1"}}}, refused: "owned by ClusterServiceVersion elsewhere/op.v1, ClusterServiceVersion third/op.v3, so"},
		"several owners: a second one here":                {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served stored"), others: []Operator{{Namespace: "ns", Name: "rival.v1", Owns: []string{"v1"}}}, refused: "CustomResourceDefinition widgets.example.com of op.v2 is provided by ClusterServiceVersion ns/rival.v1 already"},
		"a dependent loses its version":                    {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v2 served stored"), others: []Operator{needs("v1")}, refused: "version v1 of CustomResourceDefinition widgets.example.com is required by ClusterServiceVersion apps/app.v1, but the new one does not serve it; upgrade or remove what requires it first"},
		"a dependent's version is turned off":              {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v1", "v2 served stored"), others: []Operator{needs("v1")}, refused: "is required by ClusterServiceVersion apps/app.v1"},
		"a dependent uses another version":                 {live: crd(t, "v1 served", "v2 served stored"), wanted: crd(t, "v1", "v2 served stored"), others: []Operator{needs("v2")}},
		"a dependent is no owner":                          {live: crd(t, "v1 served stored"), wanted: crd(t, "v1 served stored"+narrow), others: []Operator{needs("v1")}, changed: []string{"v1"}, binding: true},
		"only what is served before and after is compared": {live: crd(t, "v1 served stored", "v2"), wanted: crd(t, "v1 served stored", "v2 served"+narrow)},
		"documentation is no change":                       {live: crd(t, "v1 served stored: {type: object, description: a}"), wanted: crd(t, "v1 served stored: {type: object, description: b}")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			by := Operator{Namespace: "ns", Name: "op.v2", Owns: []string{"v2"}}
			exempted := must.Value(ParseExempted(tc.exempt))(t)
			v := planRules(Change{Live: tc.live, Desired: tc.wanted, By: by, Others: tc.others, Strict: tc.strict, Exempted: exempted})
			if got := sentences(v.Refused); (got == "") != (tc.refused == "") || !strings.Contains(got, tc.refused) {
				t.Errorf("refused: %s", got)
			}
			if got := sentences(v.Warnings); (got == "") != (tc.warned == "") || !strings.Contains(got, tc.warned) {
				t.Errorf("warned: %s", got)
			}
			must.Equal(t, "leaving", v.Leaving, tc.leaving)
			must.Equal(t, "changed", v.Changed, tc.changed)
			must.Equal(t, "dropped", v.Dropped, tc.dropped)
			must.Equal(t, "binding", v.Binding, tc.binding)
			again := planRules(Change{Live: tc.wanted, Desired: tc.wanted, By: by})
			must.Equal(t, "a CRD against itself", again, Verdict{})
		})
	}
}

// A webhook of the new operator may convert objects so that they are valid: nobody can know before it runs.
func TestConversionIsNotJudged(t *testing.T) {
	wanted := crd(t, "v1 served stored: {type: object, required: [a], properties: {a: {type: string}}}")
	wanted.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	v := planRules(Change{Live: crd(t, "v1 served stored"), Desired: wanted, Strict: true})
	must.Equal(t, "objects must be looked at, and not stand in the way", v.Binding, false)
	must.Equal(t, "objects must be looked at, and not stand in the way", len(v.Changed), 1)
}

// TestStoredBeforeConverted has objects stored in a version that only the webhook of the new operator knows.
func TestStoredBeforeConverted(t *testing.T) {
	const a, b = ": {type: object, properties: {a: {type: string}}}", ": {type: object, properties: {b: {type: string}}}"
	tests := map[string]struct {
		live, wanted *definition
		webhook      bool
		warned       int
	}{
		"another version is stored":          {crd(t, "v1 served stored"+a), crd(t, "v1 served"+a, "v2 served stored"+b), true, 1},
		"without a webhook":                  {crd(t, "v1 served stored"+a), crd(t, "v1 served"+a, "v2 served stored"+b), false, 0},
		"of the same schema":                 {crd(t, "v1 served stored"+a), crd(t, "v1 served"+a, "v2 served stored"+a), true, 0},
		"the version is there, and not that": {crd(t, "v1 served stored"+a), crd(t, "v1 served stored"+a, "v2 served"+b), true, 0},
	}
	for name, tc := range tests {
		if tc.webhook {
			tc.wanted.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
		}
		v := planRules(Change{Live: tc.live, Desired: tc.wanted})
		must.Equal(t, name, len(v.Warnings), tc.warned)
		must.Empty(t, name, v.Refused)
	}
}

func TestReadVersion(t *testing.T) {
	tests := map[string]struct {
		crd  *definition
		want string
	}{
		"what is stored":                {crd(t, "v1 served", "v2 served stored"), "v2"},
		"what is served when that isnt": {crd(t, "v1 served", "v2 stored"), "v1"},
		"nothing":                       {crd(t, "v1", "v2 stored"), ""},
	}
	for name, tc := range tests {
		must.Equal(t, name, ReadVersion(tc.crd), tc.want)
	}
}
