package subscription

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func ready(sub *v1alpha1.Subscription) string {
	c := sub.Status.GetCondition(readyCondition)
	return string(c.Status) + " " + c.Reason
}

func TestInstallAndUpgrade(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalAutomatic))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	p := w.onlyPlan()
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || !p.Spec.Approved {
		t.Errorf("the plan is %q, approved %t; an automatic one starts at once", p.Status.Phase, p.Spec.Approved)
	}
	var steps []string
	for _, s := range p.Status.Plan {
		steps = append(steps, s.Resource.Kind)
	}
	must.Equal(t, "steps", steps, []string{"ClusterServiceVersion", "ConfigMap", "ServiceAccount", "Role", "RoleBinding"})
	sub := w.subscription("a")
	if sub.Status.State != v1alpha1.SubscriptionStateUpgradePending || sub.Status.CurrentCSV != "a.v1.0.0" || sub.Status.InstallPlanRef.Name != p.Name {
		t.Errorf("while the plan is carried out the status is %+v", sub.Status)
	}
	w.carryOut(p)
	w.mustReconcile()
	sub = w.subscription("a")
	if sub.Status.State != v1alpha1.SubscriptionStateAtLatest || sub.Status.InstalledCSV != "a.v1.0.0" || ready(sub) != "True Installed" {
		t.Errorf("once installed the status is %+v", sub.Status)
	}
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
	w.mustReconcile()
	if sub = w.subscription("a"); sub.Status.CurrentCSV != "a.v1.1.0" || sub.Status.InstalledCSV != "a.v1.0.0" || ready(sub) != "False InstallPlanPending" {
		t.Errorf("while it is upgraded the status is %+v; what was asked for does not run yet", sub.Status)
	}
	newer := w.plans()[0]
	if newer.Name == p.Name {
		newer = w.plans()[1]
	}
	if newer.Spec.Generation != 2 || newer.Status.BundleLookups[0].Replaces != "a.v1.0.0" {
		t.Errorf("the plan of the upgrade has generation %d and replaces %q", newer.Spec.Generation, newer.Status.BundleLookups[0].Replaces)
	}
	w.carryOut(&newer)
	w.mustReconcile()
	if sub = w.subscription("a"); sub.Status.InstalledCSV != "a.v1.1.0" || sub.Status.State != v1alpha1.SubscriptionStateAtLatest {
		t.Errorf("once upgraded the status is %+v", sub.Status)
	}
}

func TestNothingIsWrittenWhenNothingChanged(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "nobody", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	w.Taken()
	w.Clock.Step(1e12)
	w.mustReconcile()
	must.Empty(t, "writes of a second pass", w.Writes())
}

func TestKilledAtEveryWrite(t *testing.T) {
	for n := 1; n < 20; n++ {
		w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "b", ""))
		w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "A", "1.0.0"))
		w.KillAt(n, false)
		failed := w.reconcile() != nil
		w.KillAt(0, false)
		w.mustReconcile()
		p := w.onlyPlan()
		if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || len(p.Status.Plan) == 0 {
			t.Errorf("killed at write %d: the plan is %q with %d steps after the next look", n, p.Status.Phase, len(p.Status.Plan))
		}
		for _, name := range []string{"a", "b"} {
			if sub := w.subscription(name); sub.Status.InstallPlanRef == nil || sub.Status.InstallPlanRef.Name != p.Name {
				t.Errorf("killed at write %d: Subscription %s does not refer to the plan", n, name)
			}
		}
		if !failed {
			if n < 4 {
				t.Fatalf("there were only %d writes to be killed at; that is too few", n-1)
			}
			return // every write has had its turn
		}
	}
	t.Fatal("there is no end to the writes")
}

func TestDependencyGetsASubscription(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("b", "b", v1alpha1.ApprovalManual))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "A", "1.0.0"))
	w.mustReconcile()
	p := w.onlyPlan()
	must.Equal(t, "the plan installs", p.Spec.ClusterServiceVersionNames, []string{"a.v1.0.0", "b.v1.0.0"})
	if p.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval || p.Spec.Approved {
		t.Errorf("a manual plan is %q, approved %t", p.Status.Phase, p.Spec.Approved)
	}
	must.Equal(t, "Subscription", ready(w.subscription("b")), "False RequiresApproval")
	w.carryOut(p)
	w.mustReconcile()
	generated := w.subscription("a-stable-cat-ns")
	if generated.Status.InstalledCSV != "a.v1.0.0" || generated.Status.InstallPlanRef.Name != p.Name || ready(generated) != "True Installed" {
		t.Errorf("the Subscription of the dependency says %+v", generated.Status)
	}
	if len(w.plans()) != 1 {
		t.Errorf("the new Subscription led to %d plans", len(w.plans()))
	}
}

