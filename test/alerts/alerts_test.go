package alerts

import (
	"bytes"
	"log/slog"
	"maps"
	"math"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/teststorage"
	"go.yaml.in/yaml/v2"

	"fairlead.dev/fairlead/test/must"
)

// interval is how often metrics are read, as the ServiceMonitor says, and rules evaluated.
const interval = 30 * time.Second

// alertRules reads the rules that are shipped.
func alertRules(t *testing.T) []*rules.AlertingRule {
	t.Helper()
	text := must.Value(os.ReadFile(filepath.Join("..", "..", "config", "monitoring", "monitoring.yaml")))(t)
	var all []*rules.AlertingRule
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var object struct {
			Kind string
			Spec struct {
				Groups []struct {
					Rules []struct {
						Alert, Expr         string
						For                 model.Duration
						Labels, Annotations map[string]string
					}
				}
			}
		}
		must.NoError(t, yaml.Unmarshal(document, &object))
		if object.Kind != "PrometheusRule" {
			continue
		}
		for _, g := range object.Spec.Groups {
			for _, r := range g.Rules {
				expression, err := parser.ParseExpr(r.Expr)
				must.NoErrorf(t, err, "%s", r.Alert)
				all = append(all, rules.NewAlertingRule(r.Alert, expression, time.Duration(r.For), 0, labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler)))
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("there are no rules")
	}
	return all
}

// metricsOf are the series of a state, with the labels that Prometheus adds of the pod: honorLabels keeps those that a metric has itself.
func metricsOf(t *testing.T, state string) map[string]series {
	t.Helper()
	out := map[string]series{}
	if state == away {
		return out
	}
	text := must.Value(os.ReadFile(filepath.Join("testdata", state+".prom")))(t)
	read := expfmt.NewTextParser(model.UTF8Validation)
	families, err := read.TextToMetricFamilies(bytes.NewReader(text))
	must.NoErrorf(t, err, "%s", state)
	for name, family := range families {
		for _, m := range family.GetMetric() {
			set := map[string]string{"__name__": name, "namespace": "olm", "job": "fairlead-manager"}
			for _, l := range m.GetLabel() {
				set[l.GetName()] = l.GetValue()
			}
			s := series{labels.FromMap(set), m.GetGauge().GetValue() + m.GetCounter().GetValue()}
			out[s.labels.String()] = s
		}
	}
	return out
}

type series struct {
	labels labels.Labels
	value  float64
}

// away is that the manager does not run, so that nothing is read.
const away = "away"

// span is that a state lasts for a while.
type span struct {
	state string
	lasts time.Duration
}

// play lets time pass, and returns from when until when each alert fired, since the beginning.
func play(t *testing.T, spans []span) map[string][2]time.Duration {
	t.Helper()
	store := teststorage.New(t)
	defer store.Close()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	query := rules.EngineQueryFunc(engine, store)
	all := alertRules(t)
	fired := map[string][2]time.Duration{}
	began, passed := time.Unix(1_900_000_000, 0), time.Duration(0)
	before := map[string]series{}
	for _, s := range spans {
		now := metricsOf(t, s.state)
		for end := passed + s.lasts; passed < end; passed += interval {
			at := began.Add(passed)
			appender := store.Appender(t.Context())
			put := func(one series, v float64) {
				must.Value(appender.Append(0, one.labels, at.UnixMilli(), v))(t)
			}
			for _, one := range now {
				put(one, one.value)
			}
			for key, one := range before {
				if _, there := now[key]; !there { // what is no longer read is marked so
					put(one, math.Float64frombits(value.StaleNaN))
				}
			}
			must.NoError(t, appender.Commit())
			before = maps.Clone(now)
			for _, rule := range all {
				if _, err := rule.Eval(t.Context(), 0, at, query, nil, 0); err != nil {
					t.Fatalf("%s after %s: %v", rule.Name(), passed, err)
				}
				if slices.ContainsFunc(rule.ActiveAlerts(), func(a *rules.Alert) bool { return a.State == rules.StateFiring }) {
					first, again := fired[rule.Name()]
					if !again {
						first[0] = passed
					}
					fired[rule.Name()] = [2]time.Duration{first[0], passed}
				}
			}
		}
	}
	return fired
}

