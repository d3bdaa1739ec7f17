package installplan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// window opens in almost four hours: the clock of the tests begins on a Sunday at noon.
const window = "Sun 15:46-18:00 UTC"

const opening = 3*time.Hour + 46*time.Minute

// windowWorld has op.v0 installed by Subscription sub, and a plan that replaces it by op.v1.
func windowWorld(t *testing.T, annotations map[string]string, more ...client.Object) *world {
	t.Helper()
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "sub", UID: "uid-sub", Annotations: annotations}, Spec: &v1alpha1.SubscriptionSpec{}}
	sub.Status.InstalledCSV = "op.v0"
	w := newWorld(t, append(more, sub, csv("ns", "op.v0", "", "widgets.example.com"), windowPlan(t))...)
	must.Equal(t, "now", w.Clock.Now().UTC().Format("Mon 15:04:05"), "Sun 12:00:00")
	return w
}

func windowPlan(t *testing.T) *v1alpha1.InstallPlan {
	t.Helper()
	plan := newPlan(step(t, strings.Replace(csvYAML, "displayName: Op", "displayName: Op\n  version: 1.0.0\n  replaces: op.v0", 1)), step(t, accountYAML))
	plan.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: "sub", UID: "uid-sub"}}
	plan.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "op.v1", Replaces: "op.v0", CatalogSourceRef: &corev1.ObjectReference{Namespace: "olm", Name: "c"}}}
	return plan
}

// namespace is the Namespace with an annotation.
func namespace(window string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Annotations: map[string]string{schedule.WindowKey: window}}}
}

// TestAnUpgradeWaitsForItsWindow: outside of it nothing but the status is written, once; it begins at the opening without an event.
func TestAnUpgradeWaitsForItsWindow(t *testing.T) {
	w := windowWorld(t, nil, namespace(window))
	opens := w.Clock.Now().Add(opening)
	result, err := w.reconcile(t)
	must.NoError(t, err)
	must.Equal(t, "writes", w.Taken(), []string{reported})
	must.Equal(t, "requeued", result.RequeueAfter, time.Hour)
	p := w.plan(t, "plan")
	const message = "upgrade held until 2026-11-01T15:46:00Z (Sun 1 Nov 2026 15:46 UTC): op.v1 waits for annotation operators.fairlead.dev/upgrade-window of Namespace ns (Sun 15:46-18:00 UTC); " +
		"to begin at once, annotate Subscription sub with operators.fairlead.dev/upgrade-now=op.v1"
	must.Equal(t, "message", p.Status.Message, message)
	hasPhase(t, p, v1alpha1.InstallPlanPhaseInstalling)
	if c, some := v1alpha1.NewInstallPlanCondition(&p.Status); !some || c.Message != message || c.Type != v1alpha1.SubscriptionInstallPlanPending || p.Status.StartTime != nil {
		t.Errorf("a Subscription would say %+v, begun at %v", c, p.Status.StartTime)
	}
	for w.Clock.Now().Before(opens) {
		w.Clock.SetTime(w.Clock.Now().Add(result.RequeueAfter))
		if w.Clock.Now().Before(opens) {
			result, err = w.reconcile(t)
			must.NoError(t, err)
			must.Empty(t, "writes while it waits, at "+w.Clock.Now().String(), w.Taken())
		}
	}
	must.Equal(t, "the last requeue", w.Clock.Now(), opens)
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
	must.Equal(t, "op.v1 exists", w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1"), true)
}

// TestWhatDoesNotWait: first installations, what a person approves or writes, what has begun, and what a person lets through.
func TestWhatDoesNotWait(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		change      func(*v1alpha1.InstallPlan)
		prepare     func(*world)
		held        string // a part of the message; empty where it does not wait
	}{
		"an upgrade":                     {held: "upgrade held until 2026-11-01T15:46:00Z"},
		"known by its content alone":     {held: "upgrade held until", change: func(p *v1alpha1.InstallPlan) { p.Status.BundleLookups = nil }},
		"let through by bundle":          {annotations: map[string]string{schedule.NowKey: "op.v1"}},
		"let through by version":         {annotations: map[string]string{schedule.NowKey: "1.0.0"}},
		"another version is let through": {annotations: map[string]string{schedule.NowKey: "0.9.0"}, held: `which now names "0.9.0"`},
		"the Subscription overrides":     {annotations: map[string]string{schedule.WindowKey: "always"}},
		"what cannot be read":            {annotations: map[string]string{schedule.WindowKey: "nights"}, held: "upgrade held: op.v1 cannot begin: annotation operators.fairlead.dev/upgrade-window of Subscription sub cannot be read: at character 1, \"nights\""},
		"a freeze of the cluster": {annotations: map[string]string{schedule.WindowKey: "always"}, held: "of OLMConfig cluster (freeze 2026-10-25..2026-11-10 UTC)", prepare: func(w *world) {
			must.NoError(t, w.Inner.Create(t.Context(), &operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Annotations: map[string]string{schedule.WindowKey: "freeze 2026-10-25..2026-11-10 UTC"}}}))
		}},
		"approved by a person": {change: func(p *v1alpha1.InstallPlan) { p.Spec.Approval = v1alpha1.ApprovalManual }},
		"written by a person":  {change: func(p *v1alpha1.InstallPlan) { p.OwnerReferences = nil }},
		"it has begun":         {change: func(p *v1alpha1.InstallPlan) { p.Status.StartTime = at(0) }},
		"a first installation": {prepare: func(w *world) { remove(t, w, "op.v0") }},
		"the successor exists": {prepare: func(w *world) {
			must.NoError(t, w.Inner.Create(t.Context(), csv("ns", "op.v1", "op.v0", "widgets.example.com")))
		}},
		"no Subscription is it": {held: "annotate Subscription sub with", prepare: func(w *world) { forget(t, w) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := windowWorld(t, c.annotations, namespace(window))
			if p := w.plan(t, "plan"); c.change != nil {
				status := p.Status.DeepCopy()
				c.change(p)
				if p.Status.StartTime != nil || len(p.Status.BundleLookups) != len(status.BundleLookups) {
					must.NoError(t, w.Inner.Status().Update(t.Context(), p))
				} else {
					must.NoError(t, w.Inner.Update(t.Context(), p))
				}
			}
			if c.prepare != nil {
				c.prepare(w)
			}
			p := w.settle(t, time.Minute)
			if c.held == "" {
				hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
				return
			}
			must.Contain(t, "message", p.Status.Message, c.held)
			must.Equal(t, "op.v1 exists", w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1"), false)
		})
	}
}

