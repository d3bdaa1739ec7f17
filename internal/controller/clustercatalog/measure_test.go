package clustercatalog

import (
	"errors"
	"slices"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/test/must"

	"github.com/prometheus/client_golang/prometheus"
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