// TestAlerts in both directions: when an operator is in trouble for as long as the alert says, and when it is not.
func TestAlerts(t *testing.T) {
	const failed, stuck, warned = "CsvAbnormalFailedOver2Min", "CsvAbnormalOver30Min", "InstallPlanStepAppliedWithWarnings"
	minutes := func(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }
	tests := map[string]struct {
		spans []span
		want  map[string][2]time.Duration // from, until
	}{
		"all is well":           {[]span{{"succeeded", time.Hour}}, nil},
		"nothing is read":       {[]span{{away, time.Hour}}, nil},
		"an installation":       {[]span{{"pending", minutes(2)}, {"installing", minutes(3)}, {"succeeded", time.Hour}}, nil},
		"installing for long":   {[]span{{"installing", time.Hour}}, nil},
		"failed, and mended":    {[]span{{"succeeded", minutes(5)}, {"failed", minutes(10)}, {"succeeded", minutes(10)}}, map[string][2]time.Duration{failed: {minutes(7), minutes(14.5)}}},
		"failed for a moment":   {[]span{{"succeeded", minutes(5)}, {"failed", minutes(1)}, {"succeeded", minutes(10)}}, nil},
		"failed, then it waits": {[]span{{"failed", minutes(1)}, {"pending", minutes(20)}, {"succeeded", minutes(10)}}, nil},
		"failed now and then":   {slices.Repeat([]span{{"failed", minutes(1)}, {"succeeded", minutes(1)}}, 10), nil},
		"failed for another reason": {[]span{{"failed", minutes(1.5)}, {"failed-otherwise", minutes(5)}},
			map[string][2]time.Duration{failed: {minutes(2), minutes(6)}}},
		"failed while the manager starts again": {[]span{{"failed", minutes(1)}, {away, minutes(1)}, {"failed", minutes(3)}}, map[string][2]time.Duration{failed: {minutes(2), minutes(4.5)}}},
		"failed, and removed":                   {[]span{{"failed", minutes(5)}, {"removed", minutes(10)}}, map[string][2]time.Duration{failed: {minutes(2), minutes(9)}}},
		"pending":                               {[]span{{"pending", minutes(40)}, {"succeeded", minutes(10)}}, map[string][2]time.Duration{stuck: {minutes(30), minutes(39.5)}}},
		"pending for less":                      {[]span{{"pending", minutes(29)}, {"succeeded", minutes(10)}}, nil},
		"replacing":                             {[]span{{"replacing", minutes(31)}, {"succeeded", minutes(10)}}, map[string][2]time.Duration{stuck: {minutes(30), minutes(30.5)}}},
		"deleting":                              {[]span{{"deleting", minutes(31)}, {"removed", minutes(1)}}, map[string][2]time.Duration{stuck: {minutes(30), minutes(31.5)}}},
		"unknown":                               {[]span{{"unknown", minutes(31)}}, map[string][2]time.Duration{stuck: {minutes(30), minutes(30.5)}}},
		"pending, and failed":                   {[]span{{"pending", minutes(20)}, {"failed", minutes(20)}}, map[string][2]time.Duration{failed: {minutes(22), minutes(39.5)}}},
		"the API server warned":                 {[]span{{"succeeded", minutes(5)}, {"warned", minutes(20)}}, map[string][2]time.Duration{warned: {minutes(5), minutes(9)}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := play(t, test.spans)
			if !maps.Equal(got, test.want) {
				t.Errorf("fired: %v\nwant:  %v", got, test.want)
			}
		})
	}
}

