package ops

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// approvable is a plan in a phase, and the Subscription that refers to it.
func approvable(phase v1alpha1.InstallPlanPhase) []client.Object {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"}}
	sub.Status.InstallPlanRef = &corev1.ObjectReference{Name: "install-1"}
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	plan.Spec.ClusterServiceVersionNames, plan.Status.Phase = []string{"kite.v1"}, phase
	plan.Spec.Approved = phase != v1alpha1.InstallPlanPhaseRequiresApproval && phase != v1alpha1.InstallPlanPhaseFailed
	return []client.Object{sub, plan}
}

// TestApprovePlan: by the name of the Subscription or of the plan, once, and not when nothing waits.
func TestApprovePlan(t *testing.T) {
	for _, name := range []string{"kite", "install-1"} {
		c := cluster(t, approvable(v1alpha1.InstallPlanPhaseRequiresApproval)...)
		key := client.ObjectKey{Namespace: "ops", Name: name}
		w := must.Value(FindWaitingPlan(t.Context(), c, key))(t)
		if w.Subscription != "kite" || w.Describe() != "InstallPlan install-1, which installs kite.v1" {
			t.Errorf("%s: %+v", name, w)
		}
		approved := func() bool {
			plan := &v1alpha1.InstallPlan{}
			must.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "install-1"}, plan))
			return plan.Spec.Approved
		}
		must.NoError(t, w.Approve(t.Context(), c, true))
		must.Equal(t, "approved by a dry run", approved(), false)
		must.NoError(t, w.Approve(t.Context(), c, false))
		must.Equal(t, "approved", approved(), true)
	}
	for name, test := range map[string]struct {
		phase      v1alpha1.InstallPlanPhase
		name, want string
	}{
		"complete, by the Subscription": {v1alpha1.InstallPlanPhaseComplete, "kite", "approve the change of Subscription ops/kite: no InstallPlan of it waits for approval; fairlead status kite -n ops"},
		"complete":                      {v1alpha1.InstallPlanPhaseComplete, "install-1", "approve InstallPlan ops/install-1: it is approved already, and is Complete"},
		"failed":                        {v1alpha1.InstallPlanPhaseFailed, "install-1", "approve InstallPlan ops/install-1: it does not wait for approval, it is Failed"},
		"unknown":                       {v1alpha1.InstallPlanPhaseComplete, "none", "approve none: namespace ops has no Subscription and no InstallPlan of that name"},
	} {
		_, err := FindWaitingPlan(t.Context(), cluster(t, approvable(test.phase)...), client.ObjectKey{Namespace: "ops", Name: test.name})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestApprovalAdvice: what the manager says of approving a plan, and not what else a plan says.
func TestApprovalAdvice(t *testing.T) {
	for message, want := range map[string]bool{
		"": false, "retrying execution due to error: no": false,
		v1alpha1.NotWorthApproving + "ClusterServiceVersion kite.v1 would fail": true, v1alpha1.ApproveWithCare + "version v1 goes": true,
	} {
		w := &WaitingPlan{Plan: &v1alpha1.InstallPlan{Status: v1alpha1.InstallPlanStatus{Message: message}}}
		if got := w.Advice(); got != map[bool]string{true: message}[want] {
			t.Errorf("%q: %q", message, got)
		}
	}
}

// TestApproveWhatWasRead: a plan whose status is written meanwhile is approved, and one that installs something else by then is not.
func TestApproveWhatWasRead(t *testing.T) {
	key := client.ObjectKey{Namespace: "ops", Name: "install-1"}
	for name, test := range map[string]struct {
		change func(*v1alpha1.InstallPlan)
		want   string
	}{
		"its labels": {func(p *v1alpha1.InstallPlan) { p.Labels = map[string]string{"a": "b"} }, ""},
		"what it is": {func(p *v1alpha1.InstallPlan) { p.Spec.ClusterServiceVersionNames = []string{"kite.v2"} },
			"approve InstallPlan ops/install-1: it has changed meanwhile, and installs [kite.v2]; see it with fairlead plan show"},
	} {
		c := cluster(t, approvable(v1alpha1.InstallPlanPhaseRequiresApproval)...)
		w := must.Value(FindWaitingPlan(t.Context(), c, key))(t)
		plan := w.Plan.DeepCopy()
		test.change(plan)
		must.NoError(t, c.Update(t.Context(), plan))
		err := w.Approve(t.Context(), c, false)
		must.NoError(t, c.Get(t.Context(), key, plan))
		if failed := err != nil; failed == plan.Spec.Approved || failed != (test.want != "") || failed && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: approved %t, %v", name, plan.Spec.Approved, err)
		}
	}
}

// TestWaitingPermissions: the digest is that of the condition, if the manager has seen the extension as it is.
func TestWaitingPermissions(t *testing.T) {
	const asks = "kite.v2 asks for permissions that kite.v1 does not have:\n  + get secrets\nto allow them: fairlead approve kite, or set annotation operators.fairlead.dev/acknowledged-permissions of ClusterExtension kite to \"sha256:1\""
	for name, test := range map[string]struct {
		message    string
		observed   int64
		want, errs string
	}{
		"asked":     {asks, 2, "sha256:1", ""},
		"not asked": {"Desired state reached", 2, "", "no upgrade of it waits for permissions; fairlead status kite"},
		"not seen":  {asks, 1, "", "the manager has not reconciled it yet"},
		"no status": {"", 0, "", "the manager has not reconciled it yet"},
		"not there": {"", -1, "", "read ClusterExtension kite"},
	} {
		var objects []client.Object
		if test.observed >= 0 {
			objects = append(objects, newExtension("kite", "kite", func(e *olmv1.ClusterExtension) {
				e.Generation = 2
				if test.message != "" {
					e.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeProgressing, Status: metav1.ConditionFalse, Reason: olmv1.ReasonBlocked, Message: test.message, ObservedGeneration: test.observed}}
				}
			}))
		}
		digest, text, err := WaitingPermissions(t.Context(), clusterV1(t, objects...), "kite")
		if digest != test.want || (err == nil) != (test.errs == "") || err != nil && !strings.Contains(err.Error(), test.errs) || err == nil && text != test.message {
			t.Errorf("%s: %q, %q, %v", name, digest, text, err)
		}
	}
}
