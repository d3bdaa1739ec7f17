package subscription

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"

	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// secondManager is one that works on the same cluster, and knows nothing of the first.
func (w *world) secondManager() *Controller {
	other := *w.controller
	other.Metrics, other.judgements, other.written = metrics.NewSubscriptions(), &judgements{}, &reconcile.StatusMemory[v1alpha1.SubscriptionStatus]{}
	return &other
}

// TestAPlanIsFilledOnce lets another manager fill a plan, and its steps be carried out, between the two writes of the manager that
// created it: what was done since is not undone.
func TestAPlanIsFilledOnce(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	other, intervened := w.secondManager(), false
	w.Before = func(write string) error {
		if intervened || !strings.HasPrefix(write, "patch status InstallPlan install-") {
			return nil
		}
		intervened = true
		if _, err := other.Reconcile(t.Context(), request); err != nil {
			t.Errorf("the other manager: %v", err)
		}
		w.carryOut(w.onlyPlan())
		return nil
	}
	for range 3 {
		w.mustReconcile()
	}
	if p := w.onlyPlan(); !intervened || p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Errorf("the plan that the other manager filled, and that is carried out (%t), is %q", intervened, p.Status.Phase)
	}
	must.Equal(t, "the Subscription", ready(w.subscription("a")), "True Installed")
}

// outcome is what there is in the namespace in the end, without what differs from run to run.
func (w *world) outcome() string {
	w.t.Helper()
	var b strings.Builder
	for _, p := range w.plans() {
		fmt.Fprintf(&b, "plan %d: %s %v, %d steps, owners", p.Spec.Generation, p.Status.Phase, p.Spec.ClusterServiceVersionNames, len(p.Status.Plan))
		for _, o := range p.OwnerReferences {
			b.WriteString(" " + o.Name)
		}
		b.WriteString("\n")
	}
	for _, name := range []string{"a", "b"} {
		sub := w.subscription(name)
		fmt.Fprintf(&b, "%s: %s %s %s %d %s\n", name, sub.Status.State, sub.Status.CurrentCSV, sub.Status.InstalledCSV, sub.Status.InstallPlanGeneration, ready(sub))
		for _, complaint := range contradictions(sub) {
			b.WriteString(complaint + "\n")
		}
	}
	return b.String()
}

// beforeUpgrade is a world in which two operators run, one of which needs the other, and newer versions of both are to be had.
func beforeUpgrade(t *testing.T) *world {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "b", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "A", "1.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0")+pkg("b", "B", "A", "1.0.0", "1.1.0"))
	return w
}

func beforeInstall(t *testing.T) *world {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "b", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "A", "1.0.0"))
	return w
}

// rest lets managers take turns until none of them has anything to write, and returns what they wrote.
func (w *world) rest(managers ...*Controller) []string {
	w.t.Helper()
	return w.Settle(w.t, func() error {
		for _, m := range managers {
			if _, err := m.Reconcile(w.t.Context(), request); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestTwoManagersTakeTurns lets a second manager do all that it wants to at each write of the first, before or after it, and lets the first
// be killed there or continue. In the end everything is as if there had been one.
func TestTwoManagersTakeTurns(t *testing.T) {
	for what, begin := range map[string]func(*testing.T) *world{"install": beforeInstall, "upgrade": beforeUpgrade} {
		undisturbed := begin(t)
		writes := len(undisturbed.rest(undisturbed.controller))
		want := undisturbed.outcome()
		if writes < 4 {
			t.Fatalf("there are only %d writes to come between", writes)
		}
		for n := 1; n <= writes; n++ {
			for _, killed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, write %d, killed %t", what, n, killed), func(t *testing.T) {
					w := begin(t)
					other, left := w.secondManager(), n
					w.Before = func(string) error {
						if left--; left != 0 {
							return nil
						}
						if _, err := other.Reconcile(t.Context(), request); err != nil {
							t.Errorf("the other manager: %v", err)
						}
						if killed {
							return fakeapi.ErrKilled
						}
						return nil
					}
					must.Equal(t, "the pass fails when killed", w.reconcile() != nil, killed)
					w.Before = nil
					w.rest(w.controller, other)
					must.Equal(t, "outcome", w.outcome(), want)
				})
			}
		}
	}
}

// TestANamespaceThatChangesWhileItIsRead lets a second manager do all that it wants to, and its plans be carried out, between any two of the
// reads by which the first makes sure what to write. One plan is made for each version all the same.
func TestANamespaceThatChangesWhileItIsRead(t *testing.T) {
	for what, begin := range map[string]func(*testing.T) *world{"install": beforeInstall, "upgrade": beforeUpgrade, "two upgrades": beforeUpgrades} {
		undisturbed := begin(t)
		undisturbed.carryOutAll(undisturbed.controller)
		want := undisturbed.outcome()
		for n := 1; ; n++ {
			w := begin(t)
			replaced := n%2 == 0
			reads := w.disturb((n+1)/2, replaced)
			t.Run(fmt.Sprintf("%s, read %d, replaced operators are gone: %t", what, (n+1)/2, replaced), func(t *testing.T) {
				w.t = t
				w.mustReconcile()
				w.controller.live = w.Server
				// Remove the operators that others have replaced.
				w.t.Helper()
				for _, p := range w.plans() {
					for _, lookup := range p.Status.BundleLookups {
						if w.has(lookup.Identifier) && w.has(lookup.Replaces) {
							w.removeCSV(lookup.Replaces)
						}
					}
				}
				w.carryOutAll(w.controller, w.secondManager())
				must.Equal(t, "outcome", w.outcome(), want)
			})
			if *reads < (n+1)/2 {
				if *reads < 4 {
					t.Errorf("%s: there are only %d reads to come between", what, *reads)
				}
				break
			}
		}
	}
}

// disturb lets a second manager do all that it wants to, and its plan be carried out, before the nth read past the cache. It counts them.
// The operators that are replaced may be there a little longer.
func (w *world) disturb(n int, replaced bool) *int {
	reads, other := new(int), w.secondManager()
	w.controller.live = fakeapi.Lists{Reader: w.Server, Before: func(client.ObjectList, string) error {
		if *reads++; *reads == n {
			if _, err := other.Reconcile(w.t.Context(), request); err != nil {
				w.t.Errorf("the other manager: %v", err)
			}
			w.carryOut(w.newestPlan(), !replaced)
		}
		return nil
	}}
	return reads
}

// carryOutAll lets managers take turns, and carries out what they plan, until nothing is planned any more.
func (w *world) carryOutAll(managers ...*Controller) {
	w.t.Helper()
	for range 10 {
		w.rest(managers...)
		p := w.newestPlan()
		if p.Status.Phase == v1alpha1.InstallPlanPhaseComplete {
			return
		}
		if name := p.Status.BundleLookups[0].Identifier; w.has(name) {
			w.t.Fatalf("InstallPlan %s with generation %d is for %s, which is installed:\n%s", p.Name, p.Spec.Generation, name, w.outcome())
		}
		w.carryOut(p)
	}
	w.t.Fatal("there is no end to the plans")
}

func (w *world) has(operator string) bool {
	w.t.Helper()
	if operator == "" {
		return false
	}
	err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: ns, Name: operator}, &v1alpha1.ClusterServiceVersion{})
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	return err == nil
}

