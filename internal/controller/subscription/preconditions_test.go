package subscription

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// seen is the namespace as it is, and what is decided for it.
func (w *world) seen() (*state, *decision) {
	w.t.Helper()
	s, err := w.controller.observe(w.t.Context(), w.client, ns)
	must.NoError(w.t, err)
	d, err := w.controller.decide(w.t.Context(), s)
	must.NoError(w.t, err)
	return s, d
}

// TestAPlanThatIsBeingApprovedIsNotSuperseded: a user approves it between the look at the namespace and its removal.
func TestAPlanThatIsBeingApprovedIsNotSuperseded(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	s, d := w.seen()
	w.approve(w.onlyPlan())
	if _, err := w.controller.supersede(t.Context(), s, &d.groups[0]); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict, after which the namespace is looked at again", err)
	}
	if p := w.onlyPlan(); !p.Spec.Approved {
		t.Error("the plan that was approved is gone")
	}
}

// TestAnUpgradeIsWithdrawnOnlyOnceItsOperatorRuns: until then it is not certain that nothing is desired.
func TestAnUpgradeIsWithdrawnOnlyOnceItsOperatorRuns(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.approve(w.onlyPlan())
	w.carryOut(w.onlyPlan())
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
	w.mustReconcile()
	upgrade := w.newestPlan()
	w.serve("cat", pkg("a", "A", "", "1.0.0")) // the newer version goes
	for _, phase := range []v1alpha1.ClusterServiceVersionPhase{v1alpha1.CSVPhasePending, v1alpha1.CSVPhaseInstalling, v1alpha1.CSVPhaseFailed} {
		w.setCSVPhase("a.v1.0.0", phase)
		s, d := w.seen()
		must.NoError(t, w.controller.withdraw(t.Context(), s, &d.groups[0]))
		if w.newestPlan().Name != upgrade.Name {
			t.Fatalf("the plan is withdrawn while the operator is %s", phase)
		}
	}
	w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseSucceeded)
	w.mustReconcile()
	if w.newestPlan().Name == upgrade.Name {
		t.Error("the plan stays though the operator runs and nothing newer is there")
	}
}

// TestTheNewestPlanOfEverySubscriptionStays, however many newer ones others have.
func TestTheNewestPlanOfEverySubscriptionStays(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), subscribe("quiet", "quiet", ""), subscribe("busy", "busy", ""))
	make := func(name, owner string, generation int) {
		p := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: v1alpha1.InstallPlanSpec{Generation: generation}}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: owner, UID: w.subscription(owner).UID}}
		w.add(p)
		w.setPhase(p, v1alpha1.InstallPlanPhaseComplete)
	}
	make("older-of-quiet", "quiet", 1)
	make("newest-of-quiet", "quiet", 2)
	for i := range keptPlans + 2 {
		make(fmt.Sprintf("busy-%d", i), "busy", 3+i)
	}
	s, _ := w.seen()
	must.NoError(t, w.controller.collect(t.Context(), s))
	left := map[string]bool{}
	for _, p := range w.plans() {
		left[p.Name] = true
	}
	if !left["newest-of-quiet"] || left["older-of-quiet"] || left["busy-0"] || len(left) != keptPlans+1 {
		t.Errorf("left are %v", left)
	}
}

// TestAPlanThatIsBeingDeletedIsNotTakenForTheOneToBeMade: its name is taken until it is gone.
func TestAPlanThatIsBeingDeletedIsNotTakenForTheOneToBeMade(t *testing.T) {
	p := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "install-x", Finalizers: []string{"example.com/hold"}, Annotations: map[string]string{contentAnnotation: "c"}}}
	w := newWorld(t, p.DeepCopy())
	must.NoErrorf(t, w.controller.exists(t.Context(), p), "the plan of another manager")
	w.remove(p.DeepCopy())
	err := w.controller.exists(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "is being deleted") || !strings.Contains(err.Error(), "example.com/hold") {
		t.Errorf("got %v, want what is waited for", err)
	}
}

// TestACatalogThatWasMadeAnewIsSpokenOf: only of the same object there is nothing new to say while it is loaded again.
func TestACatalogThatWasMadeAnewIsSpokenOf(t *testing.T) {
	for name, uid := range map[string]types.UID{"the same": "", "another of its name": "another"} {
		w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
		w.serve("cat", pkg("a", "A", "", "1.0.0"))
		w.mustReconcile()
		w.carryOut(w.onlyPlan())
		w.mustReconcile()
		if uid != "" {
			w.remove(catalogSource("cat"))
			other := catalogSource("cat")
			other.UID = uid
			must.NoError(t, w.client.Create(t.Context(), other))
		}
		w.controller.Catalogs.Withdraw(catalog.Ref{Namespace: ns, Name: "cat"})
		s, d := w.seen()
		v := d.view(s, w.subscription("a"), w.Clock.Now())
		must.Equal(t, name+": nothing new is said", v.repeats(), uid == "")
	}
}

// TestAFailedPlanSaysWhenTheNextOneComes, and that a user has to approve it where that is so.
func TestAFailedPlanSaysWhenTheNextOneComes(t *testing.T) {
	for approval, want := range map[v1alpha1.Approval]string{
		v1alpha1.ApprovalAutomatic: "it is tried again at %s, or at once when you delete it",
		v1alpha1.ApprovalManual:    "another one, which waits for approval, takes its place at %s, or at once when you delete it",
	} {
		w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", approval))
		w.serve("cat", pkg("a", "A", "", "1.0.0"))
		w.mustReconcile()
		w.fail(w.onlyPlan())
		want = fmt.Sprintf(want, w.Clock.Now().Add(repeatFailed).UTC().Format(time.RFC3339))
		for range 2 { // the time stays the same while it passes
			w.mustReconcile()
			must.Contain(t, string(approval), w.subscription("a").Status.GetCondition(readyCondition).Message, want)
			w.Clock.Step(repeatFailed / 2)
		}
	}
}
