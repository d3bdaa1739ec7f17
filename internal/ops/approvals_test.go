package ops

import (
	"context"
	"errors"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const asksForMore = "kite.v2 asks for permissions that kite.v1 does not have:\n  + get secrets\nto allow them: fairlead approve kite, or set annotation operators.fairlead.dev/acknowledged-permissions of ClusterExtension kite to \"sha256:1\""

// twoTogether is a plan for two Subscriptions, that waits, and what one of them brings along.
func twoTogether() []client.Object {
	sub := func(name, pkg string) *v1alpha1.Subscription {
		s := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name, UID: types.UID("uid-" + name)}, Spec: &v1alpha1.SubscriptionSpec{Package: pkg}}
		s.Status.InstallPlanRef = &corev1.ObjectReference{Name: "install-1"}
		return s
	}
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1", UID: "plan", Annotations: map[string]string{
		resolution.DecisionAnnotation: `{"requests":[],"outcome":{"install":[{"name":"tail.v3","package":"tail","version":"3.0.0","replaces":"tail.v2"}]}}`}}}
	plan.Spec.ClusterServiceVersionNames = []string{"kite.v2", "string.v1", "tail.v3"}
	plan.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	plan.Status.Message = v1alpha1.ApproveWithCare + "version v1 goes"
	plan.Status.BundleLookups = []v1alpha1.BundleLookup{
		{Identifier: "kite.v2", Replaces: "kite.v1", Properties: `{"properties":[{"type":"olm.package","value":{"packageName":"kite","version":"2.0.0"}}]}`},
		{Identifier: "string.v1", Properties: "<script>"}}
	installed := sub("done", "done") // it has what the plan brings along, and does not ask for the plan
	installed.Status.InstallPlanRef, installed.Status.InstalledCSV = nil, "string.v1"
	return []client.Object{sub("kite", "kite"), sub("tail", "tail"), installed, plan}
}

// TestListApprovals: plans with what they are for, extensions that ask for permissions, and upgrades that wait for their window; nothing else.
func TestListApprovals(t *testing.T) {
	held := func(o client.Object, reason string) client.Object {
		o.SetAnnotations(map[string]string{schedule.WindowKey: "never", HeldBeforeKey: "", HeldReasonKey: reason})
		return o
	}
	waiting := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "slow"}, Spec: &v1alpha1.SubscriptionSpec{}}
	waiting.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "True", Reason: upgradeHeld, Message: "upgrade held: by night"}}
	approved := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "done"}, Spec: v1alpha1.InstallPlanSpec{Approved: true}}
	approved.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	asks := newExtension("kite", "kite", func(e *olmv1.ClusterExtension) {
		e.Spec.Source.Catalog.Version = ">=1.0.0"
		e.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: "kite.v1"}}
		e.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeProgressing, Status: metav1.ConditionFalse, Reason: olmv1.ReasonBlocked, Message: asksForMore}}
	})
	older := newExtension("older", "kite", func(e *olmv1.ClusterExtension) {
		e.Generation = 2
		e.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeProgressing, Status: metav1.ConditionFalse, Message: asksForMore, ObservedGeneration: 1}}
	})
	objects := append(twoTogether(), held(waiting, "see INC-1"), approved, asks, older)

	a := must.Value(ListApprovals(t.Context(), catalogCluster(t, nil, objects...), ""))(t)
	must.Equal(t, "waiting", a.Waiting(), 2)
	must.Equal(t, "for", a.Plans[0].Subscriptions, []string{"kite", "tail"})
	must.Equal(t, "operators", a.Plans[0].Operators, []PendingOperator{
		{Name: "kite.v2", Replaces: "kite.v1", Package: "kite", Version: "2.0.0", Subscription: "kite"}, {Name: "string.v1"},
		{Name: "tail.v3", Replaces: "tail.v2", Package: "tail", Version: "3.0.0", Subscription: "tail"}})
	must.Contain(t, "advice", a.Plans[0].Advice, "approve with care")
	must.Equal(t, "extensions", len(a.Extensions), 1)
	if e := a.Extensions[0]; e.Name != "kite" || e.Digest != "sha256:1" || e.Installed != "kite.v1" || e.Version != ">=1.0.0" || e.Namespace != "ops" {
		t.Errorf("the extension is %+v", e)
	}
	must.Equal(t, "held", a.Held, []HeldUpgrade{{Kind: "Subscription", Namespace: "other", Name: "slow", Message: "upgrade held: by night", ByHand: true, Reason: "see INC-1"}})

	a = must.Value(ListApprovals(t.Context(), catalogCluster(t, nil, objects...), "other"))(t)
	must.Equal(t, "of another namespace", a.Waiting(), 0)
	must.Equal(t, "held there", len(a.Held), 1)

	c := catalogCluster(t, nil, objects...).(client.WithWatch)
	_, err := ListApprovals(t.Context(), c, "nowhere")
	must.Fail(t, "no such namespace", err, "read namespace nowhere: there is no such namespace")
	a = must.Value(ListApprovals(t.Context(), fakeapi.Tenant(c, "ops"), "nowhere"))(t)
	must.Equal(t, "a namespace that a tenant may not ask for", a.Waiting(), 0)
	a = must.Value(ListApprovals(t.Context(), fakeapi.Tenant(c, "ops"), "ops"))(t)
	must.Equal(t, "of a tenant", len(a.Plans), 1)
	must.Contain(t, "what a tenant does not see", a.Notes[0], "ClusterExtensions", "which of them wait is not shown")
}

