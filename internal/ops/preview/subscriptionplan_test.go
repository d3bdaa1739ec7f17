package preview

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPlanOfASubscription: what would be installed, whether it waits, and why there is no plan.
func TestPlanOfASubscription(t *testing.T) {
	for name, test := range map[string]struct {
		change           func(*v1alpha1.Subscription)
		changes, blocked bool
		until            bool
		text             []string
	}{
		"automatic": {nil, true, false, true, []string{"Subscription here/app: an InstallPlan would be written, and carried out\n", "app.v1.1.0", "app.v1.0.0", "db.v1.0.0", "it waits:\n", "OLMConfig cluster"}},
		"manual": {func(s *v1alpha1.Subscription) { s.Spec.InstallPlanApproval = v1alpha1.ApprovalManual }, true, false, false,
			[]string{"an InstallPlan would be written, and wait for approval\n", "app.v1.1.0"}},
		"no such channel": {func(s *v1alpha1.Subscription) { s.Spec.Channel, s.Status = "stabel", v1alpha1.SubscriptionStatus{} }, false, true, false,
			[]string{"Subscription here/app: no InstallPlan can be made\n", "stabel"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := append(inNamespace(pushed(t)), client.Object(frozen()))
			if test.change != nil {
				test.change(objects[0].(*v1alpha1.Subscription))
			}
			q := must.Value(Cluster{Reader: reader(t, objects...), Server: server{version: "v1.31.0"}}.Question(t.Context(), "here", "olm"))(t)
			q.windows.now = sunday
			p := must.Value(q.Decide(t.Context(), library(t)))(t)
			plan := must.Value(p.PlanOf("app"))(t)
			var text strings.Builder
			must.NoError(t, plan.Write(&text))
			must.Contain(t, "text", text.String(), test.text...)
			must.Equal(t, "changes", plan.Changes(), test.changes)
			must.Equal(t, "blocked", plan.Blocked(), test.blocked)
			must.Equal(t, "held by a window", plan.HeldUntil != nil && plan.HeldUntil.After(sunday().Add(time.Hour)), test.until)
			_, err := p.PlanOf("none")
			must.Fail(t, "a Subscription that is not there", err, "plan Subscription here/none: there is none of that name")
		})
	}
}

// TestPlanOfASubscriptionThatWaits is the InstallPlan that there is.
func TestPlanOfASubscriptionThatWaits(t *testing.T) {
	plan := &SubscriptionPlan{Subscription: "here/app", Waiting: &PlanView{Namespace: "here", Name: "install-1", Phase: "RequiresApproval", Approval: "Manual"}}
	var text strings.Builder
	must.NoError(t, plan.Write(&text))
	must.Contain(t, "text", text.String(), "Subscription here/app: this InstallPlan is next\n", "InstallPlan here/install-1 RequiresApproval")
	must.Equal(t, "changes", plan.Changes(), true)
}
