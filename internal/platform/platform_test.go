package platform

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"fairlead.dev/fairlead/test/must"
)

func maxProperty(value string) string {
	return `[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}},{"type":"olm.maxOpenShiftVersion","value":` + value + `}]`
}

func TestUpgradeable(t *testing.T) {
	operator := func(name, value string) Installed { return Installed{Name: name, Properties: maxProperty(value)} }
	tests := map[string]struct {
		version   string
		installed []Installed
		reason    string
		message   string
	}{
		"nothing installed":                            {"4.18.0", nil, ReasonCompatible, "no installed operator excludes OpenShift 4.19"},
		"no property":                                  {"4.18.0", []Installed{{Name: "a", Properties: `[{"type":"olm.label","value":{"label":"x"}}]`}, {Name: "b"}}, ReasonCompatible, ""},
		"up to this version":                           {"4.18.0", []Installed{operator("a", `"4.18"`)}, ReasonIncompatible, "not known to work on OpenShift 4.19; upgrade or remove them first: a works on OpenShift up to 4.18"},
		"up to the next version":                       {"4.18.0", []Installed{operator("a", `"4.19"`)}, ReasonCompatible, ""},
		"patch releases of the cluster do not count":   {"4.18.77", []Installed{operator("a", `"4.19"`)}, ReasonCompatible, "4.19"},
		"pre-releases of the cluster do not count":     {"4.18.0-rc1", []Installed{operator("a", `"4.18"`)}, ReasonIncompatible, "4.19"},
		"of a pre-release the next is still the next":  {"4.18.0-rc.1", []Installed{operator("a", `"4.19"`)}, ReasonCompatible, "4.19"},
		"patch releases of the operator do not count":  {"4.18.5", []Installed{operator("a", `"4.19.0"`)}, ReasonCompatible, ""},
		"pre-releases of the operator do not count":    {"4.18.5", []Installed{operator("a", `"4.19.0-rc.2"`)}, ReasonCompatible, ""},
		"long behind":                                  {"4.18.0", []Installed{operator("a", `"4.9"`)}, ReasonIncompatible, "up to 4.9"},
		"two digits":                                   {"4.9.0", []Installed{operator("a", `"4.10"`)}, ReasonCompatible, ""},
		"a number as it is written":                    {"4.9.0", []Installed{operator("a", `4.10`)}, ReasonCompatible, ""},
		"a number that is too low":                     {"4.9.0", []Installed{operator("a", `4.9`)}, ReasonIncompatible, "up to 4.9"},
		"all are named, sorted":                        {"4.18.0", []Installed{operator("b", `"4.17"`), operator("ok", `"4.20"`), operator("a", `"4.18"`)}, ReasonIncompatible, "first: a works on OpenShift up to 4.18; b works on OpenShift up to 4.17"},
		"the lowest of several counts":                 {"4.18.0", []Installed{{Name: "a", Properties: `[{"type":"olm.maxOpenShiftVersion","value":"4.20"},{"type":"olm.maxOpenShiftVersion","value":"4.18"}]`}}, ReasonIncompatible, "up to 4.18"},
		"what cannot be read is not upgradeable":       {"4.18.0", []Installed{operator("a", `"soon"`), operator("b", `"4.18"`)}, ReasonUnknown, `a: its property olm.maxOpenShiftVersion: "soon" is not a version`},
		"nor a value of another type":                  {"4.18.0", []Installed{operator("a", `{"v":1}`)}, ReasonUnknown, "neither a text nor a number"},
		"nor properties that are no list":              {"4.18.0", []Installed{{Name: "a", Properties: `{`}}, ReasonUnknown, "a: its annotation olm.properties is no JSON list"},
		"nor a version that is too long":               {"4.18.0", []Installed{operator("a", `"4.`+strings.Repeat("1", 300)+`"`)}, ReasonUnknown, "302 bytes"},
		"nor the version of a cluster that is unknown": {"", nil, ReasonUnknown, "the version of the cluster cannot be read"},
		"the last of 4 is the first of 5":              {"4.23.1", []Installed{operator("a", `"5.0"`)}, ReasonIncompatible, "not known to work on OpenShift 5.1; upgrade or remove them first: a works on OpenShift up to 5.0 (which is 4.23)"},
		"and the other way round":                      {"5.0.3", []Installed{operator("a", `"4.23"`)}, ReasonIncompatible, "OpenShift 5.1; upgrade or remove them first: a works on OpenShift up to 4.23 (which is 5.0)"},
		"both allow what follows 4.22":                 {"4.22.0", []Installed{operator("a", `"4.23"`), operator("b", `5.0`)}, ReasonCompatible, "no installed operator excludes OpenShift 5.0 (which is 4.23)"},
		"what follows 4.22 has two names":              {"4.22.0", []Installed{operator("a", `"4.22"`)}, ReasonIncompatible, "OpenShift 5.0 (which is 4.23); upgrade or remove them first: a works on OpenShift up to 4.22"},
		"the first that is 5 alone":                    {"4.23.0-rc.1", []Installed{operator("a", `"5.1"`)}, ReasonCompatible, "no installed operator excludes OpenShift 5.1"},
		"a version that never comes":                   {"4.23.0", []Installed{operator("a", `"4.24"`)}, ReasonIncompatible, "a works on OpenShift up to 4.24 (4.23, which is 5.0, is the last of OpenShift 4)"},
		"on from there":                                {"5.1.9", []Installed{operator("a", `"5.1"`), operator("b", `"5.2"`)}, ReasonIncompatible, "OpenShift 5.2; upgrade or remove them first: a works on OpenShift up to 5.1"},
		"another major version":                        {"5.0.0", []Installed{operator("a", `"4.99"`)}, ReasonIncompatible, "OpenShift 5.1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Upgradeable(test.version, test.installed)
			if got.Reason != test.reason || got.Upgradeable != (test.reason == ReasonCompatible) || !strings.Contains(got.Message, test.message) {
				t.Errorf("the verdict is %+v; want %s with %q", got, test.reason, test.message)
			}
		})
	}
}