// TestMarks: a plan that would do something else has another mark, and what only its status tells does not change it.
func TestMarks(t *testing.T) {
	plan := twoTogether()[3].(*v1alpha1.InstallPlan)
	w := WaitingPlan{Plan: plan.DeepCopy()}
	mark := w.Mark()
	must.NoError(t, w.Is(mark))
	must.NoError(t, w.Is(""))
	w.Plan.Status.Message, w.Plan.ResourceVersion = "another", "7"
	must.NoError(t, w.Is(mark))
	for name, change := range map[string]func(p *v1alpha1.InstallPlan){
		"another plan of the name": func(p *v1alpha1.InstallPlan) { p.UID = "other" },
		"another operator":         func(p *v1alpha1.InstallPlan) { p.Spec.ClusterServiceVersionNames[0] = "kite.v3" },
		"another step":             func(p *v1alpha1.InstallPlan) { p.Status.Plan = []*v1alpha1.Step{nil, {Resolving: "kite.v2"}} },
	} {
		other := WaitingPlan{Plan: plan.DeepCopy()}
		change(other.Plan)
		must.Fail(t, name, other.Is(mark), "InstallPlan ops/install-1 has changed since it was shown", "nothing was done")
	}
}

// TestDiscard deletes the plan that was read, and no other.
func TestDiscard(t *testing.T) {
	c := catalogCluster(t, nil, twoTogether()...)
	key := client.ObjectKey{Namespace: "ops", Name: "install-1"}
	w := must.Value(FindWaitingPlan(t.Context(), c, key))(t)
	there := func() bool { return c.Get(t.Context(), key, &v1alpha1.InstallPlan{}) == nil }
	must.NoError(t, w.Discard(t.Context(), c, true))
	must.Equal(t, "there after a dry run", there(), true)
	changed := w.Plan.DeepCopy()
	changed.Labels = map[string]string{"a": "b"}
	must.NoError(t, c.Update(t.Context(), changed))
	var meant *MeantError
	if err := w.Discard(t.Context(), c, false); !errors.As(err, &meant) {
		t.Errorf("a plan that has changed: %v", err)
	}
	w = must.Value(FindWaitingPlan(t.Context(), c, key))(t)
	must.NoError(t, w.Discard(t.Context(), c, false))
	must.Equal(t, "there", there(), false)
}

