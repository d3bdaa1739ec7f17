package installplan

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWarningsAreToldOnce has the status that tells what was done not be written at first: what the API server warned about is told,
// and counted, once, and when the status is there.
func TestWarningsAreToldOnce(t *testing.T) {
	strange := step(t, strings.Replace(serviceYAML, "selector:", "selektor:", 1))
	there := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: map[string]string{"olm.managed": "true"}}}
	w := newWorld(t, there, newPlan(step(t, csvYAML), strange))
	refuse := true
	w.fault = func(what string, after bool) error {
		if refuse && what == "status of plan" && !after {
			return errors.New("away")
		}
		return nil
	}
	for range 3 {
		if _, err := w.reconcile(t); err == nil {
			t.Fatal("the status was written")
		}
		if n, counted := len(w.events.Events), scraped(t, w.controller.Metrics, "installplan_warnings_total"); n != 0 || counted != 0 {
			t.Errorf("%d Events and %v counted before the status was written", n, counted)
		}
	}
	refuse = false
	for range 3 {
		if _, err := w.reconcile(t); err != nil {
			t.Fatal(err)
		}
	}
	if n, counted := len(w.events.Events), scraped(t, w.controller.Metrics, "installplan_warnings_total"); n != 1 || counted != 1 {
		t.Errorf("%d Events, %v counted; want one", n, counted)
	}
}
