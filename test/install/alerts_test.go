package install

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// alert is a rule, as far as it is looked at here.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// alerts are those of the PrometheusRule among objects.
func alerts(t *testing.T, objects []*unstructured.Unstructured) []alert {
	t.Helper()
	var rule struct {
		Spec struct{ Groups []struct{ Rules []alert } }
	}
	content := byName(t, objects)["PrometheusRule olm/olm-alert-rules"]
	must.NoError(t, json.Unmarshal(must.Value(json.Marshal(content))(t), &rule))
	var all []alert
	for _, g := range rule.Spec.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no alerts")
	}
	return all
}

// TestAlertsAreThoseOfTheAPI: names and times are known to those who route alerts.
func TestAlertsAreThoseOfTheAPI(t *testing.T) {
	got := map[string]string{}
	for _, a := range alerts(t, kustomized(t, filepath.Join(config, "monitoring"))) {
		got[a.Alert] = a.For + " " + a.Labels["severity"]
		page, err := os.ReadFile(filepath.Join("..", "..", "docs", "runbooks", path.Base(a.Annotations["runbook_url"])))
		if err != nil || !strings.HasPrefix(string(page), "# "+a.Alert+"\n") || !strings.Contains(string(page), a.Expr) {
			t.Errorf("the page on %s, which has its name and its expression: %v", a.Alert, err)
		}
	}
	want := map[string]string{"CsvAbnormalFailedOver2Min": "2m warning", "CsvAbnormalOver30Min": "30m warning", "InstallPlanStepAppliedWithWarnings": " warning",
		"ClusterExtensionNotInstalledOver15Min": "15m warning", "ClusterExtensionUnavailableOver15Min": "15m warning", "ClusterExtensionStuckOver30Min": "30m warning",
		"ClusterObjectSetUnavailableOver30Min": "30m warning", "ClusterCatalogNotServingOver15Min": "15m warning", "CatalogPollsFailing": " warning",
		"AdmissionPolicyMissing": "5m critical", "ImagesRefusedBySignaturePolicy": " warning"}
	must.Equal(t, "result", got, want)
}

// update writes what the manager's metrics are into the files of test/alerts.
var update = flag.Bool("update", false, "write the metrics that the alert rules are tried with")

// TestMetricsOfAlertStates: test/alerts tries the rules with the metrics that the manager has, one file for each state of an operator.
func TestMetricsOfAlertStates(t *testing.T) {
	phases := map[string]v1alpha1.ClusterServiceVersionPhase{
		"failed": v1alpha1.CSVPhaseFailed, "failed-otherwise": v1alpha1.CSVPhaseFailed, "pending": v1alpha1.CSVPhasePending, "replacing": v1alpha1.CSVPhaseReplacing,
		"deleting": v1alpha1.CSVPhaseDeleting, "unknown": v1alpha1.CSVPhaseUnknown, "installing": v1alpha1.CSVPhaseInstalling,
		"succeeded": v1alpha1.CSVPhaseSucceeded, "warned": v1alpha1.CSVPhaseSucceeded, "removed": "",
	}
	for state, phase := range phases {
		registry := prometheus.NewRegistry()
		csvs, plans := metrics.NewClusterServiceVersions(), metrics.NewInstallPlans()
		registry.MustRegister(csvs, plans)
		csvs.Seen("n", "o.v1", metrics.CSVState{Version: "1.0.0", Phase: string(phase), Reason: "Reason-" + state, Succeeded: phase == v1alpha1.CSVPhaseSucceeded})
		if state == "warned" {
			plans.Warned()
		}
		if state == "removed" {
			csvs.Gone("n", "o.v1")
		}
		kept(t, state, registry)
	}
}

// TestMetricsOfSecurityStates: the same for admission policies and signatures.
func TestMetricsOfSecurityStates(t *testing.T) {
	for state, change := range map[string]func(missing *prometheus.GaugeVec, verified *prometheus.CounterVec){
		"secure":         func(*prometheus.GaugeVec, *prometheus.CounterVec) {},
		"policy-missing": func(missing *prometheus.GaugeVec, _ *prometheus.CounterVec) { missing.WithLabelValues("p").Set(1) },
		"image-refused": func(_ *prometheus.GaugeVec, verified *prometheus.CounterVec) {
			verified.WithLabelValues(metrics.Unverified).Inc()
		},
		"image-undecided": func(_ *prometheus.GaugeVec, verified *prometheus.CounterVec) {
			verified.WithLabelValues(metrics.Undecided).Inc()
		},
	} {
		registry := prometheus.NewRegistry()
		missing, verified := metrics.NewMissingPolicies(), metrics.NewVerifications()
		registry.MustRegister(missing, verified)
		change(missing, verified)
		kept(t, state, registry)
	}
}

// kept compares what a registry has with the file of a state.
func kept(t *testing.T, state string, registry prometheus.Gatherer) {
	t.Helper()
	families := must.Value(registry.Gather())(t)
	var text bytes.Buffer
	for _, f := range families {
		must.Value(expfmt.MetricFamilyToText(&text, f))(t)
	}
	file := filepath.Join("..", "alerts", "testdata", state+".prom")
	if *update {
		must.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), text.String()); err != nil || diff != "" {
		t.Errorf("%s is not what the manager says (-update writes it; %v):\n%s", file, err, diff)
	}
}
