package tenancy

import (
	"strings"
	"testing"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// TestForesee: what is in the way of an operator that is yet to be installed, in the order in which one that is there is judged.
func TestForesee(t *testing.T) {
	own := operator(goose)
	own.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeOwnNamespace, Supported: true}}
	rival := []*v1.OperatorGroup{group("b", "x", goose)}
	for name, test := range map[string]struct {
		csv    *v1alpha1.ClusterServiceVersion
		group  *v1.OperatorGroup
		others []*v1.OperatorGroup
		reason string // begins with it; empty is that nothing is in the way
		advice bool
		fails  bool
	}{
		"nothing in the way":            {operator(goose), group("a", "x", ""), nil, "", false, false},
		"its own group":                 {operator(goose), group("a", "x", goose), []*v1.OperatorGroup{group("a", "x", goose)}, "", false, false},
		"another version runs":          {operator(goose, duck), group("a", "x", goose), nil, "", false, false},
		"no such mode":                  {own, group("a", "x", ""), nil, "SingleNamespace InstallModeType not supported", true, false},
		"no such mode, and another":     {own, group("a", "x", ""), rival, "SingleNamespace InstallModeType not supported", true, false},
		"another provides it":           {operator(goose), group("a", "x", ""), rival, "OperatorGroup b-ns/b provides " + goose + " too", false, true},
		"another came later":            {operator(goose), group("a", "x", goose), []*v1.OperatorGroup{group("b", "x", goose, changedAt(2000))}, "", false, false},
		"another elsewhere":             {operator(goose), group("a", "y", ""), rival, "", false, false},
		"static, and it is not listed":  {operator(goose), group("a", "x", "", static), nil, "OperatorGroup a-ns/a has spec.staticProvidedAPIs", false, true},
		"static, and it is listed":      {operator(goose), group("a", "x", goose, static), nil, "", false, false},
		"it provides nothing":           {operator(), group("a", "x", ""), rival, "", false, false},
		"another provides an other API": {operator(duck), group("a", "x", ""), rival, "", false, false},
	} {
		m := Foresee(test.csv, test.group, test.others)
		switch {
		case (m == nil) != (test.reason == ""):
			t.Errorf("%s: %+v", name, m)
		case m != nil && (!strings.HasPrefix(m.Reason, test.reason) || m.Fails != test.fails || (m.Advice != "") != test.advice):
			t.Errorf("%s: %+v", name, *m)
		}
	}
}