func remove(t *testing.T, w *world, name string) {
	t.Helper()
	must.NoError(t, w.Inner.Delete(t.Context(), &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}))
}

// forget has the status of the Subscription say nothing.
func forget(t *testing.T, w *world) {
	t.Helper()
	sub := &v1alpha1.Subscription{}
	w.get(t, sub, "ns", "sub")
	sub.Status.InstalledCSV = ""
	must.NoError(t, w.Inner.Update(t.Context(), sub))
}

// TestLostContentDoesNotBegin: what is not at hand outside of the window is not begun for that.
func TestLostContentDoesNotBegin(t *testing.T) {
	w := windowWorld(t, nil, namespace(window))
	w.controller.Manifests = lost{}
	p := w.settle(t, 10*time.Minute)
	must.Contain(t, "message", p.Status.Message, "upgrade held until")
	must.Equal(t, "begun", p.Status.StartTime, nil)
}

// lost is a content store that has lost everything.
type lost struct{ store }

func (lost) Resolve(context.Context, string) ([]byte, error) { return nil, bundleio.ErrMissing }

// TestUnreadableRulesHold: nothing begins while it is not known what is asked for.
func TestUnreadableRulesHold(t *testing.T) {
	for _, kind := range []string{"Namespace", "OLMConfig"} {
		w := windowWorld(t, map[string]string{schedule.WindowKey: "always"})
		w.Read = func(o client.Object, _ string) error {
			_, config := o.(*operatorsv1.OLMConfig)
			if config && kind == "OLMConfig" || o.GetObjectKind().GroupVersionKind().Kind == kind {
				return errors.New("no answer")
			}
			return nil
		}
		_, err := w.reconcile(t)
		must.Fail(t, "reconcile", err, "read "+kind, "which may say when upgrades begin: no answer")
		must.Empty(t, "writes", w.Taken())
	}
}

// TestWhatSaysMoreWakesPlans: of a Subscription and a Namespace those of the namespace, of the OLMConfig all.
func TestWhatSaysMoreWakesPlans(t *testing.T) {
	w := windowWorld(t, nil, namespace(window))
	for _, o := range []client.Object{namespace(""), &operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "sub"}}} {
		must.Equal(t, "plans", len(w.watcher().upgradesIn(t.Context(), o)), 1)
	}
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	must.Empty(t, "plans of another namespace", w.watcher().upgradesIn(t.Context(), other))
	must.NoError(t, w.Inner.Delete(t.Context(), namespace("")))
	w.settle(t, time.Minute)
	must.Empty(t, "plans that are complete", w.watcher().upgradesIn(t.Context(), namespace("")))
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
	w := windowWorld(t, map[string]string{schedule.WindowKey: window})
	again := w.Clock.Now().Add(opening + time.Minute)
	refused := schedule.By("409 Conflict: ring 2 is next", again)
	g := &gate{answers: []*schedule.Held{refused, refused, nil, nil}}
	w.controller.UpgradeGate = g
	must.Contain(t, "message", w.settle(t, 0).Status.Message, "upgrade held until")
	must.Empty(t, "asked outside of the window", g.asked)
	w.Clock.SetTime(w.Clock.Now().Add(opening - w.Clock.Now().Sub(epoch)))
	p := w.settle(t, 0)
	must.Contain(t, "message", p.Status.Message, "upgrade held by the upgrade gate", "409 Conflict: ring 2 is next")
	must.Equal(t, "asked about", g.asked[0].Bundle+" "+g.asked[0].Version+" of "+g.asked[0].Object, "op.v1 1.0.0 of Subscription sub")
	w.Clock.SetTime(again)
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}
