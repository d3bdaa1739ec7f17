package cli

import (
	"bytes"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestApprove: a plan at once, permissions after they were listed and agreed to.
func TestApprove(t *testing.T) {
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	plan.Spec.ClusterServiceVersionNames, plan.Status.Phase = []string{"kite.v1"}, v1alpha1.InstallPlanPhaseRequiresApproval
	e := must.Value(ops.ExtensionOptions{Package: "kite", Namespace: "ops"}.Object())(t)
	e.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeProgressing, Status: metav1.ConditionFalse, Reason: olmv1.ReasonBlocked,
		Message: "kite.v2 asks for permissions that kite.v1 does not have:\n  + get secrets\nto allow them: fairlead approve kite, or set annotation operators.fairlead.dev/acknowledged-permissions of ClusterExtension kite to \"sha256:1\""}}
	c := cluster(t, plan, e)
	run := func(extension, dryRun, yes bool, answer string) (string, int) {
		var out, errs bytes.Buffer
		a := approval{Change: command.Change{Streams: command.Streams{In: strings.NewReader(answer), Out: &out, Err: &errs}, DryRun: dryRun, Yes: yes}}
		if extension {
			err := a.permissions(t.Context(), c, "kite")
			return out.String(), command.Code(err)
		}
		err := a.plan(t.Context(), c, client.ObjectKeyFromObject(plan))
		return out.String(), command.Code(err)
	}
	agreed := func() string {
		must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "kite"}, e))
		return e.Annotations[permissions.AcknowledgedKey]
	}
	expect := func(what string, out string, code int, wantOut string, wantCode int, wantAgreed string) {
		t.Helper()
		if !strings.Contains(out, wantOut) || code != wantCode || agreed() != wantAgreed {
			t.Errorf("%s: exit code %d, agreed to %q: %s", what, code, agreed(), out)
		}
	}
	out, code := run(true, true, false, "")
	expect("dry run", out, code, "+ get secrets\nwould approve these permissions for ClusterExtension kite\n", 0, "")
	out, code = run(true, false, false, "n\n")
	expect("no", out, code, "Allow ClusterExtension kite these permissions? [y/N]", command.ExitNo, "")
	out, code = run(true, false, false, "y\n")
	expect("yes", out, code, "approved these permissions for ClusterExtension kite", 0, "sha256:1")
	out, code = run(false, true, false, "")
	expect("dry run of a plan", out, code, "would approve InstallPlan install-1, which installs kite.v1\n", 0, "sha256:1")
}

// TestApproveRepeatsAdvice: what the manager says of a plan is a note before it is approved, and no note is printed of one that it says nothing of.
func TestApproveRepeatsAdvice(t *testing.T) {
	for message, note := range map[string]string{
		"": "",
		v1alpha1.NotWorthApproving + "ClusterServiceVersion kite.v1 would fail once it is installed": "note: InstallPlan install-1: not worth approving as it is: ClusterServiceVersion kite.v1 would fail once it is installed\n",
		v1alpha1.ApproveWithCare + "version v1 goes\x1b[1m":                                          "note: InstallPlan install-1: approve with care: version v1 goes",
	} {
		plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
		plan.Status = v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseRequiresApproval, Message: message}
		c := cluster(t, plan)
		for _, dryRun := range []bool{true, false} {
			var out, errs bytes.Buffer
			a := approval{Change: command.Change{Streams: command.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, DryRun: dryRun}}
			must.NoError(t, a.plan(t.Context(), c, client.ObjectKeyFromObject(plan)))
			if !strings.HasPrefix(errs.String(), note) || note == "" && errs.Len() > 0 || strings.Contains(errs.String(), "\x1b") {
				t.Errorf("%q: standard error %q", message, errs.String())
			}
			must.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(plan), plan))
			must.Equal(t, "approved", plan.Spec.Approved, !dryRun)
		}
	}
}
