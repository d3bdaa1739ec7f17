package install

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

// monitoringOfChart is what the chart makes with values of the block monitoring.
func monitoringOfChart(t *testing.T, change map[string]any) []*unstructured.Unstructured {
	t.Helper()
	return chart(t, func(v map[string]any) {
		block := v["monitoring"].(map[string]any)
		block["enabled"] = true
		maps.Copy(block, change)
	})
}

// TestPodsAreFoundByEndpointSlices: Endpoints are deprecated since Kubernetes 1.33, so Prometheus is asked for the other kind, and may read that and no more.
func TestPodsAreFoundByEndpointSlices(t *testing.T) {
	slices, both := []any{"", "pods", "services", "discovery.k8s.io", "endpointslices"}, []any{"", "endpoints", "pods", "services", "discovery.k8s.io", "endpointslices"}
	for name, test := range map[string]struct {
		all    []*unstructured.Unstructured
		role   string
		rights []any
	}{
		"kustomize":                  {kustomized(t, filepath.Join(config, "monitoring")), "EndpointSlice", slices},
		"the chart":                  {monitoringOfChart(t, nil), "EndpointSlice", slices},
		"the chart, with Endpoints":  {monitoringOfChart(t, map[string]any{"serviceDiscoveryRole": "Endpoints"}), "Endpoints", both},
		"the chart, an old operator": {monitoringOfChart(t, map[string]any{"serviceDiscoveryRole": ""}), "", both},
	} {
		objects := byName(t, test.all)
		role, _, _ := unstructured.NestedString(objects["ServiceMonitor olm/fairlead-manager"], "spec", "serviceDiscoveryRole")
		must.Equal(t, name+": how pods are found", role, test.role)
		rules, _, _ := unstructured.NestedSlice(objects["Role olm/fairlead-prometheus"], "rules")
		var rights []any
		for _, r := range rules {
			rule := r.(map[string]any)
			rights = append(append(rights, rule["apiGroups"].([]any)...), rule["resources"].([]any)...)
			must.Equal(t, name+": verbs", rule["verbs"], any([]any{"get", "list", "watch"}))
		}
		must.Equal(t, name+": what Prometheus may read", rights, test.rights)
	}
}

// TestRunbooksElsewhere: a network without the project's site has its own copy of the runbooks, and every alert leads there.
func TestRunbooksElsewhere(t *testing.T) {
	const own = "https://git.example.com/fairlead/blob/main/docs/runbooks"
	for from, all := range map[string][]*unstructured.Unstructured{
		"the chart":               monitoringOfChart(t, map[string]any{"runbookURL": own}),
		"the overlay of the docs": overlayOfDocuments(t),
	} {
		for _, a := range alerts(t, all) {
			must.Equal(t, from+": runbook_url of "+a.Alert, a.Annotations["runbook_url"], own+"/"+a.Alert+".md")
		}
		for name := range byName(t, all) {
			must.Lack(t, from, name, "runbooks")
		}
	}
}

// overlayOfDocuments is what the kustomization in docs/installing.md makes that gives the alerts another address.
func overlayOfDocuments(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	page := must.Value(os.ReadFile(filepath.Join("..", "..", "docs", "installing.md")))(t)
	found := regexp.MustCompile("(?s)```yaml\n(# kustomization.yaml: .*?)```\n\n```yaml\n(# runbooks.yaml: .*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/installing.md has no kustomization.yaml with its runbooks.yaml")
	}
	root := t.TempDir()
	must.NoError(t, os.CopyFS(filepath.Join(root, "fairlead", "config"), os.DirFS(config)))
	must.NoError(t, os.WriteFile(filepath.Join(root, "kustomization.yaml"), found[1], 0o600))
	must.NoError(t, os.WriteFile(filepath.Join(root, "runbooks.yaml"), found[2], 0o600))
	return kustomized(t, root)
}

// copyDashboard writes the dashboard of config/monitoring into the chart.
var copyDashboard = flag.Bool("update-dashboard", false, "write the dashboard of config/monitoring into the chart")

