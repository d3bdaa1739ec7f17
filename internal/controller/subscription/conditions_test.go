package subscription

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// documented is a condition as it is documented: what brings it about, what it says word for word, and what takes it away.
type documented struct {
	kind    v1alpha1.SubscriptionConditionType
	set     func(w *world)
	says    string // status, reason and message, the latter as a regular expression
	mend    func(w *world)
	instead string // what it says then; nothing when empty, because it is gone
}

// deprecated is a catalog with one version of package a, of which something is deprecated.
func deprecated(reference string) string {
	text := pkg("a", "A", "", "1.0.0")
	if reference != "" {
		text += fmt.Sprintf("---\nschema: olm.deprecations\npackage: a\nentries:\n- {reference: {schema: %s}, message: use b}\n", reference)
	}
	return text
}

// supporting is package a with a phase of support that ends on a day.
func supporting(phase, ends string) string {
	return pkg("a", "A", "", "1.0.0") + fmt.Sprintf("---\nschema: %s\npackage: a\nversions:\n- {name: \"1.0\", phases: [{name: %s, endDate: %q}]}\n", catalog.SchemaLifecycles, phase, ends)
}

func (w *world) regroupAs(annotations map[string]string) {
	og := operatorGroup("og")
	must.NoError(w.t, w.client.Get(w.t.Context(), client.ObjectKeyFromObject(og), og))
	og.Annotations = annotations
	must.NoError(w.t, w.client.Update(w.t.Context(), og))
}

