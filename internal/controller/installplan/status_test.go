package installplan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	epoch   = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	account = &corev1.ObjectReference{Kind: "ServiceAccount", Namespace: "ns", Name: "limited"}
)

func at(d time.Duration) *metav1.Time { return new(metav1.NewTime(epoch.Add(d))) }

func installed(status corev1.ConditionStatus, reason v1alpha1.InstallPlanConditionReason, message string, when time.Duration) []v1alpha1.InstallPlanCondition {
	return []v1alpha1.InstallPlanCondition{{
		Type: v1alpha1.InstallPlanInstalled, Status: status, Reason: reason, Message: message, LastUpdateTime: at(when), LastTransitionTime: at(when),
	}}
}

const twoGroups = "attenuated service account query failed - more than one operator group(s) are managing this namespace count=2"

// TestDecide is the state machine before a pass, cell by cell: phase and approval, and what was observed. The time is a minute after
// epoch.
func TestDecide(t *testing.T) {
	const (
		none, planning, requires = v1alpha1.InstallPlanPhaseNone, v1alpha1.InstallPlanPhasePlanning, v1alpha1.InstallPlanPhaseRequiresApproval
		installing, complete     = v1alpha1.InstallPlanPhaseInstalling, v1alpha1.InstallPlanPhaseComplete
		failed                   = v1alpha1.InstallPlanPhaseFailed
	)
	problem := observation{problem: "more than one operator group(s) are managing this namespace count=2"}
	limited := observation{account: account}
	checkFailed := installed(corev1.ConditionFalse, v1alpha1.InstallPlanReasonInstallCheckFailed, twoGroups, time.Minute)
	componentFailed := installed(corev1.ConditionFalse, v1alpha1.InstallPlanReasonComponentFailed, "boom", 0)
	tests := map[string]struct {
		approved bool
		status   planStatus
		seen     observation
		want     planStatus
		execute  bool
	}{
		"new, not approved":                       {false, planStatus{Phase: none}, observation{}, planStatus{Phase: requires}, false},
		"new, approved":                           {true, planStatus{Phase: none}, observation{}, planStatus{Phase: installing, StartTime: at(time.Minute)}, true},
		"planning counts as new":                  {true, planStatus{Phase: planning}, observation{}, planStatus{Phase: installing, StartTime: at(time.Minute)}, true},
		"waits for approval":                      {false, planStatus{Phase: requires}, observation{}, planStatus{Phase: requires}, false},
		"approved by hand":                        {true, planStatus{Phase: requires}, observation{}, planStatus{Phase: installing, StartTime: at(time.Minute)}, true},
		"created as installing":                   {true, planStatus{Phase: installing}, observation{}, planStatus{Phase: installing, StartTime: at(time.Minute)}, true},
		"the start is recorded once":              {true, planStatus{Phase: installing, StartTime: at(0)}, observation{}, planStatus{Phase: installing, StartTime: at(0)}, true},
		"installing but never approved":           {false, planStatus{Phase: installing}, observation{}, planStatus{Phase: requires}, false},
		"approval withdrawn too late":             {false, planStatus{Phase: installing, StartTime: at(0)}, observation{}, planStatus{Phase: installing, StartTime: at(0)}, true},
		"a message survives the wait":             {true, planStatus{Phase: installing, StartTime: at(0), Message: "m"}, observation{}, planStatus{Phase: installing, StartTime: at(0), Message: "m"}, true},
		"limited by an account":                   {true, planStatus{Phase: installing, StartTime: at(0)}, limited, planStatus{Phase: installing, StartTime: at(0), AttenuatedServiceAccountRef: account}, true},
		"limited before approval":                 {false, planStatus{Phase: requires}, limited, planStatus{Phase: requires, AttenuatedServiceAccountRef: account}, false},
		"no longer limited":                       {true, planStatus{Phase: installing, StartTime: at(0), AttenuatedServiceAccountRef: account}, observation{}, planStatus{Phase: installing, StartTime: at(0)}, true},
		"two groups, installing":                  {true, planStatus{Phase: installing, StartTime: at(0)}, problem, planStatus{Phase: installing, StartTime: at(0), Message: twoGroups, Conditions: checkFailed}, false},
		"two groups, not approved":                {false, planStatus{Phase: requires}, problem, planStatus{Phase: requires, Message: twoGroups, Conditions: checkFailed}, false},
		"two groups, approved":                    {true, planStatus{Phase: requires}, problem, planStatus{Phase: installing, Message: twoGroups, Conditions: checkFailed}, false},
		"two groups, approved and said already":   {true, planStatus{Phase: requires, Message: twoGroups, Conditions: checkFailed}, problem, planStatus{Phase: installing, Message: twoGroups, Conditions: checkFailed}, false},
		"two groups, new and approved":            {true, planStatus{Phase: none}, problem, planStatus{Phase: installing, Message: twoGroups, Conditions: checkFailed}, false},
		"two groups, new and not approved":        {false, planStatus{Phase: none}, problem, planStatus{Phase: requires, Message: twoGroups, Conditions: checkFailed}, false},
		"two groups, approval withdrawn":          {false, planStatus{Phase: installing, Conditions: checkFailed, Message: twoGroups}, problem, planStatus{Phase: requires, Message: twoGroups, Conditions: checkFailed}, false},
		"two groups, approval withdrawn too late": {false, planStatus{Phase: installing, StartTime: at(0)}, problem, planStatus{Phase: installing, StartTime: at(0), Message: twoGroups, Conditions: checkFailed}, false},
		"two groups, said already":                {false, planStatus{Phase: requires, Message: twoGroups, Conditions: installed(corev1.ConditionFalse, v1alpha1.InstallPlanReasonInstallCheckFailed, twoGroups, 0)}, problem, planStatus{Phase: requires, Message: twoGroups, Conditions: installed(corev1.ConditionFalse, v1alpha1.InstallPlanReasonInstallCheckFailed, twoGroups, 0)}, false},
		"two groups no more":                      {false, planStatus{Phase: requires, Message: twoGroups, Conditions: checkFailed}, observation{}, planStatus{Phase: requires}, false},
		"complete stays":                          {true, planStatus{Phase: complete, StartTime: at(0)}, problem, planStatus{Phase: complete, StartTime: at(0)}, false},
		"complete is not nudged":                  {true, planStatus{Phase: complete, StartTime: at(0), AttenuatedServiceAccountRef: account}, observation{account: account, nudged: true}, planStatus{Phase: complete, StartTime: at(0), AttenuatedServiceAccountRef: account}, false},
		"failed stays":                            {true, planStatus{Phase: failed, StartTime: at(0), Conditions: componentFailed}, observation{}, planStatus{Phase: failed, StartTime: at(0), Conditions: componentFailed}, false},
		"failed, unlimited, is final":             {true, planStatus{Phase: failed, StartTime: at(0)}, observation{nudged: true}, planStatus{Phase: failed, StartTime: at(0)}, false},
		"failed, limited, RBAC changed":           {true, planStatus{Phase: failed, StartTime: at(0), AttenuatedServiceAccountRef: account, Conditions: componentFailed}, observation{account: account, nudged: true}, planStatus{Phase: installing, StartTime: at(time.Minute), AttenuatedServiceAccountRef: account}, true},
		"failed, nudged, but two groups":          {true, planStatus{Phase: failed, StartTime: at(0), AttenuatedServiceAccountRef: account, Conditions: componentFailed}, observation{problem: problem.problem, nudged: true}, planStatus{Phase: installing, Message: twoGroups, AttenuatedServiceAccountRef: account, Conditions: checkFailed}, false},
	}
	states := map[string]any{}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := &v1alpha1.InstallPlan{Spec: v1alpha1.InstallPlanSpec{Approved: tc.approved}, Status: tc.status}
			got, execute := decide(plan, tc.seen, epoch.Add(time.Minute))
			must.Equal(t, "status", got, tc.want)
			must.Equal(t, "execute", execute, tc.execute)
			states[name] = judgedPlan(got)
		})
	}
	golden.States(t, "testdata/decided.txtar", v1alpha1.GroupVersion.String(), v1alpha1.InstallPlanKind, states)
}

