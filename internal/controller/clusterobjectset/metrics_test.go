package clusterobjectset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/test/must"
)

// counts are the series of revisions that are not 0, with the number of rollouts.
func counts(t *testing.T, r *prometheus.Registry) []string {
	t.Helper()
	families := must.Value(r.Gather())(t)
	var all []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			name := strings.TrimPrefix(f.GetName(), "fairlead_clusterobjectset")
			if h := m.GetHistogram(); h != nil {
				all = append(all, fmt.Sprintf("%s %d in %v s", name, h.GetSampleCount(), h.GetSampleSum()))
			} else if v := m.GetGauge().GetValue(); v != 0 {
				all = append(all, fmt.Sprintf("%s %s %v", name, strings.Join(labels, " "), v))
			}
		}
	}
	return all
}

// TestMetrics follow the revisions of an extension: how long they take, what state they are in, and whether what they have works.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	w := newWorld(t)
	w.controller.metrics = metrics.NewClusterObjectSets(states...)
	must.NoError(t, w.controller.metrics.Register(registry))
	expect := func(when string, want ...string) {
		t.Helper()
		must.Equal(t, "counts", counts(t, registry), want)
	}
	w.revise(options(1, configMap(t, "config", "1"), deployment(t, "op", "op:v1")))
	w.settle()
	expect("rolling out", "_rollout_duration_seconds 0 in 0 s", "s RollingOut 1", "s_unavailable false 1")
	w.Clock.SetTime(w.Clock.Now().Add(20 * time.Second))
	w.run("op", true)
	w.settle()
	expect("complete", "_rollout_duration_seconds 1 in 20 s", "s Succeeded 1")
	w.run("op", false)
	w.settle()
	expect("not working any more", "_rollout_duration_seconds 1 in 20 s", "s RollingOut 1", "s_unavailable true 1")
	w.run("op", true)
	w.settle()
	w.revise(options(2, configMap(t, "config", "2"), deployment(t, "op", "op:v1")))
	w.settle()
	w.run("op", true)
	w.settle()
	expect("upgraded", "_rollout_duration_seconds 2 in 20 s", "s Archived 1", "s Succeeded 1")
	for _, name := range w.names() {
		w.give(name, "deleted")
	}
	w.settle()
	for _, name := range []string{"ext-1", "ext-2"} {
		must.Value(w.pass(name))(t)
	}
	expect("gone", "_rollout_duration_seconds 2 in 20 s")
}
