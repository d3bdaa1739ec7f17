package subscription

import (
	"fmt"
	"slices"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// upgradeOften lets operator b have so many versions, one after the other, and a only one. What is to be reconciled after each is up to check.
func upgradeOften(w *world, requires string, times int, check func(upgrade int)) {
	w.t.Helper()
	var versions []string
	for i := range times {
		versions = append(versions, fmt.Sprintf("1.%d.0", i))
		w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", requires, versions...))
		w.mustReconcile()
		for _, p := range w.plans() {
			if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
				w.carryOut(&p)
			}
		}
		w.mustReconcile()
		w.mustReconcile()
		check(i)
	}
}

// TestADeletedOperatorStaysDeletedWhenOldPlansAreCollected: that it was installed is known from its plan alone, which another Subscription may own.
func TestADeletedOperatorStaysDeletedWhenOldPlansAreCollected(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("b", "b", ""))
	upgradeOften(w, "A", 1, func(int) {})
	if sub := w.subscription("a-stable-cat-ns"); sub.Status.InstalledCSV != "a.v1.0.0" {
		t.Fatalf("the dependency has %q installed", sub.Status.InstalledCSV)
	}
	versions := []string{"1.0.0"}
	for i := 1; i <= keptPlans+sweep; i++ {
		versions = append(versions, fmt.Sprintf("1.%d.0", i)) // none of which needs a
		w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "", versions...))
		w.mustReconcile()
		w.carryOut(w.newestPlan())
		if i == 1 {
			w.removeCSV("a.v1.0.0")
		}
		w.mustReconcile()
		w.mustReconcile()
		for _, p := range w.plans() {
			if p.Spec.Generation > 1 && slices.Contains(p.Spec.ClusterServiceVersionNames, "a.v1.0.0") {
				t.Fatalf("after upgrade %d of b, InstallPlan %s installs a.v1.0.0 again, which somebody deleted", i, p.Name)
			}
		}
		if got := ready(w.subscription("a-stable-cat-ns")); got != "False OperatorDeleted" {
			t.Fatalf("after upgrade %d of b, the Subscription of what was deleted is %s", i, got)
		}
	}
	// Needed are the plan that installed what was deleted, and the next one, which is the newest that its Subscription owns.
	if plans := w.plans(); len(plans) != keptPlans+2 {
		t.Errorf("%d plans are kept, want %d and the two that are needed", len(plans), keptPlans)
	}
}

// TestThePlanThatASubscriptionRefersToIsNotCollected, whoever owns it, so that it is not reported as missing.
func TestThePlanThatASubscriptionRefersToIsNotCollected(t *testing.T) {
	a, b := subscribe("a", "a", ""), subscribe("b", "b", "")
	for name, tc := range map[string]struct {
		subs     []*v1alpha1.Subscription
		of       string
		requires string
		together string
	}{
		"of a generated Subscription, which owns none": {[]*v1alpha1.Subscription{b}, "a-stable-cat-ns", "A", "false"},
		"of one that is decided on with another":       {[]*v1alpha1.Subscription{a, b}, "a", "A", "false"},
		"where all are decided on together":            {[]*v1alpha1.Subscription{a, b}, "a", "", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			og := operatorGroup("og")
			og.Annotations = map[string]string{snapshot.TogetherAnnotation: tc.together}
			w := newWorld(t, og, catalogSource("cat"))
			for _, sub := range tc.subs {
				w.add(sub.DeepCopy())
			}
			upgradeOften(w, tc.requires, keptPlans+sweep, func(upgrade int) {
				sub := w.subscription(tc.of)
				if c := sub.Status.GetCondition(v1alpha1.SubscriptionInstallPlanMissing); c.Status == corev1.ConditionTrue || ready(sub) != "True Installed" {
					t.Fatalf("after upgrade %d of b, Subscription %s is %s: %+v", upgrade, tc.of, ready(sub), c)
				}
			})
			if plans := w.plans(); len(plans) > keptPlans+1 {
				t.Errorf("%d plans are kept", len(plans))
			}
		})
	}
}

// TestAtMostThreePlansOfASubscriptionAreNeeded, however long it has been upgraded: its newest, the one that it refers to and the one by which
// its version was installed. Whatever else is finished is collected.
func TestAtMostThreePlansOfASubscriptionAreNeeded(t *testing.T) {
	const others = 4
	w := newWorld(t, operatorGroup("og"))
	for i := range others {
		name := fmt.Sprintf("sub-%d", i)
		sub := subscribe(name, name, "")
		w.add(sub)
		sub.Status.CurrentCSV = name + ".v1"
		sub.Status.InstallPlanRef = &corev1.ObjectReference{Name: name + "-refer-0"}
		must.NoError(t, w.client.Status().Update(t.Context(), sub))
	}
	generation := 0
	for _, kind := range []string{"install", "refer", "newest"} {
		for n := range 10 {
			for i := range others {
				generation++
				owner := w.subscription(fmt.Sprintf("sub-%d", i))
				p := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("sub-%d-%s-%d", i, kind, n)}, Spec: v1alpha1.InstallPlanSpec{Generation: generation}}
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: owner.Name, UID: owner.UID}}
				if kind == "install" {
					p.Spec.ClusterServiceVersionNames = []string{owner.Name + ".v1"}
				}
				w.add(p)
				w.setPhase(p, v1alpha1.InstallPlanPhaseComplete)
			}
		}
	}
	for range 3 * 10 * others / sweep {
		s, _ := w.seen()
		must.NoError(t, w.controller.collect(t.Context(), s))
	}
	left := map[string]bool{}
	for _, p := range w.plans() {
		left[p.Name] = true
	}
	for i := range others {
		for _, name := range []string{"install-9", "refer-0", "newest-9"} {
			if name = fmt.Sprintf("sub-%d-%s", i, name); !left[name] {
				t.Errorf("%s was collected", name)
			}
		}
	}
	// Of the five that stay because they are the newest of the namespace, four are the newest of a Subscription.
	if want := 3*others + 1; len(left) != want {
		t.Errorf("%d plans are left, want %d: %v", len(left), want, left)
	}
}