// TestAlertsV1: the same for ClusterExtensions with their revisions, and for ClusterCatalogs.
func TestAlertsV1(t *testing.T) {
	const absent, down, stuck, sets, silent = "ClusterExtensionNotInstalledOver15Min", "ClusterExtensionUnavailableOver15Min", "ClusterExtensionStuckOver30Min",
		"ClusterObjectSetUnavailableOver30Min", "ClusterCatalogNotServingOver15Min"
	minutes := func(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }
	during := func(from, until float64) [2]time.Duration { return [2]time.Duration{minutes(from), minutes(until)} }
	type fires = map[string][2]time.Duration
	extension := func(state string, n float64) span { return span{"extension-" + state, minutes(n)} }
	catalog := func(state string, n float64) span { return span{"catalog-" + state, minutes(n)} }
	for name, test := range map[string]struct {
		spans []span
		want  fires
	}{
		"all is well":                           {[]span{extension("installed", 40)}, nil},
		"an installation":                       {[]span{extension("unresolved", 2), extension("installing", 12), extension("installed", 40)}, nil},
		"an installation that takes long":       {[]span{extension("installing", 20), extension("installed", 40)}, fires{absent: during(15, 19.5)}},
		"one that does not end":                 {[]span{extension("installing", 40), extension("installed", 40)}, fires{absent: during(15, 39.5), sets: during(30, 39.5)}},
		"no bundle that fits":                   {[]span{extension("unresolved", 40), extension("removed", 10)}, fires{absent: during(15, 44)}},
		"first one cause, then another":         {[]span{extension("unresolved", 10), extension("installing", 10), extension("installed", 40)}, fires{absent: during(15, 19.5)}},
		"what is installed cannot be read":      {[]span{extension("installed", 5), extension("unread", 20), extension("installed", 10)}, fires{absent: during(20, 24.5)}},
		"not installed while it starts again":   {[]span{extension("unresolved", 10), {away, minutes(2)}, extension("unresolved", 10), extension("installed", 10)}, fires{absent: during(15, 21.5)}},
		"an upgrade":                            {[]span{extension("installed", 5), extension("upgrading", 20), extension("installed", 40)}, nil},
		"one upgrade after the other":           {slices.Repeat([]span{extension("upgrading", 20), extension("installed", 1)}, 3), nil},
		"an upgrade that does not end":          {[]span{extension("installed", 5), extension("upgrading", 40), extension("installed", 10)}, fires{stuck: during(35, 44.5), sets: during(35, 44.5)}},
		"blocked until somebody agrees":         {[]span{extension("blocked", 45), extension("installed", 10)}, fires{stuck: during(30, 44.5)}},
		"blocked for less":                      {[]span{extension("blocked", 29), extension("installed", 10)}, nil},
		"stuck for this and for that":           {slices.Repeat([]span{extension("retrying", 1), extension("upgrading", 1)}, 20), fires{stuck: during(30, 39.5)}},
		"stuck while the manager starts again":  {[]span{extension("retrying", 20), {away, minutes(2)}, extension("retrying", 20)}, fires{stuck: during(30, 41.5)}},
		"stuck, and removed":                    {[]span{extension("blocked", 35), extension("removed", 20)}, fires{stuck: during(30, 39)}},
		"an operator that does not run":         {[]span{extension("installed", 5), extension("down", 20), extension("installed", 10)}, fires{down: during(20, 24.5)}},
		"one that does not run for long":        {[]span{extension("down", 40), extension("installed", 10)}, fires{down: during(15, 39.5), sets: during(30, 39.5)}},
		"one that starts again now and then":    {slices.Repeat([]span{extension("down", 3), extension("installed", 3)}, 10), nil},
		"a catalog":                             {[]span{catalog("not-serving", 5), catalog("serving", 30)}, nil},
		"a catalog that cannot be read":         {[]span{catalog("not-serving", 20), catalog("serving", 10)}, fires{silent: during(15, 19.5)}},
		"one that serves no more":               {[]span{catalog("serving", 5), catalog("not-serving", 20), catalog("serving", 10)}, fires{silent: during(20, 24.5)}},
		"one that serves what it had":           {[]span{catalog("serving", 5), catalog("stale", 30)}, nil},
		"one that is switched off":              {[]span{catalog("serving", 5), catalog("off", 30)}, nil},
		"one that is switched off in trouble":   {[]span{catalog("not-serving", 12), catalog("off", 30)}, nil},
		"one that is removed":                   {[]span{catalog("not-serving", 20), catalog("removed", 10)}, fires{silent: during(15, 24)}},
		"a catalog while the manager is busy":   {[]span{catalog("not-serving", 10), {away, minutes(2)}, catalog("not-serving", 10)}, fires{silent: during(15, 21.5)}},
		"the manager is gone with all it knows": {[]span{extension("installed", 10), {away, minutes(60)}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := play(t, test.spans); !maps.Equal(got, test.want) {
				t.Errorf("fired: %v\nwant:  %v", got, test.want)
			}
		})
	}
}