// beforeUpgrades is a world in which an operator runs, and two newer versions of it are to be had, one after the other.
func beforeUpgrades(t *testing.T) *world {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "b", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "A", "1.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0", "1.2.0")+pkg("b", "B", "A", "1.0.0", "1.1.0", "1.2.0"))
	return w
}

// TestTwoManagersAtOnce work on one namespace at the same time.
func TestTwoManagersAtOnce(t *testing.T) {
	for what, begin := range map[string]func(*testing.T) *world{"install": beforeInstall, "upgrade": beforeUpgrade} {
		undisturbed := begin(t)
		undisturbed.rest(undisturbed.controller)
		want := undisturbed.outcome()
		for round := range 10 {
			t.Run(fmt.Sprintf("%s, round %d", what, round), func(t *testing.T) {
				w := begin(t)
				other := w.secondManager()
				var both sync.WaitGroup
				for _, m := range []*Controller{w.controller, other} {
					both.Go(func() {
						for range 10 {
							if _, err := m.Reconcile(t.Context(), request); err != nil && !apierrors.IsConflict(err) {
								t.Errorf("neither done nor in conflict: %v", err)
							}
						}
					})
				}
				both.Wait()
				w.rest(w.controller, other)
				must.Equal(t, "outcome", w.outcome(), want)
			})
		}
	}
}

// TestTwoManagersThatDecideDifferently: another manager, whose catalogs are newer, or whose bundles have not all arrived, decides and writes just before
// the first one does. No Subscription gets two plans, in which order ever the two write.
func TestTwoManagersThatDecideDifferently(t *testing.T) {
	for name, theirs := range map[string]string{
		"a newer catalog":                     pkg("a", "A", "", "1.0.0", "1.1.0") + pkg("b", "B", "", "1.0.0"),
		"only the second package":             pkg("b", "B", "", "1.0.0"),
		"only the first package, and a newer": pkg("a", "A", "", "1.0.0", "1.1.0"),
	} {
		for n := 1; n <= 4; n++ {
			t.Run(fmt.Sprintf("%s, write %d", name, n), func(t *testing.T) {
				w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "b", ""))
				other := w.secondManager()
				ours := w.controller.Catalogs
				w.controller.Catalogs = catalogstore.NewSet()
				other.Catalogs = w.controller.Catalogs
				w.serve("cat", theirs)
				w.controller.Catalogs = ours
				w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "", "1.0.0"))
				left := n
				w.Before = func(string) error {
					if left--; left == 0 {
						if _, err := other.Reconcile(t.Context(), request); err != nil {
							t.Errorf("the other manager: %v", err)
						}
					}
					return nil
				}
				w.mustReconcile()
				w.Before = nil
				w.mustReconcile()
				planned := map[string][]string{}
				generations := map[int]string{}
				for _, p := range w.plans() {
					if twin := generations[p.Spec.Generation]; twin != "" {
						t.Errorf("plans %s and %s are of generation %d", twin, p.Name, p.Spec.Generation)
					}
					generations[p.Spec.Generation] = p.Name
					for _, o := range p.OwnerReferences {
						planned[o.Name] = append(planned[o.Name], fmt.Sprintf("%s for %v", p.Name, p.Spec.ClusterServiceVersionNames))
					}
				}
				for _, sub := range []string{"a", "b"} {
					if len(planned[sub]) != 1 {
						t.Errorf("Subscription %s has %d plans: %v", sub, len(planned[sub]), planned[sub])
					}
				}
			})
		}
	}
}

// TestAResolutionIsCountedOnce: that a plan is written after another look at the namespace is no second resolution.
func TestAResolutionIsCountedOnce(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.onlyPlan()
	must.Equal(t, "count of resolutions", resolutions(t, w.controller.Metrics), 1)
}
