package alerts

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/util/teststorage"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// TestQueriesAreAboutRealMetrics: a manager has operators that work and others that do not, by both APIs. Every metric and label of the alerts and of the
// dashboard is among those that it exports then, and every query of the dashboard has an answer.
func TestQueriesAreAboutRealMetrics(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	samples := scrapeOfManager(t)
	known := exportedBy(t, samples)
	for _, rule := range alertRules(t) {
		for _, wrong := range known.unknown(rule.Query().String()) {
			t.Errorf("alert %s: %s", rule.Name(), wrong)
		}
	}
	d, _ := readDashboard(t)
	ask := played(t, samples)
	for _, q := range d.queries(t) {
		for _, wrong := range known.unknown(q.expression) {
			t.Errorf("%s: %s", q.where, wrong)
		}
		if n := ask(q.expression); n == 0 && q.where != "panel ClusterExtensions held up" { // which has those that are, alone
			t.Errorf("%s: %s has no answer, though the manager has seen what it asks for", q.where, q.expression)
		}
	}
	if wrong := known.unknown(`sum by(phases) (csv_abnormals)`); len(wrong) != 2 {
		t.Errorf("of a metric and a label that no manager exports: %q", wrong)
	}
}

// scrapeOfManager is what a manager exports that has seen what the dashboard shows.
func scrapeOfManager(t *testing.T) model.Vector {
	t.Helper()
	address := harness.FreeAddress(t)
	w := harness.World{T: t, Client: harness.Client(t, devcluster.Config()), Namespace: devcluster.Namespace(t)}
	if err := w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manager.DefaultGlobalNamespace}}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	harness.Run(t, manager.Options{Config: devcluster.Config(), Images: image.Config{Verifier: signature.New(signature.Config{})}, LeaderElection: true, LeaderNamespace: manager.DefaultGlobalNamespace, MetricsAddress: address, MetricsPlain: true})
	play0(&w)
	play1(w.In(devcluster.Namespace(t)))
	var samples model.Vector
	w.Eventually("the manager to export what it has seen", func() (err error) {
		if samples, err = scrape(t, address); err != nil {
			return err
		}
		for _, name := range []string{"csv_abnormal", "csv_succeeded", "olm_resolution_duration_seconds_count", "catalog_source_snapshots_total", "fairlead_clusterextension_info", "catalogd_http_request_duration_seconds_count", "leader_election_master_status"} {
			if !slices.ContainsFunc(samples, func(s *model.Sample) bool { return string(s.Metric[model.MetricNameLabel]) == name }) {
				return fmt.Errorf("%s is not there yet", name)
			}
		}
		return nil
	})
	return samples
}

// polled publishes a catalog, and returns the tag under which there may be newer ones.
func polled(w *harness.World) string {
	w.Helper()
	p := bundleio.Publisher{Registry: devcluster.Registry() + "/" + w.Namespace}
	fixture.Samples(w, p, "catalog", fixture.Greeters("1.0.0"))
	return p.Registry + "/catalog:latest"
}

// play0 has an operator of the v0 API that works, one that waits for approval, and one that may not be.
func play0(w *harness.World) {
	w.Helper()
	ref := polled(w)
	w.Make(&operatorsv1.OperatorGroup{ObjectMeta: w.Named("group")}, fixture.Operator(w.Namespace, "works.v1", fixture.Modes("OwnNamespace", "AllNamespaces")),
		&v1alpha1.CatalogSource{ObjectMeta: w.Named("catalog"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref,
			UpdateStrategy: &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: time.Hour}, RawInterval: "1h"}}}},
		&v1alpha1.Subscription{ObjectMeta: w.Named("sub"), Spec: &v1alpha1.SubscriptionSpec{Package: "greeter-operator", CatalogSource: "catalog", CatalogSourceNamespace: w.Namespace,
			InstallPlanApproval: v1alpha1.ApprovalManual}})
	w.Succeeds("works.v1")
	lonely := w.In(devcluster.Namespace(w.T)) // it has no OperatorGroup
	lonely.Make(fixture.Operator(lonely.Namespace, "lonely.v1"))
	lonely.Is("lonely.v1", v1alpha1.CSVPhaseFailed, "")
}