// judgedPlan is a plan with a status, and the verdict on it.
func judgedPlan(s planStatus) *v1alpha1.InstallPlan {
	plan := &v1alpha1.InstallPlan{Status: withVerdict(s, 3, metav1.NewTime(epoch))}
	plan.Generation = 3
	return plan
}

// TestConclude is the state machine after a pass: what it came to, and for how long it has failed.
func TestConclude(t *testing.T) {
	boom := errors.New("boom")
	tests := map[string]struct {
		done  outcome
		after time.Duration // since the series of failures began; the plan started ten minutes before
		want  planStatus
		pause time.Duration
	}{
		"all done": {outcome{}, 0,
			planStatus{Phase: v1alpha1.InstallPlanPhaseComplete, Conditions: installed(corev1.ConditionTrue, "", "", 0)}, 0},
		"something left out": {outcome{leftOut: "X was left out"}, 0,
			planStatus{Phase: v1alpha1.InstallPlanPhaseComplete, Message: "X was left out", Conditions: installed(corev1.ConditionTrue, "", "", 0)}, 0},
		"waits for an API": {outcome{waiting: "CRD x"}, 0,
			planStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, Message: "waiting: CRD x"}, 5 * time.Second},
		"first error": {outcome{err: boom}, 0,
			planStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, Message: "retrying execution due to error: boom"}, 250 * time.Millisecond},
		"error while waiting": {outcome{err: boom, waiting: "CRD x"}, 8 * time.Second,
			planStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, Message: "retrying execution due to error: boom"}, 2 * time.Second},
		"error just before the time is up": {outcome{err: boom}, 59 * time.Second,
			planStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, Message: "retrying execution due to error: boom"}, time.Second},
		"error when the time is up": {outcome{err: boom}, time.Minute,
			planStatus{Phase: v1alpha1.InstallPlanPhaseFailed, Message: "boom", Conditions: installed(corev1.ConditionFalse, v1alpha1.InstallPlanReasonComponentFailed, "boom", time.Minute)}, 0},
		"error while a bundle is on its way": {outcome{err: boom, lookups: map[string]*fetchError{"op.v1": {}}}, 2 * time.Hour,
			planStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, Message: "retrying execution due to error: boom"}, 30 * time.Second},
		"forbidden has no end": {outcome{err: boom, forbidden: true}, time.Hour,
			planStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, Message: "retrying execution due to error: boom"}, 30 * time.Second},
	}
	states := map[string]any{}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := epoch.Add(tc.after)
			if tc.done.executed = true; !tc.done.isPatient() {
				tc.done.since = epoch
			}
			tc.want.StartTime = at(-10 * time.Minute)
			before := planStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, StartTime: at(-10 * time.Minute)}
			got := conclude(before, tc.done, now, time.Minute)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			must.Equal(t, "tried again", retryAfter(got, tc.done, now, time.Minute), tc.pause)
			states[name] = judgedPlan(got)
		})
	}
	resolved := func(reason v1alpha1.InstallPlanConditionReason) *v1alpha1.InstallPlan {
		return judgedPlan(planStatus{Phase: v1alpha1.InstallPlanPhasePlanning, Message: "no", Conditions: []v1alpha1.InstallPlanCondition{
			v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanResolved, reason, "no")}})
	}
	states["written by hand, names what no catalog has yet"] = resolved(v1alpha1.InstallPlanReasonPlanUnknown)
	states["written by hand, names what does not go together"] = resolved(v1alpha1.InstallPlanReasonDependencyConflict)
	golden.States(t, "testdata/concluded.txtar", v1alpha1.GroupVersion.String(), v1alpha1.InstallPlanKind, states)
}