func TestOperatorGroups(t *testing.T) {
	w := newWorld(t, catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	failed := w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionResolutionFailed)
	if failed.Status != corev1.ConditionTrue || !strings.Contains(failed.Message, "expected 1 OperatorGroup in the namespace, found 0") {
		t.Errorf("without an OperatorGroup: %+v", failed)
	}
	one, two := operatorGroup("one"), operatorGroup("two")
	w.add(one)
	w.add(two)
	w.mustReconcile()
	if failed = w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionResolutionFailed); !strings.Contains(failed.Message, "found 2: delete all but one") {
		t.Errorf("with two OperatorGroups: %+v", failed)
	}
	must.Empty(t, "plans", w.plans())
	w.remove(two)
	w.mustReconcile()
	if failed = w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionResolutionFailed); failed.Status != corev1.ConditionUnknown {
		t.Errorf("with one OperatorGroup the condition is still there: %+v", failed)
	}
	w.onlyPlan()
}

func TestBrokenBundle(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	good := pkg("a", "A", "", "1.0.0")
	// The bundle says that it is a.v1.0.0, but its manifests are of another version.
	w.serve("cat", strings.ReplaceAll(good, "a.v1.0.0", "a.v1.0.9"))
	w.mustReconcile()
	sub := w.subscription("a")
	failed := sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed)
	if failed.Status != corev1.ConditionTrue || !strings.Contains(failed.Message, "a.v1.0.9") || ready(sub) != "False BundleUnpackFailed" {
		t.Errorf("a bundle that is not what the catalog says: %+v, ready %q", failed, ready(sub))
	}
	if sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpacking).Status == corev1.ConditionTrue {
		t.Error("unpacking and unpack failed at the same time")
	}
	w.serve("cat", good)
	w.mustReconcile()
	if sub = w.subscription("a"); sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed).Status == corev1.ConditionTrue {
		t.Error("the condition outlives its cause")
	}
	w.onlyPlan()
}

func TestDeletedOperatorIsLeftAlone(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	p := w.onlyPlan()
	w.carryOut(p)
	w.mustReconcile()
	w.remove(&v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a.v1.0.0"}})
	w.mustReconcile()
	sub := w.subscription("a")
	if len(w.plans()) != 1 || sub.Status.State != v1alpha1.SubscriptionStateUpgradePending || ready(sub) != "False OperatorDeleted" {
		t.Errorf("an operator that was deleted came back: %d plans, %+v", len(w.plans()), sub.Status)
	}
	w.remove(p)
	w.mustReconcile()
	must.Equal(t, "generation of the plan after the deletion of the first", w.onlyPlan().Spec.Generation, 2)
}

func TestUnapprovedPlanIsSuperseded(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	first := w.onlyPlan().Name
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
	w.mustReconcile()
	p := w.onlyPlan()
	if p.Name == first || !slices.Contains(p.Spec.ClusterServiceVersionNames, "a.v1.1.0") {
		t.Errorf("after a newer version appeared the plan is %s for %v", p.Name, p.Spec.ClusterServiceVersionNames)
	}
	p.Spec.Approved = true
	must.NoError(t, w.client.Update(t.Context(), p))
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0", "1.2.0"))
	w.mustReconcile()
	must.Equal(t, "plan after the approval", w.onlyPlan().Name, p.Name)
}

// TestAPlanThatWaitsForAGroupIsSuperseded: it may wait for ever, and says that it begins before it does; then it is under way.
func TestAPlanThatWaitsForAGroupIsSuperseded(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	held := func(p *v1alpha1.InstallPlan) {
		t.Helper()
		p.Status.Message = "waiting for an OperatorGroup that fits: ..."
		p.Status.SetCondition(v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonInstallCheckFailed, p.Status.Message), metav1.Now())
		must.NoError(t, w.client.Status().Update(t.Context(), p))
	}
	first := w.onlyPlan()
	held(first)
	w.mustReconcile()
	must.Equal(t, "plan while nothing else is desired", w.onlyPlan().Name, first.Name)
	must.Equal(t, "Subscription", w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionInstallPlanPending).Message, first.Status.Message)
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
	w.mustReconcile()
	second := w.onlyPlan()
	if second.Name == first.Name || !slices.Contains(second.Spec.ClusterServiceVersionNames, "a.v1.1.0") {
		t.Errorf("after a newer version appeared the plan is %s for %v", second.Name, second.Spec.ClusterServiceVersionNames)
	}
	second.Status.StartTime = new(metav1.Now())
	held(second)
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0", "1.2.0"))
	w.mustReconcile()
	must.Equal(t, "plan after it has begun", w.onlyPlan().Name, second.Name)
}