// play1 installs an operator by the v1 API, asks for another one that there is not, and reads the catalog.
func play1(w *harness.World) {
	w.Helper()
	ref := polled(w)
	catalog := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace},
		Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref, PollIntervalMinutes: ptr.To(60)}}}}
	extension := func(name, pkg string) *olmv1.ClusterExtension {
		return &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterExtensionSpec{Namespace: w.Namespace,
			Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg}}}}
	}
	w.Make(catalog, extension("greeter", "greeter-operator"), extension("absent", "absent"))
	w.Eventually("the extension to be installed, and the other one to say that it is not", func() error {
		installed, absent := &olmv1.ClusterExtension{}, &olmv1.ClusterExtension{}
		harness.Read(w, w, "", "greeter", installed)
		harness.Read(w, w, "", "absent", absent)
		if !meta.IsStatusConditionTrue(installed.Status.Conditions, olmv1.TypeAvailable) || installed.Status.Install == nil ||
			!meta.IsStatusConditionFalse(absent.Status.Conditions, olmv1.TypeInstalled) {
			return fmt.Errorf("conditions %v, and of the other one %v", installed.Status.Conditions, absent.Status.Conditions)
		}
		return nil
	})
	harness.Read(w, w, "", catalog.Name, catalog)
	response := must.Value(http.Get(catalog.Status.URLs.Base + "/api/v1/all"))(w)
	must.NoError(w, response.Body.Close())
	must.Equal(w, "answer of the catalog", response.StatusCode, http.StatusOK)
}

// scrape reads the metrics as Prometheus does, with the labels that it adds of the pod.
func scrape(t *testing.T, address string) (model.Vector, error) {
	t.Helper()
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	read := expfmt.NewTextParser(model.UTF8Validation)
	families, err := read.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, err
	}
	return expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.Now()}, slices.Collect(maps.Values(families))...)
}

// described is the text of a description of a metric.
var described = regexp.MustCompile(`^Desc\{fqName: "(\w+)", .*variableLabels: \{([^}]*)\}\}$`)

// exportedBy are the metrics of a scrape, and those that are registered and have no series before something happens.
func exportedBy(t *testing.T, samples model.Vector) exported {
	t.Helper()
	known := exported{}
	for _, s := range samples {
		name := string(s.Metric[model.MetricNameLabel])
		known[name] = append(known[name], "") // it is there, with labels or without
		for label := range s.Metric {
			if !slices.Contains(known[name], string(label)) {
				known[name] = append(known[name], string(label))
			}
		}
		known[name] = slices.DeleteFunc(known[name], func(label string) bool { return label == "" })
	}
	registry, ok := ctrlmetrics.Registry.(prometheus.Collector)
	if !ok {
		t.Fatalf("%T does not describe what is registered", ctrlmetrics.Registry)
	}
	descriptions := make(chan *prometheus.Desc)
	go func() { registry.Describe(descriptions); close(descriptions) }()
	for d := range descriptions {
		if found := described.FindStringSubmatch(d.String()); found != nil && known[found[1]] == nil {
			known[found[1]] = strings.FieldsFunc(found[2], func(r rune) bool { return r == ',' })
		}
	}
	return known
}

// played returns how many series answer a query where samples were read for five minutes.
func played(t *testing.T, samples model.Vector) func(expression string) int {
	t.Helper()
	store := teststorage.New(t)
	t.Cleanup(func() { must.NoError(t, store.Close()) })
	now := time.Now()
	for ago := 5 * time.Minute; ago >= 0; ago -= interval {
		appender := store.Appender(t.Context())
		for _, s := range samples {
			set := map[string]string{"namespace": manager.DefaultGlobalNamespace, "job": "fairlead-manager-metrics", "pod": "fairlead-manager-0", "instance": "10.0.0.1:8443", "endpoint": "metrics"}
			for name, value := range s.Metric {
				set[string(name)] = string(value)
			}
			must.Value(appender.Append(0, labels.FromMap(set), now.Add(-ago).UnixMilli(), float64(s.Value)))(t)
		}
		must.NoError(t, appender.Commit())
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	return func(expression string) int {
		t.Helper()
		q := must.Value(engine.NewInstantQuery(t.Context(), store, nil, expression, now))(t)
		defer q.Close()
		result := q.Exec(t.Context())
		must.NoErrorf(t, result.Err, "%s", expression)
		return len(must.Value(result.Vector())(t))
	}
}