// TestDocumentedConditions goes through the documented conditions, and those that Fairlead adds, one by one.
func TestDocumentedConditions(t *testing.T) {
	one := func(w *world) { w.serve("cat", pkg("a", "A", "", "1.0.0")) }
	planned := func(w *world) { one(w); w.mustReconcile() }
	installed := func(w *world) { planned(w); w.carryOut(w.onlyPlan()); w.mustReconcile() }
	newer := func(w *world) { installed(w); w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0")) }
	phase := func(p v1alpha1.InstallPlanPhase) func(w *world) {
		return func(w *world) { planned(w); w.setPhase(w.onlyPlan(), p) }
	}
	csv := func(p v1alpha1.ClusterServiceVersionPhase) func(w *world) {
		return func(w *world) { installed(w); w.setCSVPhase("a.v1.0.0", p) }
	}
	serving := func(reference string) func(w *world) {
		return func(w *world) { w.serve("cat", deprecated(reference)) }
	}
	found := func(change func(g *group)) func(w *world) { return func(w *world) { one(w); w.tamper = change } }
	complete := func(w *world) { w.carryOut(w.newestPlan()) }
	succeeds := func(w *world) { w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseSucceeded) }
	nothing := func(w *world) {}
	dead := func(w *world) { w.publish("cat", catalogstore.Entry{Problem: "refused"}) }
	const (
		catalogs, missing      = v1alpha1.SubscriptionCatalogSourcesUnhealthy, v1alpha1.SubscriptionInstallPlanMissing
		pending, failed        = v1alpha1.SubscriptionInstallPlanPending, v1alpha1.SubscriptionInstallPlanFailed
		resolutionFailed       = v1alpha1.SubscriptionResolutionFailed
		unpacking, unpackFails = v1alpha1.SubscriptionBundleUnpacking, v1alpha1.SubscriptionBundleUnpackFailed
		healthy                = "False AllCatalogSourcesHealthy all available catalogsources are healthy"
	)
	tests := map[string]documented{
		"no catalog in view":     {catalogs, func(w *world) { w.remove(catalogSource("cat")); w.remove(catalogSource("other")) }, "True NoCatalogSourcesFound dependency resolution requires at least one catalogsource", func(w *world) { w.add(catalogSource("cat")); one(w) }, healthy},
		"its catalog is missing": {catalogs, func(w *world) { w.remove(catalogSource("cat")) }, "True UnhealthyCatalogSourceFound targeted catalogsource ns/cat missing", func(w *world) { w.add(catalogSource("cat")); one(w) }, healthy},
		"its catalog fails":      {catalogs, dead, "True UnhealthyCatalogSourceFound targeted catalogsource ns/cat unhealthy", one, healthy},
		"why its catalog fails":  {catalogProblemCondition, dead, "True TargetUnhealthy CatalogSource ns/cat has no content to install from: refused; see the status of the CatalogSource", one, ""},
		"its catalog is loaded":  {catalogs, nothing, "Unknown CatalogSourceLoading CatalogSource ns/cat is being loaded", one, healthy},
		"its plan is gone":       {missing, func(w *world) { installed(w); w.remove(w.onlyPlan()) }, "True ReferencedInstallPlanNotFound ", func(w *world) { w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0")) }, ""},
		"a plan without phase": {pending, func(w *world) {
			planned(w)
			p := w.onlyPlan()
			w.tamper = func(g *group) { g.installPlan = p; p.Status = v1alpha1.InstallPlanStatus{} }
		}, "True InstallPlanNotYetReconciled ", complete, ""},
		"no plan yet":                {pending, found(func(*group) {}), "True InstallPlanNotYetReconciled a.v1.0.0 is available; its InstallPlan is about to be written", func(w *world) { w.mustReconcile(); complete(w) }, ""},
		"gets on":                    {reconcilingCondition, phase("Installing"), "True InstallPlanPending InstallPlan install-.* is being carried out", complete, ""},
		"a plan is made":             {pending, phase("Planning"), "True Planning ", complete, ""},
		"a plan is carried out":      {pending, phase("Installing"), "True Installing ", complete, ""},
		"a plan waits":               {pending, phase("RequiresApproval"), "True RequiresApproval ", complete, ""},
		"the operator is on its way": {pending, csv("Pending"), "True Installing ClusterServiceVersion a.v1.0.0 is Pending: not reconciled yet", succeeds, ""},
		"a plan failed":              {failed, func(w *world) { planned(w); w.fail(w.onlyPlan()) }, "True InstallComponentFailed refused", complete, ""},
		"a plan failed and says no more": {failed, func(w *world) {
			planned(w)
			p := w.onlyPlan()
			p.Status.SetCondition(v1alpha1.InstallPlanCondition{Type: v1alpha1.InstallPlanInstalled, Status: corev1.ConditionUnknown}, metav1.Time{Time: w.Clock.Now()})
			w.setPhase(p, v1alpha1.InstallPlanPhaseFailed)
		}, "True InstallPlanFailed ", complete, ""},
		"the operator failed":        {failed, csv("Failed"), "True InstallCheckFailed ClusterServiceVersion a.v1.0.0 is Failed: not reconciled yet", succeeds, ""},
		"no answer":                  {resolutionFailed, func(w *world) { w.serve("cat", pkg("b", "B", "", "1.0.0")) }, "True ConstraintsNotSatisfiable (?s).*no operators found in package a in the catalog referenced by subscription a.*", one, ""},
		"no OperatorGroup":           {resolutionFailed, func(w *world) { one(w); w.remove(operatorGroup("og")) }, "True ErrorPreventedResolution expected 1 OperatorGroup in the namespace, found 0: create one.*", func(w *world) { w.add(operatorGroup("og")) }, ""},
		"too long to decide":         {resolutionFailed, found(func(g *group) { g.Err, g.Choices = errors.New("it takes too long"), nil }), "True ErrorPreventedResolution it takes too long", nothing, ""},
		"a bundle is fetched":        {unpacking, found(func(g *group) { g.fetching = []string{"a.v1.0.0"} }), "True UnpackingInProgress fetching a.v1.0.0", nothing, ""},
		"a bundle cannot be fetched": {unpackFails, found(func(g *group) { g.failures = []fetchFailure{{err: errors.New("fetch: denied")}} }), "True BundleUnpackFailed Bundle unpacking failed - [A-Z][A-Za-z]+: fetch: denied", nothing, ""},
		"a bundle is broken":         {unpackFails, found(func(g *group) { g.problem = "it has no kind" }), "True ErrorPreventedUnpacking it has no kind", nothing, ""},
		"a plan cannot be written":   {unpackFails, found(func(g *group) { g.unwritten = "quota" }), "True EnsureInstallPlanFailed error ensuring InstallPlan: quota", nothing, ""},
		"the package is deprecated":  {v1alpha1.SubscriptionPackageDeprecated, serving("olm.package"), "True  olm.package/a: use b", serving(""), ""},
		"the channel is deprecated":  {v1alpha1.SubscriptionChannelDeprecated, serving("olm.channel, name: stable"), "True  olm.channel/stable: use b", serving(""), ""},
		"no channel is asked for, and the default channel is deprecated": {v1alpha1.SubscriptionChannelDeprecated, func(w *world) {
			serving("olm.channel, name: stable")(w)
			w.follow("a", "")
		}, "True  olm.channel/stable: use b", serving(""), ""},
		"the bundle is deprecated": {v1alpha1.SubscriptionBundleDeprecated, func(w *world) { installed(w); serving("olm.bundle, name: a.v1.0.0")(w) }, "True  olm.bundle/a.v1.0.0: use b", serving(""), ""},
		"all that is deprecated": {v1alpha1.SubscriptionDeprecated, func(w *world) {
			installed(w)
			w.serve("cat", deprecated("olm.package")+"- {reference: {schema: olm.bundle, name: a.v1.0.0}, message: no more}\n")
		}, "True  olm.package/a: use b; olm.bundle/a.v1.0.0: no more", serving(""), ""},
		"the version is supported": {v1alpha1.SubscriptionSupported, func(w *world) { installed(w); w.serve("cat", supporting("Full", "2999-12-31")) },
			"True Supported Full, supported until 2999-12-31", one, ""},
		"support has ended": {v1alpha1.SubscriptionSupported, func(w *world) { installed(w); w.serve("cat", supporting("Full", "2001-12-31")) },
			"False Ended support ended on 2001-12-31", one, ""},
		"support cannot be read": {v1alpha1.SubscriptionSupported, func(w *world) { installed(w); w.serve("cat", supporting("Full", "soon")) },
			`Unknown NoData no data: read object of schema "io.openshift.operators.lifecycles.v1alpha1" of package "a" .*endDate "soon" is no date.*`, one, ""},
		"Ready":                            {readyCondition, installed, "True Installed ClusterServiceVersion a.v1.0.0 is installed and running", func(w *world) { w.setCSVPhase("a.v1.0.0", "Installing") }, "False Installing ClusterServiceVersion a.v1.0.0 is Installing: not reconciled yet"},
		"Stalled":                          {stalledCondition, csv("Failed"), "True Failed ClusterServiceVersion a.v1.0.0 is Failed: not reconciled yet", succeeds, ""},
		"something newer is held back":     {heldBackCondition, func(w *world) { newer(w); w.annotate("a", resolution.VersionRangeAnnotation, "<1.1.0") }, "True VersionRange a.v1.1.0 is available, and annotation .* allows only versions in <1.1.0", func(w *world) { w.annotate("a", resolution.VersionRangeAnnotation, "") }, ""},
		"a range that cannot be read":      {heldBackCondition, func(w *world) { newer(w); w.annotate("a", resolution.VersionRangeAnnotation, "one") }, "True VersionRangeInvalid annotation .* is not a range .*", func(w *world) { w.annotate("a", resolution.VersionRangeAnnotation, "") }, ""},
		"nothing leads to what is offered": {heldBackCondition, func(w *world) { installed(w); w.serve("cat", pkg("a", "A", "", "2.0.0")) }, "True NoUpgradePath (?s).*no entry of channel stable of package a upgrades from the installed a.v1.0.0.*", one, ""},
		"it needs what is nowhere":         {heldBackCondition, func(w *world) { newer(w); w.serve("cat", pkg("a", "A", "Nowhere", "1.0.0", "1.1.0")) }, "True NewerVersionNotPossible (?s).*so a.v1.1.0 cannot be had.*", one, ""},
		"an annotation that says nothing":  {misreadCondition, func(w *world) { w.regroupAs(map[string]string{snapshot.TogetherAnnotation: "1"}) }, `True NeitherTrueNorFalse annotation .*resolve-together of OperatorGroup og has the value "1" and is taken for "false".*`, func(w *world) { w.regroupAs(nil) }, ""},
	}
	seen := map[v1alpha1.SubscriptionConditionType]bool{}
	states := map[string]any{}
	for name, tc := range tests {
		seen[tc.kind] = true
		t.Run(name, func(t *testing.T) { states[name] = tc.check(t) })
	}
	golden.States(t, "testdata/states.txtar", v1alpha1.GroupVersion.String(), v1alpha1.SubscriptionKind, states)
	for _, kind := range owned {
		if !seen[kind] {
			t.Errorf("condition %s is not in the table", kind)
		}
	}
}

// check returns the Subscription as it was when the condition was there.
func (d documented) check(t *testing.T) *v1alpha1.Subscription {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), catalogSource("other"), subscribe("a", "a", ""))
	w.serve("other", pkg("unrelated", "Unrelated", "", "1.0.0"))
	says := func(when, want string) v1alpha1.SubscriptionCondition {
		t.Helper()
		for _, complaint := range contradictions(w.subscription("a")) {
			t.Errorf("%s: %s", when, complaint)
		}
		for _, c := range w.subscription("a").Status.Conditions {
			if text := fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message); c.Type == d.kind && want != "" && regexp.MustCompile("^"+want+"$").MatchString(text) {
				return c
			} else if c.Type == d.kind {
				t.Errorf("%s, %s is %q, want %q", when, d.kind, text, want)
				return c
			}
		}
		must.Equal(t, "there is no", want, "")
		return v1alpha1.SubscriptionCondition{Type: d.kind, Status: corev1.ConditionUnknown}
	}
	look := func() {
		if w.tamper != nil {
			w.tampered("a")
			w.tamper = nil
			return
		}
		w.mustReconcile()
	}
	d.set(w)
	look()
	first, found := says("once it is so", d.says), w.subscription("a")
	w.Clock.Step(time.Minute)
	d.mend(w)
	w.mustReconcile()
	if after := says("when it is so no more", d.instead); d.instead != "" && !first.LastTransitionTime.Before(after.LastTransitionTime) {
		t.Errorf("its time of transition is %v, and was %v", after.LastTransitionTime, first.LastTransitionTime)
	}
	return found
}

