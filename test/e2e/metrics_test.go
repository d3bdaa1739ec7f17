package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"fairlead.dev/fairlead/test/must"
)

// documentedMetrics are those of both APIs: name, type and labels.
var documentedMetrics = []string{
	"catalog_source_count GAUGE",
	"catalog_source_snapshots_total COUNTER name,namespace",
	"catalogsource_ready GAUGE name,namespace",
	"fairlead_admission_policy_missing GAUGE policy",
	"fairlead_catalogsource_last_poll_timestamp_seconds GAUGE name,namespace",
	"fairlead_catalogsource_poll_interval_seconds GAUGE name,namespace",
	"fairlead_clusterextensions_held_up GAUGE reason",
	"fairlead_clusterobjectset_rollout_duration_seconds HISTOGRAM",
	"fairlead_clusterobjectsets GAUGE state",
	"fairlead_clusterobjectsets_unavailable GAUGE rolled_out",
	"fairlead_installplans_requiring_approval GAUGE",
	"fairlead_installplans_requiring_approval_oldest_timestamp_seconds GAUGE",
	"install_plan_count GAUGE",
	"installplan_warnings_total COUNTER",
	"olm_resolution_duration_seconds SUMMARY outcome; quantiles 0.9,0.95,0.99",
	"subscription_count GAUGE",
	"subscription_sync_total COUNTER approval,channel,installed,name,package",
}

// operatorMetrics are those about ClusterServiceVersions; csv_phase_since_timestamp_seconds is Fairlead's own.
var operatorMetrics = []string{
	"csv_abnormal GAUGE name,namespace,phase,reason,version",
	"csv_count GAUGE",
	"csv_phase_since_timestamp_seconds GAUGE name,namespace,version",
	"csv_succeeded GAUGE name,namespace,version",
	"csv_upgrade_count COUNTER",
}

// undocumented begin the names of metrics that come with the libraries.
var undocumented = []string{"go_", "process_", "controller_runtime_", "workqueue_", "rest_client_", "certwatcher_", "leader_election_", "grpc_", "apiserver_", "authentication_", "authorization_", "aggregator_", "apiextensions_", "hidden_metric", "registered_metric", "disabled_metric", "kubernetes_", "field_validation_"}

// checkMetrics compares a scrape with what is documented.
func checkMetrics(t *testing.T, address string) {
	t.Helper()
	response := must.Value(http.Get("http://" + address + "/metrics"))(t)
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families := must.Value(parser.TextToMetricFamilies(response.Body))(t)
	var got, ofOperators []string
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		var series []string
		for _, m := range f.GetMetric() {
			var labels, quantiles []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName())
			}
			for _, q := range m.GetSummary().GetQuantile() {
				quantiles = append(quantiles, fmt.Sprint(q.GetQuantile()))
			}
			// The name, type and labels of a series.
			kind := f.GetType().String()
			slices.Sort(labels)
			text := strings.TrimSpace(name + " " + kind + " " + strings.Join(labels, ","))
			if len(quantiles) > 0 {
				text += "; quantiles " + strings.Join(quantiles, ",")
			}
			series = append(series, text)
		}
		slices.Sort(series)
		all := strings.Join(slices.Compact(series), " or ") // they all have the same
		switch {
		case slices.ContainsFunc(undocumented, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		case strings.HasPrefix(name, "csv_"):
			ofOperators = append(ofOperators, all)
		default:
			got = append(got, all)
		}
	}
	must.Equal(t, "metrics", got, documentedMetrics)
	for _, wrong := range wrongOperatorMetrics(ofOperators) {
		t.Error(wrong)
	}
}

// wrongOperatorMetrics tells what is wrong with the metrics about ClusterServiceVersions, of which some run and none is in trouble.
func wrongOperatorMetrics(there []string) []string {
	var wrong []string
	for _, found := range there {
		if !slices.Contains(operatorMetrics, found) {
			wrong = append(wrong, fmt.Sprintf("metric %s is none of the documented %q", found, operatorMetrics))
		}
	}
	for _, documented := range operatorMetrics {
		if !slices.Contains(there, documented) && !strings.HasPrefix(documented, "csv_abnormal ") { // only of those that do not run
			wrong = append(wrong, fmt.Sprintf("the documented metric %s is not there: %q", documented, there))
		}
	}
	return wrong
}

func TestAMissingOperatorMetricIsNoticed(t *testing.T) {
	must.Empty(t, "all are there", wrongOperatorMetrics(operatorMetrics))
	for i, missing := range operatorMetrics {
		some := slices.Delete(slices.Clone(operatorMetrics), i, i+1)
		if wrong := wrongOperatorMetrics(some); (len(wrong) == 1) == strings.HasPrefix(missing, "csv_abnormal ") {
			t.Errorf("without %s: %v", missing, wrong)
		}
	}
	if wrong := wrongOperatorMetrics(append(slices.Clone(operatorMetrics), "csv_other GAUGE")); len(wrong) != 1 {
		t.Errorf("with another one: %v", wrong)
	}
}
