package catalogsource

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/test/must"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
)

// TestPollsThatSucceedAreCounted, and one that fails leaves the time of the last that did not.
func TestPollsThatSucceedAreCounted(t *testing.T) {
	w := newWorld(t, source(grpc(time.Hour)))
	w.c.polls = metrics.NewPolls(v1alpha1.CatalogSourceKind, true)
	const series = "fairlead_catalogsource_last_poll_timestamp_seconds"
	expect := func(when string, want time.Time) {
		t.Helper()
		text := fmt.Sprintf("%s{name=\"cat\",namespace=\"olm\"} %v\n", series, float64(want.Unix()))
		got := must.Value(testutil.CollectAndFormat(w.c.polls, expfmt.TypeTextPlain, series))(t)
		must.Contain(t, when, string(got), text)
	}
	began := w.Clock.Now()
	w.registry.err = errors.New("down")
	w.reconcile()
	w.Clock.Step(time.Minute)
	w.reconcile()
	expect("it has failed since the start", began)
	w.registry.err = nil
	w.Clock.Step(time.Minute)
	w.reconcile()
	w.reconcile()
	succeeded := w.Clock.Now()
	expect("it has succeeded", succeeded)
	w.registry.err = errors.New("down again")
	w.Clock.Step(2 * time.Hour)
	w.reconcile()
	w.reconcile()
	expect("it fails again", succeeded)
	w.update(func(s *v1alpha1.CatalogSource) {
		s.Spec.Image = "registry.example.com/cat@sha256:" + strings.Repeat("0", 64)
	})
	w.reconcile()
	must.Equal(t, "series of a catalog behind a digest", testutil.CollectAndCount(w.c.polls), 0)
	w.update(func(s *v1alpha1.CatalogSource) { s.Spec = grpc(0) })
	w.reconcile()
	must.Equal(t, "series of a catalog that is not polled any more", testutil.CollectAndCount(w.c.polls), 0)
}

// TestMetricsFollowTheCatalog: ready, not ready, gone.
func TestMetricsFollowTheCatalog(t *testing.T) {
	w := newWorld(t, source(grpc(time.Minute)))
	w.c.metrics = metrics.NewCatalogSources()
	expect := func(text string) {
		t.Helper()
		if err := testutil.CollectAndCompare(w.c.metrics, strings.NewReader(text), "catalog_source_count", "catalogsource_ready", "catalog_source_snapshots_total"); err != nil {
			t.Error(err)
		}
	}
	const help = `# HELP catalog_source_count Number of CatalogSources
# TYPE catalog_source_count gauge
`
	const ready = `# HELP catalogsource_ready State of a CatalogSource: 1 if it is READY, 0 if it is in any other state
# TYPE catalogsource_ready gauge
`
	const snapshots = `# HELP catalog_source_snapshots_total Number of times new content of a CatalogSource began to be served
# TYPE catalog_source_snapshots_total counter
`
	w.registry.err = errors.New("down")
	w.reconcile()
	expect(help + "catalog_source_count 1\n" + ready + "catalogsource_ready{name=\"cat\",namespace=\"olm\"} 0\n")
	w.registry.err = nil
	w.Clock.Step(time.Minute)
	w.reconcile()
	w.registry.content = "two"
	w.Clock.Step(2 * time.Minute)
	w.reconcile()
	w.reconcile()
	expect(help + "catalog_source_count 1\n" + ready + "catalogsource_ready{name=\"cat\",namespace=\"olm\"} 1\n" + snapshots + "catalog_source_snapshots_total{name=\"cat\",namespace=\"olm\"} 2\n")
	must.NoError(t, w.client.Delete(t.Context(), w.source()))
	w.reconcile()
	expect(help + "catalog_source_count 0\n")
}