// TestAlertOnPolls: for a catalog of either API whose registry is not asked with success for more than three times its interval and a quarter of an hour.
func TestAlertOnPolls(t *testing.T) {
	const failing = "CatalogPollsFailing"
	minutes := func(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }
	// The interval is ten minutes, and the last poll when time begins to pass.
	for name, test := range map[string]struct {
		spans []span
		want  map[string][2]time.Duration
	}{
		"a CatalogSource, for a while":      {[]span{{"polled-v0", minutes(45)}}, nil},
		"a CatalogSource, for long":         {[]span{{"polled-v0", minutes(60)}, {"polled-again", minutes(20)}}, map[string][2]time.Duration{failing: {minutes(45.5), minutes(59.5)}}},
		"a ClusterCatalog, for a while":     {[]span{{"polled-v1", minutes(45)}}, nil},
		"a ClusterCatalog, for long":        {[]span{{"polled-v1", minutes(60)}, {"polled-again", minutes(20)}}, map[string][2]time.Duration{failing: {minutes(45.5), minutes(59.5)}}},
		"one that is not polled any more":   {[]span{{"polled-v0", minutes(50)}, {"secure", minutes(20)}}, map[string][2]time.Duration{failing: {minutes(45.5), minutes(49.5)}}},
		"while the manager is not there":    {[]span{{"polled-v0", minutes(40)}, {away, minutes(60)}}, nil},
		"one with an interval of two hours": {[]span{{"polled-seldom", minutes(300)}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := play(t, test.spans); !maps.Equal(got, test.want) {
				t.Errorf("fired: %v\nwant:  %v", got, test.want)
			}
		})
	}
}

// TestSecurityAlerts: for admission policies that are not in force, and images that the signature policy refuses.
func TestSecurityAlerts(t *testing.T) {
	const missing, refused = "AdmissionPolicyMissing", "ImagesRefusedBySignaturePolicy"
	minutes := func(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }
	for name, test := range map[string]struct {
		spans []span
		want  map[string][2]time.Duration
	}{
		"all is well":               {[]span{{"secure", time.Hour}}, nil},
		"a policy is missing":       {[]span{{"secure", minutes(5)}, {"policy-missing", minutes(10)}, {"secure", minutes(10)}}, map[string][2]time.Duration{missing: {minutes(10), minutes(14.5)}}},
		"a policy is replaced":      {[]span{{"secure", minutes(5)}, {"policy-missing", minutes(2)}, {"secure", minutes(10)}}, nil},
		"an image is refused":       {[]span{{"secure", minutes(5)}, {"image-refused", minutes(60)}}, map[string][2]time.Duration{refused: {minutes(5), minutes(34)}}},
		"a registry does not reply": {[]span{{"secure", minutes(5)}, {"image-undecided", minutes(60)}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := play(t, test.spans); !maps.Equal(got, test.want) {
				t.Errorf("fired: %v\nwant:  %v", got, test.want)
			}
		})
	}
}

// TestEveryAlertHasItsPage, at an address that Alertmanager and Grafana link.
func TestEveryAlertHasItsPage(t *testing.T) {
	for _, rule := range alertRules(t) {
		address, err := url.Parse(rule.Annotations().Get("runbook_url"))
		if err != nil || address.Scheme != "https" || address.Host == "" || path.Base(path.Dir(address.Path)) != "runbooks" {
			t.Errorf("the annotation runbook_url of %s is not the address of a page that a browser opens: %q, %v", rule.Name(), rule.Annotations().Get("runbook_url"), err)
			continue
		}
		page, err := os.ReadFile(filepath.Join("..", "..", "docs", "runbooks", path.Base(address.Path)))
		if err != nil || !strings.HasPrefix(string(page), "# "+rule.Name()+"\n") {
			t.Errorf("the page on %s: %v", rule.Name(), err)
		}
	}
}
