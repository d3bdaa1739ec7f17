package install

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// chart renders the chart's templates with its values, changed as given. The templates keep to what text/template and the few functions
// here can do, of which Helm has the same.
func chart(t *testing.T, change func(values map[string]any)) []*unstructured.Unstructured {
	t.Helper()
	values := valuesOf(t, change)
	files, err := filepath.Glob(filepath.Join(config, "chart", "templates", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("templates %q: %v", files, err)
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		all = append(all, harness.Documents(t, file, rendered(t, file, values))...)
	}
	return all
}

// valuesOf are the values of the chart, changed as given.
func valuesOf(t *testing.T, change func(values map[string]any)) map[string]any {
	t.Helper()
	values := map[string]any{}
	data := must.Value(os.ReadFile(filepath.Join(config, "chart", "values.yaml")))(t)
	must.NoError(t, yaml.UnmarshalStrict(data, &values))
	if change != nil {
		change(values)
	}
	return values
}

// rendered is what a template makes of values, as the release fairlead.
func rendered(t *testing.T, file string, values map[string]any) []byte {
	t.Helper()
	functions := template.FuncMap{
		"quote": func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"toYaml": func(v any) (string, error) {
			out, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(out), "\n"), err
		},
		"nindent": func(n int, s string) string {
			pad := strings.Repeat(" ", n)
			return "\n" + pad + strings.ReplaceAll(s, "\n", "\n"+pad)
		},
	}
	text := must.Value(os.ReadFile(file))(t)
	parsed := must.Value(template.New(file).Funcs(functions).Option("missingkey=error").Parse(string(text)))(t)
	var out bytes.Buffer
	must.NoError(t, parsed.Execute(&out, map[string]any{"Values": values, "Release": map[string]any{"Name": "fairlead"}, "Files": chartFiles{t}}))
	return out.Bytes()
}

// chartFiles are the files that templates embed.
type chartFiles struct{ t *testing.T }

// Get returns the content of a file of the chart.
func (f chartFiles) Get(name string) string {
	f.t.Helper()
	return string(must.Value(os.ReadFile(filepath.Join(config, "chart", name)))(f.t))
}

// byName makes objects comparable.
func byName(t *testing.T, all []*unstructured.Unstructured) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, o := range all {
		name := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
		if out[name] != nil {
			t.Errorf("%s is there twice", name)
		}
		out[name] = o.Object
	}
	return out
}

func TestTheChartMakesTheSame(t *testing.T) {
	base := slices.Concat(harness.Kustomized(t, config), harness.Kustomized(t, filepath.Join(config, "defaults")))
	theSame(t, base, chart(t, nil))
	theSame(t, slices.Concat(base, kustomized(t, filepath.Join(config, "monitoring"))), chart(t, func(v map[string]any) {
		v["monitoring"].(map[string]any)["enabled"] = true
	}))
}

func theSame(t *testing.T, wanted, all []*unstructured.Unstructured) {
	t.Helper()
	want := byName(t, wanted)
	for _, o := range all {
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", keep)
		if len(o.GetAnnotations()) == 0 {
			unstructured.RemoveNestedField(o.Object, "metadata", "annotations")
		}
	}
	must.Equal(t, "config and the chart differ", byName(t, all), want)
}

// keep is the annotation of what Helm leaves when it uninstalls.
const keep = "helm.sh/resource-policy"

// TestUninstallingTheChartKeepsOperators: the namespaces that operators are in, and what these rely on, are no part of the manager.
func TestUninstallingTheChartKeepsOperators(t *testing.T) {
	for _, o := range chart(t, nil) {
		want := ""
		switch o.GetKind() {
		case "Namespace", "OLMConfig", "OperatorGroup":
			want = "keep"
		}
		must.Equal(t, fmt.Sprintf("%s of %s %s", keep, o.GetKind(), o.GetName()), o.GetAnnotations()[keep], want)
	}
}

// TestNodesCanBeDrained: whatever the number of replicas, one pod may be evicted, and of several the others stay.
func TestNodesCanBeDrained(t *testing.T) {
	for _, replicas := range []int{1, 2, 3} {
		all := byName(t, chart(t, func(v map[string]any) { v["replicas"] = replicas }))
		budget, _, err := unstructured.NestedMap(all["PodDisruptionBudget olm/fairlead-manager"], "spec")
		if err != nil || budget == nil {
			t.Fatalf("budget %v, %v", budget, err)
		}
		allowed := 0
		if least, ok := budget["minAvailable"].(float64); ok {
			allowed = replicas - int(least)
		}
		if most, ok := budget["maxUnavailable"].(float64); ok {
			allowed = int(most)
		}
		if allowed != 1 && (replicas < 3 || allowed < 1 || allowed >= replicas) {
			t.Errorf("%d of %d replicas may be evicted: %v", allowed, replicas, budget)
		}
	}
}