func TestFailedPlanIsRepeatedOnlyForOtherContent(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.fail(w.onlyPlan())
	w.mustReconcile()
	if sub := w.subscription("a"); len(w.plans()) != 1 || ready(sub) != "False InstallPlanFailed" {
		t.Errorf("after a failure there are %d plans and the Subscription says %q", len(w.plans()), ready(sub))
	}
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.0.1"))
	w.mustReconcile()
	if len(w.plans()) != 2 {
		t.Errorf("a newer version led to %d plans, want a second one", len(w.plans()))
	}
}

func TestFailedPlanIsRepeatedAfterAWhile(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.fail(w.onlyPlan())
	result, err := w.controller.Reconcile(t.Context(), request)
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > repeatFailed {
		t.Errorf("looked at again after %s, %v; want %s at most", result.RequeueAfter, err, repeatFailed)
	}
	w.Clock.Step(repeatFailed + time.Second)
	w.mustReconcile()
	if len(w.plans()) != 2 {
		t.Fatalf("after %s there are %d plans, want a second one", repeatFailed, len(w.plans()))
	}
	w.mustReconcile()
	if len(w.plans()) != 2 {
		t.Errorf("the second plan is not waited for: there are %d", len(w.plans()))
	}
}

func TestManualDoesNotSpread(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual), subscribe("c", "c", v1alpha1.ApprovalAutomatic))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("c", "C", "", "1.0.0"))
	w.mustReconcile()
	phases := map[string]v1alpha1.InstallPlanPhase{}
	for _, p := range w.plans() {
		phases[p.Spec.ClusterServiceVersionNames[0]] = p.Status.Phase
	}
	want := map[string]v1alpha1.InstallPlanPhase{"a.v1.0.0": v1alpha1.InstallPlanPhaseRequiresApproval, "c.v1.0.0": v1alpha1.InstallPlanPhaseInstalling}
	must.Equal(t, "plans", phases, want)
}

func TestTogether(t *testing.T) {
	og := operatorGroup("og")
	og.Annotations = map[string]string{snapshot.TogetherAnnotation: "true"}
	w := newWorld(t, og, catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual), subscribe("c", "c", v1alpha1.ApprovalAutomatic))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("c", "C", "", "1.0.0"))
	w.mustReconcile()
	if p := w.onlyPlan(); p.Spec.Approval != v1alpha1.ApprovalManual || len(p.Spec.ClusterServiceVersionNames) != 2 {
		t.Errorf("together there is one manual plan for all, got %+v", p.Spec)
	}
}

func TestLargeManifestsAreReferences(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	for _, s := range w.onlyPlan().Status.Plan {
		if len(s.Resource.Manifest) > bundleio.InlineLimit {
			t.Errorf("the manifest of %s %s takes %d bytes of the plan", s.Resource.Kind, s.Resource.Name, len(s.Resource.Manifest))
		}
		_, reference := bundleio.ParseReference(s.Resource.Manifest)
		must.Equal(t, s.Resource.Kind+" "+s.Resource.Name+" is a reference", reference, s.Resource.Kind == v1alpha1.ClusterServiceVersionKind)
	}
}

func TestOldPlansAreCollected(t *testing.T) {
	mine := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mine"}, Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseComplete}}
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), mine)
	versions := []string{"1.0.0"}
	for i := range 9 {
		w.serve("cat", pkg("a", "A", "", versions...))
		w.mustReconcile()
		for _, p := range w.plans() {
			if p.Status.Phase == v1alpha1.InstallPlanPhaseInstalling {
				w.carryOut(&p)
			}
		}
		w.mustReconcile()
		versions = append(versions, fmt.Sprintf("1.%d.0", i+1))
	}
	plans := w.plans()
	if len(plans) > keptPlans+2 {
		t.Errorf("%d plans are kept", len(plans))
	}
	if !slices.ContainsFunc(plans, func(p v1alpha1.InstallPlan) bool { return p.Name == mine.Name }) {
		t.Error("a plan that somebody wrote by hand was collected")
	}
	if ref := w.subscription("a").Status.InstallPlanRef.Name; !slices.ContainsFunc(plans, func(p v1alpha1.InstallPlan) bool { return p.Name == ref }) {
		t.Error("the plan that the Subscription refers to was collected")
	}
}