func TestAMessageIsBounded(t *testing.T) {
	var all []Installed
	for i := range 2000 {
		all = append(all, Installed{Name: fmt.Sprintf("operator-%04d", i), Properties: maxProperty(`"4.1"`)})
	}
	got := Upgradeable("4.18.0", all)
	if len(got.Message) > 8<<10 || !strings.Contains(got.Message, "and 1950 more") {
		t.Errorf("%d bytes: %.200s", len(got.Message), got.Message)
	}
}

func TestCheck(t *testing.T) {
	operators := []Operator{
		{Installed: Installed{Name: "b", Properties: maxProperty(`"4.12"`)}, MinKubeVersion: "1.20.0", Uses: []Use{
			{"policy/v1beta1", "PodDisruptionBudget", "PodDisruptionBudget manager"}, {"policy/v1", "PodDisruptionBudget", "PodDisruptionBudget other"},
			{"policy/v1beta1", "PodDisruptionBudget", "PodDisruptionBudget manager"}, {"example.com/v1beta1", "PodDisruptionBudget", "x"}}},
		{Installed: Installed{Name: "a"}, MinKubeVersion: "1.30.5"},
	}
	findings := func(version string, operators ...Operator) []string {
		report := must.Value(Check(version, operators))(t)
		var lines []string
		for _, f := range report.Findings {
			lines = append(lines, f.Operator+" "+f.Rule+" "+f.Message)
		}
		return lines
	}
	const pdb = "b RemovedAPI PodDisruptionBudget manager uses policy/v1beta1 PodDisruptionBudget, which Kubernetes serves no more since 1.25"
	const newer = "a MinKubeVersion it needs Kubernetes 1.30.5 or later"
	for version, want := range map[string][]string{
		"1.24":        {newer},
		"v1.25.0":     {newer, pdb},
		"1.30.4":      {newer, "b MaxOpenShiftVersion its author knows it to work on OpenShift up to 4.12, and Kubernetes 1.30 is that of OpenShift 4.17", pdb},
		"1.30.5-rc.1": {"b MaxOpenShiftVersion its author knows it to work on OpenShift up to 4.12, and Kubernetes 1.30 is that of OpenShift 4.17", pdb},
		"1.19":        {newer, "b MinKubeVersion it needs Kubernetes 1.20.0 or later"},
	} {
		must.Equal(t, "findings for "+version, findings(version, operators...), want)
	}
	broken := Operator{Installed: Installed{Name: "c", Properties: "x"}, MinKubeVersion: "y", Unreadable: []string{"Secret z is gone"}}
	if got := findings("1.30", broken); len(got) != 3 || !strings.Contains(strings.Join(got, "\n"), "Secret z is gone") {
		t.Errorf("findings of what cannot be read: %q", got)
	}
	last := func(version string) Operator {
		return Operator{Installed: Installed{Name: "d", Properties: maxProperty(version)}}
	}
	const maximum = "d MaxOpenShiftVersion its author knows it to work on OpenShift up to "
	for _, test := range []struct{ kubernetes, last, want string }{
		{"1.35", `"4.22"`, ""},
		{"1.36", `"4.22"`, maximum + "4.22, and Kubernetes 1.36 is that of OpenShift 5.0 (which is 4.23)"},
		{"1.36", `"4.23"`, ""},
		{"1.36", `"5.0"`, ""},
		{"1.37", `"5.0"`, maximum + "5.0 (which is 4.23), and Kubernetes 1.37 is that of OpenShift 5.1"},
		{"1.37", `"4.23"`, maximum + "4.23 (which is 5.0), and Kubernetes 1.37 is that of OpenShift 5.1"},
		{"1.37", `"5.1"`, ""},
	} {
		must.Equal(t, "findings for "+test.kubernetes+" and "+test.last, strings.Join(findings(test.kubernetes, last(test.last)), "\n"), test.want)
	}
	if _, err := Check("newest", nil); err == nil {
		t.Error("newest is a version")
	}
}

