package subscription

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// toldEvents are the Events since it was called last.
func (w *world) toldEvents() []string {
	var all []string
	for len(w.Events.Events) > 0 {
		all = append(all, <-w.Events.Events)
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
	// One about the Subscription and one about the namespace, for each of the two.
	if len(events) != 4 || !strings.HasPrefix(events[0], "Warning ResolutionFailed a cannot be installed: catalog ns/cat has no package a\nbecause no operators found in package a") || events[0] != events[1] || events[2] != events[3] {
		t.Errorf("of two Subscriptions without an answer, seen three times: %q", events)
	}
	w.remove(operatorGroup("og"))
	w.mustReconcile()
	// One about each Subscription, and a single one about the namespace.
	if events = w.toldEvents(); len(events) != 3 || !strings.Contains(events[0], "expected 1 OperatorGroup in the namespace, found 0") || events[0] != events[1] || events[0] != events[2] {
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
	must.Equal(t, "Events", w.toldEvents(), want)
}

// TestAnnotationsThatSayNothingAreTold: a value that is neither yes nor no is reported, about the OperatorGroup and with every Subscription,
// also while catalogs are read, until it is corrected.
func TestAnnotationsThatSayNothingAreTold(t *testing.T) {
	og := operatorGroup("og")
	og.Annotations = map[string]string{snapshot.TogetherAnnotation: "yes", v1alpha1.ExcludeGlobalNamespaceAnnotation: "True"}
	w := newWorld(t, og, catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "b", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "", "1.0.0"))
	told := func(when string, want corev1.ConditionStatus) {
		t.Helper()
		for range 2 {
			w.mustReconcile()
		}
		for _, name := range []string{"a", "b"} {
			c := w.subscription(name).Status.GetCondition(misreadCondition)
			must.Equal(t, "condition of "+name, c.Status, want)
			for _, text := range []string{snapshot.TogetherAnnotation, v1alpha1.ExcludeGlobalNamespaceAnnotation, `OperatorGroup og has the value "yes"`, `write "true", or take it away`} {
				if want == corev1.ConditionTrue && !strings.Contains(c.Message, text) {
					t.Errorf("%q is not in %q", text, c.Message)
				}
			}
		}
	}
	told("with values that say nothing", corev1.ConditionTrue)
	if events := w.toldEvents(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning AnnotationIgnored annotation "+snapshot.TogetherAnnotation+" of OperatorGroup og ") {
		t.Errorf("of two Subscriptions, seen twice: %q", events)
	}
	served, _ := w.controller.Catalogs.Get(catalog.Ref{Namespace: ns, Name: "cat"})
	w.controller.Catalogs = catalogstore.NewSet()
	told("while the catalog is read again", corev1.ConditionTrue)
	w.publish("cat", served)
	must.NoError(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(og), og))
	og.Annotations = map[string]string{snapshot.TogetherAnnotation: "false"}
	must.NoError(t, w.client.Update(t.Context(), og))
	told("once they are corrected", corev1.ConditionUnknown)
	must.Empty(t, "Events afterwards", w.toldEvents())
}

// TestEventsFollowWhatIsWritten: a status that cannot be written is not told of either, but once it can be, and what was deleted meanwhile
// never.
func TestEventsFollowWhatIsWritten(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("c", "C", "", "1.0.0"))
	w.KillAt(1, false)
	if err := w.reconcile(); err == nil {
		t.Fatal("the write did not fail")
	}
	must.Empty(t, "of a status that was not written", w.toldEvents())
	w.mustReconcile()
	if events := w.toldEvents(); len(events) != 2 { // about the Subscription, and about the namespace
		t.Errorf("once it was written: %q", events)
	}
	w.annotate("a", "operators.fairlead.dev/version-range", "?")
	w.follow("a", "none")
	w.Before = func(string) error {
		w.Before = nil
		w.remove(subscribe("a", "a", ""))
		return nil
	}
	w.mustReconcile()
	must.Empty(t, "of a Subscription that was deleted meanwhile", w.toldEvents())
}

// resolutions is how many a scrape tells of.
func resolutions(t *testing.T, m prometheus.Collector) (n uint64) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	families := must.Value(registry.Gather())(t)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			n += m.GetSummary().GetSampleCount()
		}
	}
	return n
}

// TestMetricsFollowTheSubscriptions reads the metrics as a scrape does.
func TestMetricsFollowTheSubscriptions(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.controller.Metrics)
	read := func() (series []string, count float64) {
		families := must.Value(registry.Gather())(t)
		for _, f := range families {
			for _, m := range f.GetMetric() {
				switch f.GetName() {
				case "subscription_count":
					count = m.GetGauge().GetValue()
				case "subscription_sync_total":
					text := ""
					for _, l := range m.GetLabel() {
						text += l.GetName() + "=" + l.GetValue() + " "
					}
					series = append(series, strings.TrimSpace(text))
				}
			}
		}
		return series, count
	}
	w.mustReconcile()
	series, count := read()
	if want := []string{"approval=Automatic channel=stable installed= name=a package=a"}; !slices.Equal(series, want) || count != 1 {
		t.Errorf("before it is installed: %q, %v Subscriptions", series, count)
	}
	w.carryOut(w.onlyPlan())
	w.change("a", func(s *v1alpha1.Subscription) { s.Spec.InstallPlanApproval = v1alpha1.ApprovalManual })
	w.mustReconcile()
	if series, _ = read(); !slices.Equal(series, []string{"approval=Manual channel=stable installed=a.v1.0.0 name=a package=a"}) {
		t.Errorf("once it is installed, and its approval is another: %q", series)
	}
	w.remove(&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}})
	w.mustReconcile()
	if series, count = read(); len(series) > 0 || count != 0 {
		t.Errorf("once it is gone: %q, %v Subscriptions", series, count)
	}
}