// TestVerdicts: what a verdict on a plan does to its other conditions, and to the times of its own.
func TestVerdicts(t *testing.T) {
	ready := func(s planStatus) string {
		c := s.GetCondition(reconcile.TypeReady)
		return string(c.Status) + "/" + string(c.Reason) + " since " + c.LastTransitionTime.UTC().Format("15:04") + ", updated " + c.LastUpdateTime.UTC().Format("15:04")
	}
	waiting := withVerdict(planStatus{Phase: v1alpha1.InstallPlanPhaseRequiresApproval}, 1, *at(0))
	must.Equal(t, "waits for approval", ready(waiting), "False/RequiresApproval since 12:00, updated 12:00")
	must.Equal(t, "neither goes on nor is stuck", len(waiting.Conditions), 1)
	must.Equal(t, "the same later", withVerdict(waiting, 1, *at(time.Minute)), waiting)
	waiting.Phase = v1alpha1.InstallPlanPhaseInstalling
	installing := withVerdict(waiting, 2, *at(time.Minute))
	must.Equal(t, "approved", ready(installing), "False/Installing since 12:00, updated 12:01")
	must.Equal(t, "goes on", installing.GetCondition(reconcile.TypeReconciling).Status, corev1.ConditionTrue)
	must.Equal(t, "observed generation", installing.ObservedGeneration, 2)
	done := conclude(installing, outcome{executed: true}, epoch.Add(2*time.Minute), time.Minute)
	done = withVerdict(done, 2, *at(2 * time.Minute))
	must.Equal(t, "complete", ready(done), "True/Complete since 12:02, updated 12:02")
	must.Equal(t, "conditions of a plan that is complete", len(done.Conditions), 2)
	must.Equal(t, "installed", done.GetCondition(v1alpha1.InstallPlanInstalled).Status, corev1.ConditionTrue)
	must.Equal(t, "its state in the log has no reason", states(&installing)[0].Reason, "")
}

