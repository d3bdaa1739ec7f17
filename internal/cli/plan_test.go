package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"
)

const planList = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: mine}, spec: 7}
- apiVersion: operators.coreos.com/v1alpha1
  kind: InstallPlan
  metadata: {name: other, namespace: ops}
- apiVersion: operators.coreos.com/v1alpha1
  kind: InstallPlan
  metadata: {name: mine, namespace: ops}
  spec: {approval: Automatic, approved: true, clusterServiceVersionNames: [a.v1]}
  status: {phase: Complete, catalogSources: [c], plan: [{resolving: a.v1, status: Created, resource: {kind: Service, name: web, version: v1}}]}
`

func TestPlanShow(t *testing.T) {
	tests := map[string]struct {
		args []string
		in   string
		code int
		out  string
		errs string
	}{
		"of a list":          {[]string{"mine", "-f", "-"}, planList, 0, "InstallPlan ops/mine Complete", ""},
		"one that is not":    {[]string{"lost", "-f", "-"}, planList, command.ExitFailed, "", "read InstallPlan lost: - has none of that name"},
		"of no YAML":         {[]string{"mine", "-f", "-"}, "a: [", command.ExitFailed, "", "read InstallPlan mine"},
		"of no file":         {[]string{"mine", "-f", "nowhere.yaml"}, "", command.ExitFailed, "", "nowhere.yaml"},
		"without a name":     {nil, "", command.ExitUsage, "", "fairlead plan show --help"},
		"in an odd format":   {[]string{"mine", "-f", "-", "-o", "xml"}, planList, command.ExitUsage, "", "choose text, json or yaml"},
		"of many documents":  {[]string{"mine", "-f", "-"}, "---\nkind: X\n---" + planList, 0, "✓ Service web Created", ""},
		"with nothing in it": {[]string{"mine", "-f", "-"}, "", command.ExitFailed, "", "has none of that name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Run(t.Context(), append([]string{"plan", "show"}, tc.args...), strings.NewReader(tc.in), &out, &errs)
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			contains(t, out.String(), tc.out)
			contains(t, errs.String(), tc.errs)
		})
	}
}

func TestPlanShowAsJSON(t *testing.T) {
	var out, errs bytes.Buffer
	Run(t.Context(), []string{"plan", "show", "mine", "-f", "-", "-o", "json"}, strings.NewReader(planList), &out, &errs)
	var view preview.PlanView
	if err := json.Unmarshal(out.Bytes(), &view); err != nil || view.Name != "mine" || len(view.Operators) != 1 || view.Operators[0].Steps[0].Status != "Created" {
		t.Errorf("%s %v %s", out.String(), err, errs.String())
	}
}

// TestPlanUsage: exit code 2 of `fairlead plan` says that something would change, so wrong usage is 1 there, and nowhere below.
func TestPlanUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		code int
	}{
		"no name":            {nil, command.ExitFailed},
		"two names":          {[]string{"a", "b"}, command.ExitFailed},
		"an unknown flag":    {[]string{"a", "--nothing"}, command.ExitFailed},
		"an odd format":      {[]string{"a", "-o", "xml"}, command.ExitFailed},
		"an odd catalog":     {[]string{"a", "--catalog", "x"}, command.ExitFailed},
		"a flag of show":     {[]string{"show", "a", "--nothing"}, command.ExitUsage},
		"show without names": {[]string{"show"}, command.ExitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := Run(t.Context(), append([]string{"plan"}, test.args...), nil, &out, &errs); code != test.code || out.Len() > 0 || errs.Len() == 0 {
				t.Errorf("exit code %d, want %d; output %q, errors %q", code, test.code, out.String(), errs.String())
			}
			if name == "no name" {
				contains(t, errs.String(), "name a ClusterExtension, or a file that has one with -f")
			}
		})
	}
}