// TestTemporaryFilesAreBounded: the node is spared what grows without end, and catalogs of registry servers find room.
func TestTemporaryFilesAreBounded(t *testing.T) {
	volumes, _, _ := unstructured.NestedSlice(byName(t, chart(t, nil))["Deployment olm/fairlead-manager"], "spec", "template", "spec", "volumes")
	for _, v := range volumes {
		if v := v.(map[string]any); v["name"] == "tmp" {
			limit, _, _ := unstructured.NestedString(v, "emptyDir", "sizeLimit")
			if q, err := resource.ParseQuantity(limit); err != nil || q.Value() < 6<<30 {
				t.Errorf("the limit is %q, %v; six catalogs of 1 GiB have to fit", limit, err)
			}
			return
		}
	}
	t.Errorf("volumes %v", volumes)
}

func TestValuesOfTheChart(t *testing.T) {
	all := byName(t, chart(t, func(v map[string]any) {
		v["namespace"], v["createNamespaces"], v["defaults"] = "elsewhere", false, false
		v["image"] = map[string]any{"repository": "registry.example.com/manager", "tag": "v1", "digest": "", "pullPolicy": "Always"}
		v["imagePullSecrets"], v["extraArgs"], v["replicas"] = []any{"login"}, []any{"--catalog-pods"}, 3
		v["tolerations"] = []any{map[string]any{"operator": "Exists"}}
		v["nodeSelector"], v["priorityClassName"] = map[string]any{}, ""
	}))
	for name := range all {
		if strings.Contains(name, "olm/") || strings.HasPrefix(name, "Namespace") || strings.HasPrefix(name, "OperatorGroup") {
			t.Errorf("there is a %s", name)
		}
	}
	d := &unstructured.Unstructured{Object: all["Deployment elsewhere/fairlead-manager"]}
	pod, _, _ := unstructured.NestedMap(d.Object, "spec", "template", "spec")
	if pod == nil {
		t.Fatalf("there is no Deployment among %d objects", len(all))
	}
	container := pod["containers"].([]any)[0].(map[string]any)
	if container["image"] != "registry.example.com/manager:v1" || container["imagePullPolicy"] != "Always" || !slices.Contains(container["args"].([]any), any("--catalog-pods")) ||
		!slices.Contains(container["args"].([]any), any("--global-namespace=elsewhere")) {
		t.Errorf("container %v", container)
	}
	if diff := cmp.Diff([]any{map[string]any{"name": "login"}}, pod["imagePullSecrets"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"operator": "Exists"}}, pod["tolerations"]); diff != "" {
		t.Error(diff)
	}
	if pod["nodeSelector"] != nil || pod["priorityClassName"] != nil {
		t.Errorf("pod %v", pod)
	}
}

// TestMetricsOverHTTPS: where a certificate is named, everything that leads to metrics leads to HTTPS.
func TestMetricsOverHTTPS(t *testing.T) {
	all := byName(t, chart(t, func(v map[string]any) {
		v["metricsTLS"] = map[string]any{"secret": "serving", "clientCASecret": "people", "plain": false}
		v["monitoring"].(map[string]any)["enabled"] = true
	}))
	text := func(name string) string {
		out, err := yaml.Marshal(all[name])
		if err != nil || all[name] == nil {
			t.Fatalf("%s: %v", name, err)
		}
		return string(out)
	}
	for name, wanted := range map[string][]string{
		"Deployment olm/fairlead-manager": {"- --metrics-address=:8443\n", "- --tls-cert=/etc/fairlead/tls/tls.crt\n", "- --tls-key=/etc/fairlead/tls/tls.key\n",
			"- --client-ca=/etc/fairlead/clients/ca.crt\n", "containerPort: 8443", "secretName: serving", "secretName: people",
			"mountPath: /etc/fairlead/tls\n", "mountPath: /etc/fairlead/clients\n"},
		"Service olm/fairlead-manager-metrics":    {"port: 8443"},
		"NetworkPolicy olm/fairlead-manager":      {"port: 8443"},
		"ServiceMonitor olm/fairlead-manager":     {"scheme: https", "serverName: fairlead-manager-metrics.olm.svc", "name: serving", "bearerTokenFile"},
		"ClusterRoleBinding /fairlead-prometheus": {"operator-lifecycle-manager-metrics-reader", "prometheus-k8s"},
	} {
		for _, want := range wanted {
			must.Contain(t, name, text(name), want)
		}
		must.Lack(t, name, text(name), "8080")
	}
}