func TestChangesAreSmall(t *testing.T) {
	step := func(status v1alpha1.StepStatus) *v1alpha1.Step { return &v1alpha1.Step{Status: status} }
	before := planStatus{
		Phase: v1alpha1.InstallPlanPhaseInstalling, Message: "m", StartTime: at(0),
		Plan: []*v1alpha1.Step{step(v1alpha1.StepStatusUnknown), step(v1alpha1.StepStatusUnknown)},
	}
	after := *before.DeepCopy()
	after.Plan[1].Status = v1alpha1.StepStatusCreated
	after.Phase, after.Message = v1alpha1.InstallPlanPhaseComplete, ""
	after.Conditions = installed(corev1.ConditionTrue, "", "", 0)
	plan := &v1alpha1.InstallPlan{Status: before}
	want := []operation{
		{Op: "add", Path: "/status/plan/1/status", Value: v1alpha1.StepStatusCreated},
		{Op: "add", Path: "/status/phase", Value: v1alpha1.InstallPlanPhaseComplete},
		{Op: "add", Path: "/status/message", Value: ""}, {Op: "remove", Path: "/status/message"},
		{Op: "add", Path: "/status/conditions", Value: after.Conditions},
	}
	must.Equal(t, "changes", changes(plan, after), want)
	must.Empty(t, "changes without a change", changes(plan, *before.DeepCopy()))
}

// TestApprovalStaysAsItWasWritten: tools that keep a plan, or its approval, in Git compare its metadata and its spec. Carrying it out,
// however it ends, changes neither.
func TestApprovalStaysAsItWasWritten(t *testing.T) {
	for name, fails := range map[string]bool{"it succeeds": false, "it fails": true} {
		t.Run(name, func(t *testing.T) {
			plan := wholePlan(t)
			plan.Spec.Approval, plan.Status.Phase = v1alpha1.ApprovalManual, v1alpha1.InstallPlanPhaseRequiresApproval
			plan.Annotations, plan.Labels = map[string]string{"argocd.argoproj.io/tracking-id": "x"}, map[string]string{"app.kubernetes.io/instance": "y"}
			w := newWorld(t, plan, pullSecret())
			if fails {
				w.Fault(func(what string, _ bool) error {
					if strings.HasPrefix(what, "create Service web") {
						return errors.New("broken")
					}
					return nil
				})
			}
			before := w.plan(t, "plan")
			after := w.settle(t, 10*time.Minute)
			if ended := after.Status.Phase == v1alpha1.InstallPlanPhaseFailed; ended != fails {
				t.Fatalf("%s: %s", after.Status.Phase, after.Status.Message)
			}
			for _, p := range []*v1alpha1.InstallPlan{before, after} {
				p.ResourceVersion, p.ManagedFields, p.Status = "", nil, v1alpha1.InstallPlanStatus{}
			}
			must.Equal(t, "after", after, before)
		})
	}
}

// scraped is what a scrape reads of a metric that has one series.
func scraped(t *testing.T, c prometheus.Collector, name string) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families := must.Value(r.Gather())(t)
	for _, f := range families {
		if m := f.GetMetric(); f.GetName() == name && len(m) == 1 {
			return m[0].GetGauge().GetValue() + m[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no metric %s, or it has several series", name)
	return 0
}

func TestMetrics(t *testing.T) {
	strange := step(t, strings.Replace(serviceYAML, "selector:", "selektor:", 1))
	plan := newPlan(step(t, csvYAML), strange)
	there := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: map[string]string{"olm.managed": "true"}}} // what is pruned of a wish for it is a warning
	w := newWorld(t, plan, there)
	w.settle(t, time.Minute)
	must.Value(w.reconcile(t))(t)
	if n, warned := scraped(t, w.controller.Metrics, "install_plan_count"), scraped(t, w.controller.Metrics, "installplan_warnings_total"); n != 1 || warned != 1 {
		t.Errorf("%v plans, %v warnings; want one each", n, warned)
	}
	must.NoError(t, w.Inner.Delete(t.Context(), plan))
	must.Value(w.reconcile(t))(t)
	if n := scraped(t, w.controller.Metrics, "install_plan_count"); n != 0 {
		t.Errorf("%v plans after the only one was deleted", n)
	}
}