func TestMissingCatalog(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), subscribe("a", "a", ""))
	w.mustReconcile()
	sub := w.subscription("a")
	if c := sub.Status.GetCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy); c.Status != corev1.ConditionTrue || c.Reason != v1alpha1.SubscriptionReasonNoCatalogSourcesFound {
		t.Errorf("without any catalog: %+v", c)
	}
	w.add(catalogSource("other"))
	w.mustReconcile()
	must.Equal(t, "without its own catalog", w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy).Message, "targeted catalogsource ns/cat missing")
	w.add(catalogSource("cat"))
	w.mustReconcile()
	sub = w.subscription("a")
	if c := sub.Status.GetCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy); c.Status != corev1.ConditionUnknown || c.Reason != reasonCatalogLoading ||
		ready(sub) != "False CatalogLoading" || sub.Status.GetCondition(v1alpha1.SubscriptionResolutionFailed).Status == corev1.ConditionTrue {
		t.Errorf("while its catalog is being loaded: %+v", sub.Status.Conditions)
	}
	w.publish("cat", catalogstore.Entry{Problem: "connection refused"})
	w.mustReconcile()
	if c := w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy); c.Status != corev1.ConditionTrue ||
		c.Message != "targeted catalogsource ns/cat unhealthy" {
		t.Errorf("when its catalog cannot be had: %+v", c)
	}
	if c := w.subscription("a").Status.GetCondition(catalogProblemCondition); c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "connection refused") {
		t.Errorf("the reason why its catalog cannot be had: %+v", c)
	}
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	must.Equal(t, "once its catalog has content", w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy).Status, corev1.ConditionFalse)
}

func TestDeprecations(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+`---
schema: olm.deprecations
package: a
entries:
- {reference: {schema: olm.package}, message: use b}
- {reference: {schema: olm.channel, name: stable}, message: use fast}
- {reference: {schema: olm.bundle, name: a.v1.0.0}, message: too old}
`)
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	w.mustReconcile()
	got := map[string]string{}
	for _, c := range w.subscription("a").Status.Conditions {
		if strings.HasSuffix(string(c.Type), "Deprecated") {
			got[string(c.Type)] = c.Message
		}
	}
	want := map[string]string{
		"PackageDeprecated": "olm.package/a: use b",
		"ChannelDeprecated": "olm.channel/stable: use fast",
		"BundleDeprecated":  "olm.bundle/a.v1.0.0: too old",
		"Deprecated":        "olm.package/a: use b; olm.channel/stable: use fast; olm.bundle/a.v1.0.0: too old",
	}
	must.Equal(t, "conditions", got, want)
}

func TestAPlanLeftWithoutStepsIsReplacedWhenTheDecisionChanged(t *testing.T) {
	changes := map[string]string{
		"a newer version":              pkg("a", "A", "", "1.0.0", "1.1.0"),
		"the same version, other text": pkg("a", "A", "", "1.0.0") + "# again\n",
	}
	for name, newer := range changes {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
			w.serve("cat", pkg("a", "A", "", "1.0.0"))
			w.KillAt(2, false) // the plan is there, its steps are not
			if w.reconcile() == nil {
				t.Fatal("the second write did not fail")
			}
			w.serve("cat", newer)
			w.mustReconcile()
			if p := w.onlyPlan(); p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || len(p.Status.Plan) == 0 {
				t.Errorf("the plan is %q with %d steps", p.Status.Phase, len(p.Status.Plan))
			}
		})
	}
}

func TestAPendingPlanGoesWithTheSubscriptionThatAskedForPartOfIt(t *testing.T) {
	b := subscribe("b", "b", v1alpha1.ApprovalManual)
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual), b)
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "A", "1.0.0"))
	w.mustReconcile()
	if p := w.onlyPlan(); len(p.Spec.ClusterServiceVersionNames) != 2 {
		t.Fatalf("the plan of both installs %v", p.Spec.ClusterServiceVersionNames)
	}
	w.remove(b)
	w.mustReconcile()
	must.Equal(t, "after one Subscription is gone the plan still installs", w.onlyPlan().Spec.ClusterServiceVersionNames, []string{"a.v1.0.0"})
}

func TestAnotherApprovalMakesAnotherPlan(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	sub := w.subscription("a")
	sub.Spec.InstallPlanApproval = v1alpha1.ApprovalAutomatic
	must.NoError(t, w.client.Update(t.Context(), sub))
	w.mustReconcile()
	if p := w.onlyPlan(); !p.Spec.Approved || p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling {
		t.Errorf("once approval is automatic the plan is %q, approved %t", p.Status.Phase, p.Spec.Approved)
	}
}

func TestTheNextUpgradeWaitsForThePlanUnderWay(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	first := w.onlyPlan()
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
	w.mustReconcile()
	c := w.subscription("a").Status.GetCondition(readyCondition)
	if p := w.onlyPlan(); p.Name != first.Name || !strings.Contains(c.Message, "a.v1.1.0 is available; InstallPlan "+first.Name+" has to be complete first") {
		t.Errorf("plan %s, message %q", p.Name, c.Message)
	}
}
