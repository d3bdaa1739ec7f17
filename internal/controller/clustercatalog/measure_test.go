package clustercatalog

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/test/must"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
)

// measured are the series of the conditions, as TYPE/REASON with their values.
func (w *world) measured() []string {
	w.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(w.c.conditions)
	families, err := r.Gather()
	if err != nil {
		w.Fatal(err)
	}
	all := []string{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			l := m.GetLabel() // name, reason, type
			text := l[2].GetValue() + "/" + l[1].GetValue() + " of " + l[0].GetValue()
			if m.GetGauge().GetValue() != 1 {
				text = "no " + text
			}
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// TestPollsThatSucceedAreCounted, and one that fails leaves the time of the last that did not.
func TestPollsThatSucceedAreCounted(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 60))
	w.c.polls = metrics.NewPolls(olmv1.ClusterCatalogKind, false)
	const series = "fairlead_clustercatalog_last_poll_timestamp_seconds"
	expect := func(when string, want time.Time) {
		t.Helper()
		got := must.Value(testutil.CollectAndFormat(w.c.polls, expfmt.TypeTextPlain, series))(t)
		must.Contain(t, when, string(got), fmt.Sprintf("%s{name=\"cat\"} %v\n", series, float64(want.Unix())))
	}
	began := w.clock.Now()
	w.registry.err = errors.New("no answer")
	w.settle("cat")
	expect("it has failed since the start", began)
	w.registry.err = nil
	w.clock.Step(catalogstore.LongestRetry)
	w.settle("cat")
	succeeded := w.clock.Now()
	expect("it has succeeded", succeeded)
	w.registry.err = errors.New("no answer again")
	w.clock.Step(2 * time.Hour)
	w.settle("cat")
	expect("it fails again", succeeded)
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.Source.Image.PollIntervalMinutes = nil })
	w.settle("cat")
	must.Equal(t, "series of a catalog that is not polled any more", testutil.CollectAndCount(w.c.polls), 0)
}

// TestConditionsAreMeasured as the status tells them, by the manager that leads, for as long as the catalog is there.
func TestConditionsAreMeasured(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.c.conditions = metrics.NewConditions(olmv1.ClusterCatalogKind)
	expect := func(when string, want ...string) {
		t.Helper()
		must.Equal(t, "measured", w.measured(), append([]string{}, want...))
	}
	w.registry.err = errors.New("no answer")
	w.settle("cat")
	expect("without content", "Progressing/Retrying of cat", "no Serving/Unavailable of cat")
	w.registry.err = nil
	w.clock.Step(catalogstore.LongestRetry)
	w.settle("cat")
	expect("with content", "Progressing/Succeeded of cat", "Serving/Available of cat")
	w.settle("cat")
	expect("another look", "Progressing/Succeeded of cat", "Serving/Available of cat")
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable })
	w.settle("cat")
	expect("switched off", "Progressing/Succeeded of cat", "no Serving/UserSpecifiedUnavailable of cat")
	must.NoError(t, w.client.Delete(t.Context(), w.get("cat")))
	w.settle("cat")
	expect("deleted")
}