// TestPublishedNames: what clients of the v1 API read and bind is there by its name, and the Services have numbers for ports, which the containers have.
func TestPublishedNames(t *testing.T) {
	for from, all := range map[string]map[string]map[string]any{"config": byName(t, harness.Kustomized(t, config)), "chart": byName(t, chart(t, nil))} {
		for _, name := range []string{"operator-controller-metrics-reader", "catalogd-metrics-reader"} {
			rules, _, _ := unstructured.NestedSlice(all["ClusterRole /"+name], "rules")
			want := []any{map[string]any{"nonResourceURLs": []any{"/metrics"}, "verbs": []any{"get"}}}
			must.Equal(t, fmt.Sprintf("%s: ClusterRole %s", from, name), rules, want)
		}
		containers, _, _ := unstructured.NestedSlice(all["Deployment olm/fairlead-manager"], "spec", "template", "spec", "containers")
		ports := map[string]any{}
		for _, port := range containers[0].(map[string]any)["ports"].([]any) {
			ports[port.(map[string]any)["name"].(string)] = port.(map[string]any)["containerPort"]
		}
		for service, port := range map[string]string{"fairlead-catalogs": "catalogs", "fairlead-manager-metrics": "metrics"} {
			served, _, _ := unstructured.NestedSlice(all["Service olm/"+service], "spec", "ports")
			if len(served) != 1 || ports[port] == nil || served[0].(map[string]any)["targetPort"] != ports[port] {
				t.Errorf("%s: Service %s leads to %v, and port %s of the container is %v", from, service, served, port, ports[port])
			}
		}
	}
}

// TestPlainHTTPIsAsked: only the values say so, and then everything that leads to the servers leads to HTTP.
func TestPlainHTTPIsAsked(t *testing.T) {
	for _, plain := range []bool{false, true} {
		all := chart(t, func(v map[string]any) {
			v["metricsTLS"].(map[string]any)["plain"], v["catalogs"].(map[string]any)["plain"] = plain, plain
			v["monitoring"].(map[string]any)["enabled"] = true
		})
		var text strings.Builder
		for _, o := range all {
			if slices.Contains([]string{"Deployment", "Service", "ServiceMonitor"}, o.GetKind()) {
				out := must.Value(yaml.Marshal(o.Object))(t)
				text.Write(out)
			}
		}
		for part, want := range map[string]bool{"--metrics-plain": plain, "--catalog-http-plain": plain, "port: 80\n": plain, "port: 443\n": !plain, "scheme: https\n": !plain, "bearerTokenFile": !plain} {
			if got := strings.Contains(text.String(), part); got != want {
				t.Errorf("plain %t: %q is there: %t, want %t:\n%s", plain, part, got, want, text.String())
			}
		}
	}
}

// TestTheChartHasTheKinds: Helm makes what is in crds before everything else.
func TestTheChartHasTheKinds(t *testing.T) {
	mine, err := filepath.Glob("../../api/crds/*.yaml")
	if err != nil || len(mine) == 0 {
		t.Fatalf("%q, %v", mine, err)
	}
	for _, file := range mine {
		want := must.Value(os.ReadFile(file))(t)
		got, err := os.ReadFile(filepath.Join(config, "chart", "crds", filepath.Base(file)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s in the chart: %v", filepath.Base(file), err)
		}
	}
}

// TestPoliciesOfTheChart: who may let extensions act as whom can be switched, so can what keeps data, and the manager is known by its namespace.
func TestPoliciesOfTheChart(t *testing.T) {
	policies := func(accounts bool, identity string, noForeground bool) string {
		var out []string
		for _, o := range chart(t, func(v map[string]any) {
			v["namespace"] = "elsewhere"
			v["policies"] = map[string]any{"serviceAccounts": accounts, "managerIdentity": identity, "noForegroundDeletion": noForeground}
		}) {
			if o.GetKind() == "ValidatingAdmissionPolicy" {
				text := must.Value(yaml.Marshal(o.Object))(t)
				out = append(out, string(text))
			}
		}
		return strings.Join(out, "\n")
	}
	count := func(text, part string) int { return strings.Count(text, part) }
	for name, test := range map[string]struct {
		accounts bool
		identity string
		no       bool
		want     map[string]int
	}{
		"as it comes":       {true, "restricted", true, map[string]int{"kind: ValidatingAdmissionPolicy": 8, "impersonate').allowed()": 2, "act-as-manager').allowed()": 4, "system:serviceaccount:elsewhere:fairlead-manager": 7}},
		"never the manager": {true, "nobody", true, map[string]int{"kind: ValidatingAdmissionPolicy": 8, "act-as-manager').allowed()": 0, "expression: variables.account != ''\n": 2, "expression: \"false\"\n": 2}},
		"everybody":         {true, "anyone", false, map[string]int{"kind: ValidatingAdmissionPolicy": 2, "impersonate').allowed()": 2, "act-as-manager": 0}},
		"no policies":       {false, "anyone", false, map[string]int{"kind: ValidatingAdmissionPolicy": 0}},
		"data is kept":      {false, "anyone", true, map[string]int{"kind: ValidatingAdmissionPolicy": 1, "name: fairlead-revision-foreground\n": 1, "fairlead-manager": 0}},
	} {
		text := policies(test.accounts, test.identity, test.no)
		for part, want := range test.want {
			if got := count(text, part); got != want {
				t.Errorf("%s: %q is there %d times, want %d:\n%s", name, part, got, want, text)
			}
		}
	}
}
