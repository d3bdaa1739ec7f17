package installplan

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scraped is what a scrape reads of a metric that has one series.
func scraped(t *testing.T, c prometheus.Collector, name string) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if m := f.GetMetric(); f.GetName() == name && len(m) == 1 {
			return m[0].GetGauge().GetValue() + m[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no metric %s, or it has several series", name)
	return 0
}

func TestMetrics(t *testing.T) {
	strange := step(t, strings.Replace(serviceYAML, "selector:", "selektor:", 1))
	plan := newPlan(step(t, csvYAML), strange)
	there := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: map[string]string{"olm.managed": "true"}}} // what is pruned of a wish for it is a warning
	w := newWorld(t, plan, there)
	w.settle(t, time.Minute)
	if _, err := w.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if n, warned := scraped(t, w.controller.Metrics, "install_plan_count"), scraped(t, w.controller.Metrics, "installplan_warnings_total"); n != 1 || warned != 1 {
		t.Errorf("%v plans, %v warnings; want one each", n, warned)
	}
	if err := w.Delete(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if _, err := w.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if n := scraped(t, w.controller.Metrics, "install_plan_count"); n != 0 {
		t.Errorf("%v plans after the only one was deleted", n)
	}
}
