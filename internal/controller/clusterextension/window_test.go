package clusterextension

import (
	"context"
	"errors"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// window opens in 46 minutes and 40 seconds: the clock of the tests begins on a Tuesday at 22:13:20.
const window = "Tue 23:00-23:30 UTC"

const opening = 46*time.Minute + 40*time.Second

const heldMessage = "upgrade held until 2023-11-14T23:00:00Z (Tue 14 Nov 2023 23:00 UTC): a.v1.1.0 waits for annotation operators.fairlead.dev/upgrade-window of Namespace ns (Tue 23:00-23:30 UTC); " +
	"to begin at once, annotate ClusterExtension my with operators.fairlead.dev/upgrade-now=a.v1.1.0"

// windowWorld has a.v1.0.0 installed, a.v1.1.0 in the catalog, and a window for the namespace.
func windowWorld(t *testing.T) *world {
	t.Helper()
	w := installedWorld(t)
	w.annotateNamespace(window)
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.server.Taken()
	return w
}

func (w *world) annotateNamespace(window string) {
	w.t.Helper()
	ns := &corev1.Namespace{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Name: "ns"}, ns))
	ns.Annotations = map[string]string{schedule.WindowKey: window}
	w.must(w.client.Update(w.t.Context(), ns))
}

// TestAnUpgradeWaitsForItsWindow: the bundle is fetched, rendered and checked at once; the revision is written at the opening, without an event. Meanwhile
// the status is written once.
func TestAnUpgradeWaitsForItsWindow(t *testing.T) {
	w := windowWorld(t)
	gets, renders := w.bundles.gets, w.renders
	result := w.pass("my")
	must.Equal(t, "writes", w.server.Writes(), []string{"patch status ClusterExtension my"})
	must.Equal(t, "message", w.message("my", "Progressing"), "Desired state reached\n"+heldMessage)
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	must.Equal(t, "requeued", result.RequeueAfter, opening)
	if w.bundles.gets == gets || w.renders == renders {
		t.Error("the bundle is not at hand before the window opens")
	}
	if !w.has("upgrade held until 2023-11-14T23:00:00Z") {
		t.Error("no Event tells that it is held")
	}
	renders = w.renders
	for range 40 {
		w.server.Taken()
		w.clock.Step(time.Minute)
		result = w.pass("my")
		must.Empty(t, "writes while it waits", w.server.Writes())
	}
	must.Equal(t, "renderings while it waits", w.renders-renders, 0)
	must.Equal(t, "requeued", result.RequeueAfter, opening-40*time.Minute)
	w.clock.Step(result.RequeueAfter)
	w.settle("my")
	w.expectInstalled("my", "a.v1.1.0")
	must.Equal(t, "message", w.message("my", "Progressing"), "Desired state reached")
}

// TestWhatDoesNotWait: first installations, repairs, another configuration, and what a person lets through.
func TestWhatDoesNotWait(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.annotateNamespace("never")
	w.serve("cat", pkg("a", "1.0.0"))
	w.settle("my")
	w.expectInstalled("my", "a.v1.0.0")
	w.configure("my", `{"x":1}`)
	w.settle("my")
	must.Equal(t, "revision of another configuration", len(w.revisions("my")), 2)
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	w.expectInstalled("my", "a.v1.0.0")
	must.Contain(t, "message", w.message("my", "Progressing"), "upgrade held: a.v1.1.0 cannot begin: annotation operators.fairlead.dev/upgrade-window of Namespace ns (never) allows no upgrade")
	w.annotate("my", schedule.NowKey, "1.1.0")
	w.settle("my")
	w.expectInstalled("my", "a.v1.1.0")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0", "1.2.0"))
	w.settle("my")
	w.expectInstalled("my", "a.v1.1.0")
	w.annotate("my", schedule.WindowKey, "always")
	w.settle("my")
	w.expectInstalled("my", "a.v1.2.0")
}

