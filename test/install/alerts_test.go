package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/metrics"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// alert is a rule, as far as it is looked at here.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var rule struct {
		Spec struct{ Groups []struct{ Rules []alert } }
	}
	content := byName(t, kustomized(t, filepath.Join(config, "monitoring")))["PrometheusRule olm/olm-alert-rules"]
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &rule); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, g := range rule.Spec.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// TestAlertsAreThoseOfTheAPI: names and times are known to those who route alerts.
func TestAlertsAreThoseOfTheAPI(t *testing.T) {
	got := map[string]string{}
	for _, a := range alerts(t) {
		got[a.Alert] = a.For + " " + a.Labels["severity"]
		page, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(a.Annotations["runbook"])))
		if err != nil || !strings.HasPrefix(string(page), "# "+a.Alert+"\n") || !strings.Contains(string(page), a.Expr) {
			t.Errorf("the page on %s, which has its name and its expression: %v", a.Alert, err)
		}
	}
	want := map[string]string{"CsvAbnormalFailedOver2Min": "2m warning", "CsvAbnormalOver30Min": "30m warning", "InstallPlanStepAppliedWithWarnings": " warning"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

var (
	selectorOf = regexp.MustCompile(`([a-z_]+)(?:\{([^}]*)\})?\[\d+m\]`)
	matcherOf  = regexp.MustCompile(`^([a-z_]+)(=~|=)"([^"]*)"$`)
)

// selects tells how many series of what was gathered the selector of an expression takes; a metric or label that there is not is an error.
func selects(t *testing.T, registry *prometheus.Registry, expression string) (n int) {
	t.Helper()
	parts := selectorOf.FindStringSubmatch(expression)
	if parts == nil {
		t.Fatalf("%s: this test does not understand it", expression)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != parts[1] {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			taken := true
			for matcher := range strings.SplitSeq(parts[2], ",") {
				if matcher == "" {
					continue
				}
				is := matcherOf.FindStringSubmatch(matcher)
				if is == nil {
					t.Fatalf("%s: this test does not understand %s", expression, matcher)
				}
				value, there := labels[is[1]]
				if !there {
					t.Errorf("%s has no label %s", parts[1], is[1])
				}
				if is[2] == "=" {
					is[3] = regexp.QuoteMeta(is[3])
				}
				taken = taken && regexp.MustCompile("^(?:"+is[3]+")$").MatchString(value)
			}
			if taken && m.GetGauge().GetValue()+m.GetCounter().GetValue() > 0 {
				n++
			}
		}
	}
	return n
}

// TestAlertsFire for what they are about, and for nothing else, with the metrics that the manager has.
func TestAlertsFire(t *testing.T) {
	tests := map[string]struct {
		phase v1alpha1.ClusterServiceVersionPhase
		warn  bool
		want  []string
	}{
		"failed":     {v1alpha1.CSVPhaseFailed, false, []string{"CsvAbnormalFailedOver2Min"}},
		"pending":    {v1alpha1.CSVPhasePending, false, []string{"CsvAbnormalOver30Min"}},
		"replacing":  {v1alpha1.CSVPhaseReplacing, false, []string{"CsvAbnormalOver30Min"}},
		"deleting":   {v1alpha1.CSVPhaseDeleting, false, []string{"CsvAbnormalOver30Min"}},
		"unknown":    {v1alpha1.CSVPhaseUnknown, false, []string{"CsvAbnormalOver30Min"}},
		"installing": {v1alpha1.CSVPhaseInstalling, false, nil},
		"succeeded":  {v1alpha1.CSVPhaseSucceeded, false, nil},
		"a warning":  {v1alpha1.CSVPhaseSucceeded, true, []string{"InstallPlanStepAppliedWithWarnings"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			csvs, plans := metrics.NewClusterServiceVersions(), metrics.NewInstallPlans()
			registry.MustRegister(csvs, plans)
			csvs.Seen("n", "o.v1", metrics.CSVState{Version: "1.0.0", Phase: string(test.phase), Reason: "R", Succeeded: test.phase == v1alpha1.CSVPhaseSucceeded})
			if test.warn {
				plans.Warned()
			}
			var got []string
			for _, a := range alerts(t) {
				if selects(t, registry, a.Expr) > 0 {
					got = append(got, a.Alert)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPrometheusFindsTheManager: the ServiceMonitor selects the Service of metrics, by a port that this has.
func TestPrometheusFindsTheManager(t *testing.T) {
	all, own := byName(t, kustomized(t, config)), byName(t, kustomized(t, filepath.Join(config, "monitoring")))
	service, monitor := &unstructured.Unstructured{Object: all["Service olm/fairlead-manager-metrics"]}, own["ServiceMonitor olm/fairlead-manager"]
	labels, _, _ := unstructured.NestedStringMap(monitor, "spec", "selector", "matchLabels")
	if len(labels) == 0 {
		t.Error("it selects everything")
	}
	for key, value := range labels {
		if service.GetLabels()[key] != value {
			t.Errorf("the Service has the labels %v, want %s=%s", service.GetLabels(), key, value)
		}
	}
	endpoints, _, _ := unstructured.NestedSlice(monitor, "spec", "endpoints")
	ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports")
	for _, e := range endpoints {
		if e := e.(map[string]any); !slices.ContainsFunc(ports, func(p any) bool { return p.(map[string]any)["name"] == e["port"] }) || e["honorLabels"] != true {
			t.Errorf("endpoint %v, the Service has %v", e, ports)
		}
	}
	if len(endpoints) != 1 {
		t.Errorf("endpoints %v", endpoints)
	}
}