// TestOneDashboard: a chart cannot have files beside it, so the one of config/monitoring is there once more.
func TestOneDashboard(t *testing.T) {
	want := must.Value(os.ReadFile(filepath.Join(config, "monitoring", "dashboard.json")))(t)
	file := filepath.Join(config, "chart", "files", "dashboard.json")
	if *copyDashboard {
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, want, 0o600))
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not config/monitoring/dashboard.json: run go test ./test/install -run TestOneDashboard -update-dashboard, %v", file, err)
	}
}

// TestTheDashboardIsFound by the sidecar of Grafana, whose label and folder can be chosen.
func TestTheDashboardIsFound(t *testing.T) {
	const name = "ConfigMap olm/fairlead-dashboard"
	content := must.Value(os.ReadFile(filepath.Join(config, "monitoring", "dashboard.json")))(t)
	for from, test := range map[string]struct {
		all                 []*unstructured.Unstructured
		labels, annotations map[string]string
	}{
		"kustomize": {kustomized(t, filepath.Join(config, "monitoring")), map[string]string{"grafana_dashboard": "1"}, nil},
		"the chart": {monitoringOfChart(t, nil), map[string]string{"grafana_dashboard": "1"}, nil},
		"the chart, for another sidecar": {monitoringOfChart(t, map[string]any{"dashboard": map[string]any{"enabled": true,
			"labels": map[string]any{"dashboards": "yes"}, "annotations": map[string]any{"k8s-sidecar-target-directory": "Operators"}}}),
			map[string]string{"dashboards": "yes"}, map[string]string{"k8s-sidecar-target-directory": "Operators"}},
	} {
		made := &unstructured.Unstructured{Object: byName(t, test.all)[name]}
		must.Equal(t, from+": labels", made.GetLabels(), test.labels)
		must.Equal(t, from+": annotations", made.GetAnnotations(), test.annotations)
		got, _, _ := unstructured.NestedString(made.Object, "data", "fairlead.json")
		must.Equal(t, from+": the dashboard", strings.TrimSpace(got), strings.TrimSpace(string(content)))
	}
	if len(content) > 200<<10 {
		t.Errorf("the dashboard has %d bytes: kubectl apply without --server-side keeps a second copy of it in an annotation of 256 KiB at most", len(content))
	}
	without := monitoringOfChart(t, map[string]any{"dashboard": map[string]any{"enabled": false, "labels": map[string]any{}, "annotations": map[string]any{}}})
	for from, all := range map[string][]*unstructured.Unstructured{"switched off": without, "without monitoring": chart(t, nil)} {
		if byName(t, all)[name] != nil {
			t.Errorf("%s: there is a %s", from, name)
		}
	}
}

// TestSchemaOfMonitoring: Helm refuses values of the block monitoring that are misspelled or of no use.
func TestSchemaOfMonitoring(t *testing.T) {
	schema := &spec.Schema{}
	must.NoError(t, schema.UnmarshalJSON(must.Value(os.ReadFile(filepath.Join(config, "chart", "values.schema.json")))(t)))
	for name, test := range map[string]struct {
		change map[string]any
		fits   bool
	}{
		"as they are":                  {nil, true},
		"an old Prometheus Operator":   {map[string]any{"serviceDiscoveryRole": ""}, true},
		"a role that is none":          {map[string]any{"serviceDiscoveryRole": "EndpointSlices"}, false},
		"runbooks without a scheme":    {map[string]any{"runbookURL": "docs/runbooks"}, false},
		"runbooks with a slash after":  {map[string]any{"runbookURL": "https://git.example.com/docs/runbooks/"}, false},
		"a label that is no text":      {map[string]any{"dashboard": map[string]any{"labels": map[string]any{"grafana_dashboard": 1}}}, false},
		"a misspelled value":           {map[string]any{"runbookUrl": "https://git.example.com/docs/runbooks"}, false},
		"a misspelled value within it": {map[string]any{"dashboard": map[string]any{"enable": true}}, false},
	} {
		values := map[string]any{}
		must.NoError(t, yaml.Unmarshal(must.Value(os.ReadFile(filepath.Join(config, "chart", "values.yaml")))(t), &values))
		maps.Copy(values["monitoring"].(map[string]any), test.change)
		if err := validate.AgainstSchema(schema, values, strfmt.Default); (err == nil) != test.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}