// TestFreezesOfTheCluster hold whatever windows say.
func TestFreezesOfTheCluster(t *testing.T) {
	w := windowWorld(t)
	w.add(&operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Annotations: map[string]string{schedule.WindowKey: "freeze 2023-11-01..2023-11-15 UTC"}}})
	w.annotate("my", schedule.WindowKey, "always")
	w.server.Taken()
	must.Equal(t, "requeued", w.pass("my").RequeueAfter, time.Hour)
	must.Contain(t, "message", w.message("my", "Progressing"), "upgrade held until 2023-11-16T00:00:00Z", "of OLMConfig cluster (freeze 2023-11-01..2023-11-15 UTC)")
	w.server.Taken()
	for w.clock.Now().Before(time.Date(2023, 11, 16, 0, 0, 0, 0, time.UTC)) {
		w.clock.Step(w.pass("my").RequeueAfter)
		must.Empty(t, "writes while it waits", w.server.Writes())
	}
	w.settle("my")
	w.expectInstalled("my", "a.v1.1.0")
}

// TestWhatCannotBeRead holds upgrades, is reported before there is one, and takes nothing away.
func TestWhatCannotBeRead(t *testing.T) {
	w := installedWorld(t)
	w.annotate("my", schedule.WindowKey, "Mon-Fri 22:00-04:00 Europe/Atlantis")
	w.settle("my")
	const told = `annotation operators.fairlead.dev/upgrade-window of ClusterExtension my cannot be read: at character 21, "Europe/Atlantis": this time zone is not known`
	must.Contain(t, "message without an upgrade", w.message("my", "Progressing"), told)
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	w.expectInstalled("my", "a.v1.0.0")
	must.Contain(t, "message", w.message("my", "Progressing"), "upgrade held: a.v1.1.0 cannot begin: "+told)
	w.annotate("my", schedule.WindowKey, "")
	w.settle("my")
	w.expectInstalled("my", "a.v1.1.0")
}

// TestUnreadableRulesHold: nothing is decided while it is not known what is asked for.
func TestUnreadableRulesHold(t *testing.T) {
	w := windowWorld(t)
	w.server.Read = func(o client.Object, _ string) error {
		if _, is := o.(*operatorsv1.OLMConfig); is {
			return errors.New("no answer")
		}
		return nil
	}
	_, err := w.controller.Reconcile(t.Context(), requestFor("my"))
	must.Fail(t, "Reconcile", err, "read OLMConfig cluster, which may say when upgrades begin: no answer")
	must.Equal(t, "revisions", len(w.revisions("my")), 1)
}

// TestAnotherVersionWhileItWaits takes the place of the one that waited, and a rollout that has begun is finished outside of the window.
func TestAnotherVersionWhileItWaits(t *testing.T) {
	w := windowWorld(t)
	w.pass("my")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0", "1.2.0"))
	w.settle("my")
	must.Contain(t, "message", w.message("my", "Progressing"), "upgrade held until")
	w.clock.Step(opening)
	w.pass("my") // writes the revision
	begun := w.newest("my").Annotations[olmv1.BundleNameKey]
	w.clock.Step(time.Hour)
	w.settle("my")
	w.expectInstalled("my", begun)
}

// gate answers in turn.
type gate struct {
	answers []*schedule.Held
	asked   []schedule.Upgrade
}

func (g *gate) Ask(_ context.Context, upgrades ...schedule.Upgrade) *schedule.Held {
	answer := g.answers[0]
	g.answers, g.asked = g.answers[1:], append(g.asked, upgrades...)
	return answer
}

// TestTheGateIsAskedWithinTheWindow, and holds what it does not allow.
func TestTheGateIsAskedWithinTheWindow(t *testing.T) {
	w := windowWorld(t)
	refused := schedule.By("409 Conflict: ring 2 is next", w.clock.Now().Add(opening+time.Minute))
	g := &gate{answers: []*schedule.Held{refused, nil}}
	w.controller.UpgradeGate = g
	w.pass("my")
	must.Empty(t, "asked outside of the window", g.asked)
	w.clock.Step(opening)
	must.Equal(t, "requeued", w.pass("my").RequeueAfter, time.Minute)
	must.Contain(t, "message", w.message("my", "Progressing"), "upgrade held by the upgrade gate: ", "409 Conflict: ring 2 is next")
	must.Equal(t, "asked about", g.asked[0].Bundle+" "+g.asked[0].Version+" of "+g.asked[0].Object, "a.v1.1.0 1.1.0 of ClusterExtension my")
	w.clock.Step(time.Minute)
	w.settle("my")
	w.expectInstalled("my", "a.v1.1.0")
}