// TestRefuse: the range of the one that would get a version leaves it out, in each of its alternatives, and once.
func TestRefuse(t *testing.T) {
	for name, test := range map[string]struct{ is, refused, v0, v1, err string }{
		"no range":           {"", "2.0.0", "!=2.0.0", "!=2.0.0", ""},
		"a range":            {">=1.0.0 <3.0.0", "2.0.0+build", ">=1.0.0 <3.0.0 !=2.0.0", ">=1.0.0 <3.0.0, !=2.0.0", ""},
		"alternatives":       {"1.0.0 || >1.5.0 !=2.0.0", "2.0.0", "1.0.0 !=2.0.0 || >1.5.0 !=2.0.0", "1.0.0, !=2.0.0 || >1.5.0 !=2.0.0", ""},
		"refused already":    {"!=2.0.0", "2.0.0", "!=2.0.0", "!=2.0.0", ""},
		"no version":         {"", "<script>", "", "", "refuse version <script> for"},
		"a range that fails": {">>", "2.0.0", "", "", "correct the range that is there"},
	} {
		t.Run(name, func(t *testing.T) {
			sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}, Spec: &v1alpha1.SubscriptionSpec{}}
			if test.is != "" {
				sub.Annotations = map[string]string{resolution.VersionRangeAnnotation: test.is}
			}
			extension := newExtension("kite", "kite", func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Version = test.is })
			c := catalogCluster(t, nil, sub, extension)
			check := func(what, got string, err error, want string, live func() string) {
				t.Helper()
				if test.err != "" {
					must.Fail(t, what, err, test.err)
					want = test.is
				} else {
					must.NoError(t, err)
					must.Equal(t, what, got, want)
				}
				must.Equal(t, what+", of the object", live(), want)
			}
			key := client.ObjectKeyFromObject(sub)
			if test.err == "" {
				must.Value(RefuseForSubscription(t.Context(), c, key, test.refused, true))(t)
				must.NoError(t, c.Get(t.Context(), key, sub))
				must.Equal(t, "after a dry run", sub.Annotations[resolution.VersionRangeAnnotation], test.is)
			}
			within, err := RefuseForSubscription(t.Context(), c, key, test.refused, false)
			check("Subscription", within, err, test.v0, func() string {
				must.NoError(t, c.Get(t.Context(), key, sub))
				return sub.Annotations[resolution.VersionRangeAnnotation]
			})
			within, err = RefuseForExtension(t.Context(), c, "kite", test.refused, false)
			check("ClusterExtension", within, err, test.v1, func() string {
				must.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(extension), extension))
				return extension.Spec.Source.Catalog.Version
			})
		})
	}
}

// TestRefuseInAPlan: the plan goes with the version that is refused, unless it was replaced or approved meanwhile, or the user may not delete it.
func TestRefuseInAPlan(t *testing.T) {
	key := client.ObjectKey{Namespace: "ops", Name: "install-1"}
	for name, test := range map[string]struct {
		meanwhile func(p *v1alpha1.InstallPlan)
		forbidden bool
		stays     string
		there     bool
	}{
		"as it was read":     {nil, false, "", false},
		"another message":    {func(p *v1alpha1.InstallPlan) { p.Status.Message = "another" }, false, "", false},
		"approved meanwhile": {func(p *v1alpha1.InstallPlan) { p.Spec.Approved = true }, false, "it was approved meanwhile", true},
		"replaced meanwhile": {func(p *v1alpha1.InstallPlan) { p.UID = "another" }, false, "", true},
		"may not delete":     {nil, true, "installs that version when it is approved", true},
	} {
		t.Run(name, func(t *testing.T) {
			inner := catalogCluster(t, nil, twoTogether()...).(client.WithWatch)
			c := interceptor.NewClient(inner, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
				if test.forbidden {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "installplans"}, o.GetName(), nil)
				}
				return c.Delete(ctx, o, options...)
			}})
			w := must.Value(FindWaitingPlan(t.Context(), c, key))(t)
			if test.meanwhile != nil {
				live := w.Plan.DeepCopy()
				test.meanwhile(live)
				must.NoError(t, inner.Update(t.Context(), live))
			}
			within, stays, err := w.Refuse(t.Context(), c, "kite", "2.0.0")
			must.NoError(t, err)
			must.Equal(t, "range", within, "!=2.0.0")
			must.Contain(t, "why it stays", stays, test.stays)
			must.Equal(t, "stays", stays != "", test.stays != "")
			must.Equal(t, "there", inner.Get(t.Context(), key, &v1alpha1.InstallPlan{}) == nil, test.there)
			_, _, err = w.Refuse(t.Context(), c, "none", "2.0.0")
			must.Fail(t, "a Subscription that is not there", err, "refuse version 2.0.0 for Subscription ops/none")
		})
	}
}