// TestSupportEnds: the condition changes when the phase ends, without another event, and nothing is written before that.
func TestSupportEnds(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	today := w.Clock.Now()
	w.serve("cat", supporting("Full", today.Format(time.DateOnly)))
	w.mustReconcile()
	w.carryOut(w.newestPlan())
	w.setCSVPhase("a.v1.0.0", v1alpha1.CSVPhaseSucceeded)
	result := must.Value(w.controller.Reconcile(t.Context(), request))(t)
	ends := today.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	if wait := ends.Sub(today); result.RequeueAfter > wait || result.RequeueAfter < wait-time.Minute {
		t.Errorf("it is due in %s, and the phase ends in %s", result.RequeueAfter, wait)
	}
	status := func() string {
		return string(w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionSupported).Status)
	}
	must.Equal(t, "in the phase", status(), "True")
	w.Clock.SetTime(ends)
	w.mustReconcile()
	must.Equal(t, "after it", status(), "False")
}

// TestFailedThatGoesOn: an operator that has failed is stalled, unless its ClusterServiceVersion reports that it goes on by itself.
func TestFailedThatGoesOn(t *testing.T) {
	csv := &v1alpha1.ClusterServiceVersion{}
	csv.Status.Phase = v1alpha1.CSVPhaseFailed
	must.Equal(t, "failed", failed(csv), true)
	csv.Status.Conditions = []v1alpha1.ClusterServiceVersionCondition{{Type: "Ready", Status: "False"}, {Type: "Stalled", Status: "True"}}
	must.Equal(t, "stalled", failed(csv), true)
	csv.Status.Conditions[1].Type = "Reconciling"
	must.Equal(t, "goes on", failed(csv), false)
	must.Equal(t, "absent", failed(nil), false)
}
