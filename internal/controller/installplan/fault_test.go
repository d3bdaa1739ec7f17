package installplan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// contradictions are pairs of statements that no status may make at the same time.
var contradictions = map[string]func(p *v1alpha1.InstallPlan) bool{
	"Complete, but not installed": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete && installedIs(p) != corev1.ConditionTrue
	},
	"Failed, but not known as not installed": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseFailed && installedIs(p) != corev1.ConditionFalse
	},
	"installed, but not Complete": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase != v1alpha1.InstallPlanPhaseComplete && installedIs(p) == corev1.ConditionTrue
	},
	"a component failed for good, but the plan has not": func(p *v1alpha1.InstallPlan) bool {
		c := p.Status.GetCondition(v1alpha1.InstallPlanInstalled)
		return p.Status.Phase != v1alpha1.InstallPlanPhaseFailed && c.Reason == v1alpha1.InstallPlanReasonComponentFailed
	},
	"Complete, but a step is not finished": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete && slices.ContainsFunc(p.Status.Plan, func(s *v1alpha1.Step) bool { return !finished(s.Status) })
	},
	"a step waits for an API that is none": func(p *v1alpha1.InstallPlan) bool {
		return slices.ContainsFunc(p.Status.Plan, func(s *v1alpha1.Step) bool {
			return s.Status == v1alpha1.StepStatusWaitingForAPI && s.Resource.Kind != crdKind
		})
	},
	"not approved, but something was done": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval &&
			(p.Status.StartTime != nil || slices.ContainsFunc(p.Status.Plan, func(s *v1alpha1.Step) bool { return s.Status != v1alpha1.StepStatusUnknown }))
	},
	"a bundle is on its way, and could not be had": func(p *v1alpha1.InstallPlan) bool {
		return hasLookup(p, func(l *v1alpha1.BundleLookup) bool {
			return l.GetCondition(v1alpha1.BundleLookupPending).Status == corev1.ConditionTrue && l.GetCondition(v1alpha1.BundleLookupFailed).Status == corev1.ConditionTrue
		})
	},
	"finished, but a bundle is waited for": func(p *v1alpha1.InstallPlan) bool {
		return !unfinished(p) && hasLookup(p, func(l *v1alpha1.BundleLookup) bool { return len(l.Conditions) > 0 })
	},
	"a bundle is waited for without a reason": func(p *v1alpha1.InstallPlan) bool {
		return hasLookup(p, func(l *v1alpha1.BundleLookup) bool { return len(l.Conditions) > 0 && l.Conditions[0].Message == "" })
	},
	"resolved, but without steps": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.GetCondition(v1alpha1.InstallPlanResolved).Status == corev1.ConditionTrue && len(p.Status.Plan) == 0
	},
	"not resolved, but past planning": func(p *v1alpha1.InstallPlan) bool {
		resolved := p.Status.GetCondition(v1alpha1.InstallPlanResolved).Status
		return resolved == corev1.ConditionFalse && p.Status.Phase != v1alpha1.InstallPlanPhasePlanning
	},
	"planning, but with steps": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhasePlanning && len(p.Status.Plan) > 0
	},
	"planning without a reason": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhasePlanning && p.Status.Message == ""
	},
	"started and unfinished without a reason": func(p *v1alpha1.InstallPlan) bool {
		return unfinished(p) && p.Status.StartTime != nil && p.Status.Message == ""
	},
	"Failed without a reason": func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseFailed && p.Status.Message == ""
	},
}

func hasLookup(p *v1alpha1.InstallPlan, f func(*v1alpha1.BundleLookup) bool) bool {
	for i := range p.Status.BundleLookups {
		if f(&p.Status.BundleLookups[i]) {
			return true
		}
	}
	return false
}

func installedIs(p *v1alpha1.InstallPlan) corev1.ConditionStatus {
	return p.Status.GetCondition(v1alpha1.InstallPlanInstalled).Status
}

func checkStatus(t *testing.T, p *v1alpha1.InstallPlan) {
	t.Helper()
	for name, holds := range contradictions {
		if holds(p) {
			t.Errorf("%s: phase %s, message %q, conditions %v, steps %v", name, p.Status.Phase, p.Status.Message, p.Status.Conditions, statuses(p))
		}
	}
}