// TestRemovalsAreThoseOfKubernetes compares the table with what the kinds of Kubernetes say of themselves.
func TestRemovalsAreThoseOfKubernetes(t *testing.T) {
	compared := 0
	for kind := range scheme.Scheme.AllKnownTypes() {
		object := must.Value(scheme.Scheme.New(kind))(t)
		lifecycle, ok := object.(interface{ APILifecycleRemoved() (int, int) })
		if !ok || strings.HasSuffix(kind.Kind, "List") || strings.Contains(kind.Version, "alpha") || strings.Contains(kind.Kind, "Review") {
			continue
		}
		switch kind.Kind {
		case "Scale", "DeploymentRollback", "Eviction":
			continue // requests, and no objects that anybody keeps
		}
		_, minor := lifecycle.APILifecycleRemoved()
		must.Equal(t, "removal of "+kind.String(), removedIn[api{kind.GroupVersion().String(), kind.Kind}], uint64(minor))
		compared++
	}
	if compared < 50 {
		t.Errorf("only %d kinds could be compared", compared)
	}
}

func FuzzMaxOpenShift(f *testing.F) {
	f.Add(maxProperty(`"4.18"`))
	f.Add(maxProperty(`4.10`))
	f.Add(`[{"type":"olm.maxOpenShiftVersion"}]`)
	f.Fuzz(func(t *testing.T, properties string) {
		last, err := MaxOpenShift(properties)
		verdict := Upgradeable("4.18.0", []Installed{{"a", properties}})
		if (err != nil) != (verdict.Reason == ReasonUnknown) {
			t.Errorf("%v and %+v", err, verdict)
		}
		if err == nil && verdict.Upgradeable != (last == nil || last.Compare(Release{Minor{4, 19}}) >= 0) {
			t.Errorf("%v and %+v", last, verdict)
		}
	})
}
