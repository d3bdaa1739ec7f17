package subscription

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// toldEvents are the Events since it was called last.
func (w *world) toldEvents() []string {
	var all []string
	for len(w.events.Events) > 0 {
		all = append(all, <-w.events.Events)
	}
	return all
}

func TestEventsAreMadeOnce(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "b", ""))
	w.serve("cat", pkg("c", "C", "", "1.0.0"))
	for range 3 {
		w.mustReconcile()
	}
	events := w.toldEvents()
	if len(events) != 2 || !strings.HasPrefix(events[0], "Warning ResolutionFailed because no operators found in package a") {
		t.Errorf("of two Subscriptions without an answer, seen three times: %q", events)
	}
	w.remove(operatorGroup("og"))
	w.mustReconcile()
	if events = w.toldEvents(); len(events) != 1 || !strings.Contains(events[0], "expected 1 OperatorGroup in the namespace, found 0") {
		t.Errorf("of a namespace without OperatorGroup, which concerns two Subscriptions: %q", events)
	}
}

func TestEventOfABundleThatCannotBeHad(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.tamper = func(g *group) {
		g.failures = []fetchFailure{{name: "a.v1.0.0", err: errors.New("fetch bundle a.v1.0.0: denied\nby the registry")}}
	}
	w.tampered("a")
	w.tampered("a")
	want := []string{"Warning BundleUnpackFailed Bundle unpacking failed - InvalidBundle: fetch bundle a.v1.0.0: denied by the registry"}
	if events := w.toldEvents(); !slices.Equal(events, want) {
		t.Errorf("Events %q, want %q", events, want)
	}
}

// TestMetricsFollowTheSubscriptions reads the metrics as a scrape does.
func TestMetricsFollowTheSubscriptions(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.controller.Metrics)
	read := func() (series []string, count float64, resolutions uint64) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				switch f.GetName() {
				case "subscription_count":
					count = m.GetGauge().GetValue()
				case "olm_resolution_duration_seconds":
					resolutions += m.GetSummary().GetSampleCount()
				case "subscription_sync_total":
					text := ""
					for _, l := range m.GetLabel() {
						text += l.GetName() + "=" + l.GetValue() + " "
					}
					series = append(series, strings.TrimSpace(text))
				}
			}
		}
		return series, count, resolutions
	}
	w.mustReconcile()
	series, count, resolutions := read()
	if want := []string{"approval=Automatic channel=stable installed= name=a package=a"}; !slices.Equal(series, want) || count != 1 || resolutions == 0 {
		t.Errorf("before it is installed: %q, %v Subscriptions, %d resolutions", series, count, resolutions)
	}
	w.carryOut(w.onlyPlan())
	w.change("a", func(s *v1alpha1.Subscription) { s.Spec.InstallPlanApproval = v1alpha1.ApprovalManual })
	w.mustReconcile()
	if series, _, _ = read(); !slices.Equal(series, []string{"approval=Manual channel=stable installed=a.v1.0.0 name=a package=a"}) {
		t.Errorf("once it is installed, and its approval is another: %q", series)
	}
	w.remove(&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}})
	w.mustReconcile()
	if series, count, _ = read(); len(series) > 0 || count != 0 {
		t.Errorf("once it is gone: %q, %v Subscriptions", series, count)
	}
}