// installedObjects are what a carried out plan leaves, without what differs from run to run.
func installedObjects(t *testing.T, w *world) map[string]string {
	t.Helper()
	lists := []client.ObjectList{
		&v1alpha1.ClusterServiceVersionList{}, &v1alpha1.SubscriptionList{}, &apiextensionsv1.CustomResourceDefinitionList{}, &corev1.SecretList{},
		&corev1.ServiceList{}, &corev1.ServiceAccountList{}, &rbacv1.RoleList{}, &rbacv1.ClusterRoleList{}, &schedulingv1.PriorityClassList{}, &policyv1.PodDisruptionBudgetList{},
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	w.get(t, csv, "ns", "op.v1")
	out := map[string]string{}
	for _, list := range lists {
		must.NoError(t, w.List(t.Context(), list))
		objects := must.Value(meta.ExtractList(list))(t)
		for _, o := range objects {
			object, _ := o.(client.Object)
			text := fmt.Sprint(object.GetLabels(), " owned by ")
			for _, r := range object.GetOwnerReferences() {
				text += fmt.Sprint(r.Kind, " ", r.Name, " that exists: ", r.UID == csv.UID)
			}
			out[fmt.Sprintf("%T %s/%s", o, object.GetNamespace(), object.GetName())] = text
		}
	}
	return out
}

func undisturbed(t *testing.T) map[string]string {
	t.Helper()
	w := newWorld(t, wholePlan(t), pullSecret())
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Fatal(p.Status.Message)
	}
	return installedObjects(t, w)
}

// TestKilledAtEveryWrite stops the manager before and after each of its writes. The next one finishes the plan, and everything looks as
// if nothing had happened.
func TestKilledAtEveryWrite(t *testing.T) {
	want := undisturbed(t)
	for _, after := range []bool{false, true} {
		for at, reached := 1, true; reached; at += sweep.Of(5, 1, 1) {
			t.Run(fmt.Sprintf("write %d, after it %t", at, after), func(t *testing.T) {
				w := newWorld(t, wholePlan(t), pullSecret())
				w.controller.engine.Parallel = 1
				n, dead := 0, false
				w.Fault(func(_ string, isAfter bool) error {
					if !isAfter {
						n++
					}
					dead = dead || n == at && isAfter == after
					if dead {
						return errors.New("killed")
					}
					return nil
				})
				_, _ = w.reconcile(t)
				reached = dead
				checkStatus(t, w.plan(t, "plan"))
				w.Fault(nil)
				w.controller.memory = memory{}
				p := w.settle(t, time.Minute)
				hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
				for kind, status := range statuses(p) {
					must.Equal(t, kind, status, v1alpha1.StepStatusCreated)
				}
				must.Equal(t, "installed objects", installedObjects(t, w), want)
			})
		}
	}
}

// TestAnySchedule lets writes and reads fail at random, the manager restart, the cache lag behind, OperatorGroups come and go, and CRDs
// take their time. No status contradicts itself, finished steps keep their status, and when all that ends, the plan is complete and the
// cluster as it would be without.
func TestAnySchedule(t *testing.T) {
	want := undisturbed(t)
	for seed := range uint64(sweep.Of(4, 20, 60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := chance(seed, 2)
			w := newWorld(t, wholePlan(t), pullSecret())
			w.controller.RetryTimeout = 24 * time.Hour // giving up is another test
			w.controller.engine.Parallel = 1           // so that a seed is one schedule
			w.Fault(func(string, bool) error { return randomError(rng, 0.15) })
			w.Read = func(client.Object, string) error { return randomError(rng, 0.02) }
			before := w.plan(t, "plan")
			for range 12 {
				// Change something around the controller.
				second := &operatorsv1.OperatorGroup{}
				second.Namespace, second.Name = "ns", "second"
				w.Stale = nil
				switch rng.IntN(8) {
				case 0:
					w.controller.memory = memory{}
				case 1:
					w.Stale = before
				case 2:
					_ = w.Inner.Create(t.Context(), second)
				case 3:
					_ = w.Inner.Delete(t.Context(), second)
				case 4:
					w.establish = !w.establish
				}
				_, _ = w.reconcile(t)
				w.Clock.SetTime(w.Clock.Now().Add(time.Duration(rng.IntN(5000)) * time.Millisecond))
				now := w.plan(t, "plan")
				checkStatus(t, now)
				checkFinishedStay(t, before, now)
				before = now
			}
			// End all disturbance.
			w.Fault(nil)
			w.Read, w.Stale, w.establish = nil, nil, true
			second := &operatorsv1.OperatorGroup{}
			second.Namespace, second.Name = "ns", "second"
			must.NoError(t, client.IgnoreNotFound(w.Inner.Delete(t.Context(), second)))
			if crd := (&apiextensionsv1.CustomResourceDefinition{}); w.get(t, crd, "", "widgets.example.com") && len(crd.Status.Conditions) == 0 {
				must.NoError(t, setEstablished(t.Context(), w.Inner, crd.Name))
			}
			p := w.settle(t, 10*time.Minute)
			checkFinishedStay(t, before, p)
			checkStatus(t, p)
			hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
			must.Equal(t, "installed objects", installedObjects(t, w), want)
			w.Taken()
			if _, err := w.reconcile(t); err != nil || len(w.Taken()) != 0 {
				t.Errorf("a finished plan is written: %v", err)
			}
		})
	}
}

