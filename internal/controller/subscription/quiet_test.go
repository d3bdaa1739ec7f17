package subscription

import (
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestADayWithoutNews lets a day pass with four catalogs, polled every ten minutes and always found unchanged, and twenty Subscriptions:
// nothing is written, no Event is made, and no one asks to be called again. Every poll is followed by a look at the namespace, though
// nothing asks for one.
func TestADayWithoutNews(t *testing.T) {
	const polls, each = 24 * time.Hour / (10 * time.Minute), 10 * time.Minute
	objects := []client.Object{operatorGroup("og")}
	catalogs := []string{"one", "two", "three", "four"}
	for _, name := range catalogs {
		objects = append(objects, catalogSource(name))
	}
	for i := range 20 {
		name := fmt.Sprintf("op%d", i)
		sub := subscribe(name, name, v1alpha1.ApprovalAutomatic)
		sub.Spec.CatalogSource = catalogs[i%len(catalogs)]
		if i%5 == 0 { // some wait for approval, some are held back, some have no answer
			sub.Spec.InstallPlanApproval = v1alpha1.ApprovalManual
		}
		if i == 3 {
			sub.Annotations = map[string]string{"operators.fairlead.dev/version-range": "<1.1.0"}
		}
		if i == 4 {
			sub.Spec.Channel = "none"
		}
		objects = append(objects, sub)
	}
	w := newWorld(t, objects...)
	for i, name := range catalogs {
		content := ""
		for op := i; op < 20; op += len(catalogs) {
			content += pkg(fmt.Sprintf("op%d", op), "", "", "1.0.0", "1.1.0")
		}
		w.serve(name, content)
	}
	for range 4 { // plans, operators, verdicts
		w.mustReconcile()
		for _, p := range w.plans() {
			if p.Status.Phase == v1alpha1.InstallPlanPhaseInstalling {
				w.carryOut(&p)
			}
		}
	}
	verdicts := map[string]int{}
	for i := range 20 {
		verdicts[ready(w.subscription(fmt.Sprintf("op%d", i)))]++
	}
	if verdicts["True Installed"] != 15 || verdicts["False RequiresApproval"] != 4 || verdicts["False ResolutionFailed"] != 1 {
		t.Fatalf("the day begins with the verdicts %v", verdicts)
	}
	w.Taken()
	for len(w.Events.Events) > 0 {
		<-w.Events.Events
	}
	news := 0
	w.controller.Catalogs.OnChange(func(catalog.Ref) { news++ })
	for range polls {
		w.Clock.Step(each)
		for _, name := range catalogs {
			served, _ := w.controller.Catalogs.Get(catalog.Ref{Namespace: ns, Name: name})
			w.publish(name, served)
		}
		result, err := w.controller.Reconcile(t.Context(), request)
		if err != nil || result.RequeueAfter != 0 {
			t.Fatalf("asks to be called again after %s, %v", result.RequeueAfter, err)
		}
	}
	if len(w.Writes()) > 0 || len(w.Events.Events) > 0 || news > 0 {
		t.Errorf("on a day without news there were %d writes: %v; %d Events, and %d times news of catalogs", len(w.Writes()), w.Writes(), len(w.Events.Events), news)
	}
}

// TestAManagerThatStartsChangesNothing starts the manager again: until catalogs are read again, and after that, nothing is written.
func TestAManagerThatStartsChangesNothing(t *testing.T) {
	states := map[string]func(w *world){
		"running": func(*world) {},
		"held back": func(w *world) {
			w.annotate("a", "operators.fairlead.dev/version-range", "<1.0.1")
			w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
		},
		"an upgrade waits for approval": func(w *world) {
			w.change("a", func(s *v1alpha1.Subscription) { s.Spec.InstallPlanApproval = v1alpha1.ApprovalManual })
			w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
		},
		"no such channel": func(w *world) { w.follow("a", "none") },
		"an upgrade failed": func(w *world) {
			w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
			w.mustReconcile()
			w.fail(w.newestPlan())
		},
		"deprecated": func(w *world) {
			w.serve("cat", pkg("a", "A", "", "1.0.0")+"---\nschema: olm.deprecations\npackage: a\nentries:\n- {reference: {schema: olm.package}, message: use b}\n")
		},
		"the operator fails":       func(w *world) { w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseFailed) },
		"the operator was deleted": func(w *world) { w.removeCSV("a.v1.0.0") },
	}
	for name, to := range states {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
			w.serve("cat", pkg("a", "A", "", "1.0.0"))
			w.mustReconcile()
			w.carryOut(w.onlyPlan())
			w.mustReconcile()
			source := catalogSource("cat")
			must.NoError(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(source), source))
			source.Status.GRPCConnectionState = &v1alpha1.GRPCConnectionState{LastObservedState: "READY"}
			must.NoError(t, w.client.Status().Update(t.Context(), source))
			to(w)
			w.mustReconcile()
			w.mustReconcile()
			served, _ := w.controller.Catalogs.Get(catalog.Ref{Namespace: ns, Name: "cat"})
			w.Taken()
			w.controller.Catalogs = catalogstore.NewSet()
			w.mustReconcile()
			must.Empty(t, "writes while catalogs are read again", w.Writes())
			w.publish("cat", served)
			w.mustReconcile()
			must.Empty(t, "writes afterwards", w.Writes())
		})
	}
}
