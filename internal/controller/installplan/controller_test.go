package installplan

import (
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestCacheThatLagsBehind reads the plan as it was before its status was written.
func TestCacheThatLagsBehind(t *testing.T) {
	w := newWorld(t, wholePlan(t), pullSecret())
	before := w.plan(t, "plan")
	must.Value(w.reconcile(t))(t)
	w.Taken()
	reads := 0
	w.Stale = before
	w.Read = func(client.Object, string) error { reads++; return nil }
	if _, err := w.reconcile(t); err != nil || len(w.Taken()) != 0 || reads != 1 {
		t.Errorf("%v; the work was done again: %d reads", err, reads)
	}
	w.Stale = nil
	if _, err := w.reconcile(t); err != nil {
		t.Error(err)
	}
}

func TestWhoIsWoken(t *testing.T) {
	plan := func(namespace, name string, phase v1alpha1.InstallPlanPhase, limited bool) client.Object {
		p := newPlan(step(t, crdYAML))
		p.Namespace, p.Name, p.Status.Phase = namespace, name, phase
		p.Status.Plan[0].Status = v1alpha1.StepStatusWaitingForAPI
		if limited {
			p.Status.AttenuatedServiceAccountRef = account
		}
		return p
	}
	w := newWorld(t,
		plan("ns", "limited", v1alpha1.InstallPlanPhaseInstalling, true), plan("ns", "free", v1alpha1.InstallPlanPhaseInstalling, false),
		plan("ns", "failed", v1alpha1.InstallPlanPhaseFailed, true), plan("ns", "done", v1alpha1.InstallPlanPhaseComplete, true),
		plan("other", "limited", v1alpha1.InstallPlanPhaseInstalling, true), plan("ns", "unapproved", v1alpha1.InstallPlanPhaseRequiresApproval, false))
	crd := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	tests := map[string]struct {
		got  any
		want string
	}{
		"a Role":              {w.watcher().limitedBy(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}), "[ns/failed ns/limited]"},
		"a ClusterRole":       {w.watcher().limitedBy(t.Context(), &rbacv1.ClusterRole{}), "[ns/limited other/limited]"},
		"an OperatorGroup":    {w.watcher().inNamespace(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}), "[ns/free ns/limited ns/unapproved]"},
		"the CRD":             {w.watcher().waitingFor(t.Context(), crd("widgets.example.com")), "[ns/free ns/limited other/limited]"},
		"another CRD":         {w.watcher().waitingFor(t.Context(), crd("gadgets.example.com")), "[]"},
		"a CRD without group": {w.watcher().waitingFor(t.Context(), crd("x")), "[]"},
	}
	for name, tc := range tests {
		must.Equal(t, name+" wakes", fmt.Sprint(tc.got), tc.want)
	}
}

func TestWhatIsNews(t *testing.T) {
	old, changed := &rbacv1.Role{}, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "2"}}
	tests := map[string]struct{ got, want bool }{
		"found on a start": {news.Create(event.CreateEvent{Object: old, IsInInitialList: true}), false},
		"created":          {news.Create(event.CreateEvent{Object: old}), true},
		"changed":          {news.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: changed}), true},
		"listed again":     {news.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: old}), false},
		"deleted":          {news.Delete(event.DeleteEvent{Object: old}), false},
		"anything else":    {news.Generic(event.GenericEvent{Object: old}), false},
	}
	for name, tc := range tests {
		must.Equal(t, name, tc.got, tc.want)
	}
}

// BenchmarkPlan is a plan of 300 steps against a fake API server, which does the work of a real one in the same process.
func BenchmarkPlan(b *testing.B) {
	steps := []*v1alpha1.Step{step(b, csvYAML), step(b, crdYAML)}
	for i := len(steps); i < 300; i++ {
		s := step(b, roleYAML)
		s.Resource.Name = fmt.Sprintf("role-%d", i)
		s.Resource.Manifest = fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"role-%d"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`, i)
		steps = append(steps, s)
	}
	plan := newPlan(steps...)
	for b.Loop() {
		b.StopTimer()
		w := newWorld(b, plan.DeepCopy())
		b.StartTimer()
		if p := w.settle(b, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
			b.Fatal(p.Status.Message)
		}
	}
}