// chance is a source of random numbers that several goroutines can draw from: steps are carried out side by side.
func chance(seed, of uint64) *rand.Rand {
	return rand.New(&lockedSource{source: rand.NewPCG(seed, of)})
}

type lockedSource struct {
	mutex  sync.Mutex
	source rand.Source
}

func (s *lockedSource) Uint64() uint64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.source.Uint64()
}

func randomError(rng *rand.Rand, likely float64) error {
	if rng.Float64() >= likely {
		return nil
	}
	resource := rbacv1.Resource("roles")
	all := []error{
		errors.New("connection refused"), apierrors.NewConflict(resource, "x", errors.New("modified")), apierrors.NewInternalError(errors.New("etcd")),
		apierrors.NewForbidden(resource, "x", errors.New("denied")), apierrors.NewTooManyRequests("slow down", 1), apierrors.NewAlreadyExists(resource, "x"),
	}
	return all[rng.IntN(len(all))]
}

func checkFinishedStay(t *testing.T, before, after *v1alpha1.InstallPlan) {
	t.Helper()
	for i, s := range before.Status.Plan {
		if now := after.Status.Plan[i].Status; finished(s.Status) && now != s.Status {
			t.Errorf("step %s was %s and became %s", s.Resource.Kind, s.Status, now)
		}
	}
}

// TestContradictionsAreFound makes sure that the table is not blind.
func TestContradictionsAreFound(t *testing.T) {
	bad := map[string]planStatus{
		"Complete, but not installed":                       {Phase: v1alpha1.InstallPlanPhaseComplete},
		"Failed, but not known as not installed":            {Phase: v1alpha1.InstallPlanPhaseFailed},
		"installed, but not Complete":                       {Conditions: installed(corev1.ConditionTrue, "", "", 0)},
		"a component failed for good, but the plan has not": {Conditions: installed(corev1.ConditionFalse, v1alpha1.InstallPlanReasonComponentFailed, "", 0)},
		"Complete, but a step is not finished":              {Phase: v1alpha1.InstallPlanPhaseComplete, Plan: []*v1alpha1.Step{{}}},
		"a step waits for an API that is none":              {Plan: []*v1alpha1.Step{{Status: v1alpha1.StepStatusWaitingForAPI}}},
		"not approved, but something was done":              {Phase: v1alpha1.InstallPlanPhaseRequiresApproval, StartTime: at(0)},
		"a bundle is on its way, and could not be had":      {BundleLookups: []v1alpha1.BundleLookup{{Conditions: lookupConditions(v1alpha1.BundleLookupPending, v1alpha1.BundleLookupFailed)}}},
		"finished, but a bundle is waited for":              {Phase: v1alpha1.InstallPlanPhaseComplete, BundleLookups: []v1alpha1.BundleLookup{{Conditions: lookupConditions(v1alpha1.BundleLookupPending)}}},
		"a bundle is waited for without a reason":           {BundleLookups: []v1alpha1.BundleLookup{{Conditions: lookupConditions(v1alpha1.BundleLookupFailed)}}},
		"resolved, but without steps":                       {Conditions: resolvedIs(corev1.ConditionTrue)},
		"not resolved, but past planning":                   {Phase: v1alpha1.InstallPlanPhaseInstalling, Conditions: resolvedIs(corev1.ConditionFalse)},
		"planning, but with steps":                          {Phase: v1alpha1.InstallPlanPhasePlanning, Plan: []*v1alpha1.Step{{}}},
		"planning without a reason":                         {Phase: v1alpha1.InstallPlanPhasePlanning},
		"started and unfinished without a reason":           {Phase: v1alpha1.InstallPlanPhaseInstalling, StartTime: at(0)},
		"Failed without a reason":                           {Phase: v1alpha1.InstallPlanPhaseFailed},
	}
	var names []string
	for name, holds := range contradictions {
		names = append(names, name)
		if !holds(&v1alpha1.InstallPlan{Status: bad[name]}) {
			t.Errorf("%s is not found", name)
		}
	}
	if slices.Sort(names); len(names) != len(bad) {
		t.Errorf("contradictions %v", names)
	}
}

func resolvedIs(status corev1.ConditionStatus) []v1alpha1.InstallPlanCondition {
	return []v1alpha1.InstallPlanCondition{{Type: v1alpha1.InstallPlanResolved, Status: status}}
}

func lookupConditions(types ...v1alpha1.BundleLookupConditionType) []v1alpha1.BundleLookupCondition {
	var all []v1alpha1.BundleLookupCondition
	for _, t := range types {
		all = append(all, v1alpha1.BundleLookupCondition{Type: t, Status: corev1.ConditionTrue})
	}
	return all
}
