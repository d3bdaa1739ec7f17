package crd

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestExemptionsOfACRD: the annotation of a CRD names checks of InstallPlans alone, each for every upgrade or for that of one operator.
func TestExemptionsOfACRD(t *testing.T) {
	tests := map[string]struct {
		text  string
		want  []Exempted
		fails string
	}{
		"nothing":                   {"", nil, ""},
		"every upgrade":             {"existingObjects", []Exempted{{Check: ExistingObjects}}, ""},
		"one upgrade":               {" servedVersionRemoval  op.v2 ;", []Exempted{{ServedVersionRemoval, "op.v2"}}, ""},
		"two, with a comma":         {"existingObjects op.v2, servedVersionRemoval", []Exempted{{ExistingObjects, "op.v2"}, {Check: ServedVersionRemoval}}, ""},
		"a check of the v1 API":     {"enum", nil, `names the check "enum"; on a CustomResourceDefinition there are [existingObjects servedVersionRemoval]`},
		"a check without exemption": {"singleProvider", nil, `names the check "singleProvider"`},
		"too many words":            {"existingObjects op.v2 op.v3", nil, `has "existingObjects op.v2 op.v3", which is not CHECK [CLUSTERSERVICEVERSION]`},
		"a name that is none":       {"existingObjects $(reboot)", nil, "which is not CHECK [CLUSTERSERVICEVERSION]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseExempted(tc.text)
			if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("error %v, want %q", err, tc.fails)
			}
			must.Equal(t, "result", got, tc.want)
		})
	}
}

// TestARefusalNamesItsExemption: the command keeps what is exempted already, and is not proposed for what no exemption covers.
func TestARefusalNamesItsExemption(t *testing.T) {
	u := Change{Live: crd(t, "v1 served stored"), Desired: crd(t, "v1 served stored"), By: Operator{Namespace: "ns", Name: "op.v2"}, Exempted: []Exempted{{ServedVersionRemoval, "op.v1"}}}
	const command = "or let them become invalid: kubectl annotate --overwrite crd widgets.example.com operators.fairlead.dev/crd-upgrade-exemptions='servedVersionRemoval op.v1, existingObjects op.v2'"
	if got := existing(u, 1, 2, []string{"ns/a"}).Sentence(); !strings.HasSuffix(got, command) {
		t.Error(got)
	}
	u.Exempted = append(u.Exempted, Exempted{Check: ExistingObjects})
	must.Lack(t, "sentence", existing(u, 1, 2, []string{"ns/a"}).Sentence(), "kubectl")
}
