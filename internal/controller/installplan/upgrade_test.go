package installplan

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// upgradeWorld has op.v1 installed, and a plan that replaces it.
func upgradeWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, wholePlan(t), pullSecret())
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Fatal(p.Status.Message)
	}
	must.NoError(t, w.Inner.Delete(t.Context(), w.plan(t, "plan")))
	must.Value(w.reconcile(t))(t)
	// Replace op.v1 of wholePlan: the CRD serves one more version, the Service has another port, the Role another name.
	change := func(manifest string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(manifest) }
	var steps []*v1alpha1.Step
	for _, manifest := range []string{
		change(csvYAML, "op.v1", "op.v2", "displayName: Op", "displayName: Op\n  replaces: op.v1"),
		change(crdYAML, "versions: [", "versions: [{name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}, "),
		change(serviceYAML, "port: 80", "port: 443"), change(secretYAML, "YQ==", "Yg=="), accountYAML,
		change(roleYAML, "op.v1", "op.v2"), change(clusterRoleYAML, "op.v1", "op.v2"), budgetYAML,
	} {
		s := step(t, manifest)
		s.Resolving = "op.v2"
		steps = append(steps, s)
	}
	plan := newPlan(steps...)
	plan.UID = "uid-upgrade"
	plan.Spec.ClusterServiceVersionNames = []string{"op.v2"}
	status := plan.Status
	must.NoError(t, w.Create(t.Context(), plan))
	plan.Status = status
	must.NoError(t, w.Inner.Status().Update(t.Context(), plan))
	w.Taken()
	w.controller.engine.Parallel = 1
	return w
}

func upgraded(t *testing.T, w *world) map[string]string {
	t.Helper()
	all := installedObjects(t, w)
	service, secret := &corev1.Service{}, &corev1.Secret{}
	w.get(t, service, "ns", "web")
	w.get(t, secret, "ns", "keys")
	all["the port"], all["the key"] = fmt.Sprint(service.Spec.Ports), string(secret.Data["a"])
	return all
}

// TestUpgradeKilledAtEveryWrite stops the manager before and after each of its writes of an upgrade.
func TestUpgradeKilledAtEveryWrite(t *testing.T) {
	calm := upgradeWorld(t)
	if p := calm.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Fatal(p.Status.Message)
	}
	want := upgraded(t, calm)
	if !strings.Contains(want["the port"], "443") || want["the key"] != "b" {
		t.Fatalf("the upgrade does not upgrade: %v", want)
	}
	kills := 0
	for _, after := range []bool{false, true} {
		for at, reached := 1, true; reached; at += sweep.Of(5, 1, 1) {
			t.Run(fmt.Sprintf("write %d, after it %t", at, after), func(t *testing.T) {
				w := upgradeWorld(t)
				reached = w.killedAt(t, at, after)
				kills++
				checkStatus(t, w.plan(t, "plan"))
				// Look at a cluster in the middle of an upgrade: what needs something else is not there without it, and what runs stays.
				csv, crd := &v1alpha1.ClusterServiceVersion{}, &apiextensionsv1.CustomResourceDefinition{}
				if !w.get(t, csv, "ns", "op.v1") || csv.DeletionTimestamp != nil {
					t.Error("op.v1, which runs, is gone")
				}
				if !w.get(t, crd, "", "widgets.example.com") {
					t.Fatal("the CRD is gone")
				}
				replaced := w.get(t, csv, "ns", "op.v2")
				if replaced && len(crd.Spec.Versions) != 2 {
					t.Error("op.v2 is there without the version of the CRD that it owns")
				}
				role, service := &rbacv1.Role{}, &corev1.Service{}
				w.get(t, service, "ns", "web")
				if !replaced && (w.get(t, role, "ns", "op.v2-op-1") || len(service.Spec.Ports) == 1 && service.Spec.Ports[0].Port == 443) {
					t.Error("what belongs to op.v2 is there without it")
				}
				p := w.settle(t, time.Minute)
				hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
				must.Equal(t, "upgraded", upgraded(t, w), want)
			})
		}
	}
	if kills < sweep.Of(4, 20, 20) {
		t.Errorf("only %d kills", kills)
	}
}

// killedAt lets one pass run until a write, which is the last thing that happens or does not happen, and starts the manager again. It
// tells whether that write was reached.
func (w *world) killedAt(t *testing.T, at int, after bool) (reached bool) {
	t.Helper()
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
	for range 5 { // passes until it is killed, or there is nothing more to do
		if _, err := w.reconcile(t); dead || err != nil {
			break
		}
	}
	w.Fault(nil)
	w.controller.memory = memory{}
	return dead
}

// TestHandWrittenPlanKilledAtEveryWrite: from the names in a plan to what it installs.
func TestHandWrittenPlanKilledAtEveryWrite(t *testing.T) {
	begin := func() *world {
		w := newWorld(t, append([]client.Object{handMade("Automatic", "web.v1.0.0")}, objects...)...)
		w.shop(t, "ns", "cat", whole...)
		w.controller.engine.Parallel = 1
		return w
	}
	calm := begin()
	calm.settle(t, time.Minute)
	want := installedObjects(t, calm)
	for _, after := range []bool{false, true} {
		for at, reached := 1, true; reached; at += sweep.Of(5, 1, 1) {
			t.Run(fmt.Sprintf("write %d, after it %t", at, after), func(t *testing.T) {
				w := begin()
				reached = w.killedAt(t, at, after)
				checkStatus(t, w.plan(t, "plan"))
				hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
				must.Equal(t, "installed objects", installedObjects(t, w), want)
			})
		}
	}
}

// TestConflictOnEveryStatusWrite: somebody else writes the plan each time before the controller does, until it is done all the same.
func TestConflictOnEveryStatusWrite(t *testing.T) {
	for name, plan := range map[string]*v1alpha1.InstallPlan{"of a Subscription": wholePlan(t), "written by hand": handMade("Automatic", "web.v1.0.0")} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append([]client.Object{plan, pullSecret()}, objects...)...)
			w.shop(t, "ns", "cat", whole...)
			conflicts, odd := 0, false
			w.Fault(func(what string, after bool) error {
				if odd = what == reported && !after && !odd; !odd {
					return nil
				}
				conflicts++
				return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("installplans").GroupResource(), "plan", errors.New("modified"))
			})
			p := w.settle(t, time.Minute)
			if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || conflicts == 0 {
				t.Errorf("after %d conflicts: %s: %s", conflicts, p.Status.Phase, p.Status.Message)
			}
			checkStatus(t, p)
		})
	}
}

// TestALabelDuringAPassRepeatsNothing: what the pass did is written all the same. A change of what the pass was about is no mere label.
func TestALabelDuringAPassRepeatsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.InstallPlan)
		again  bool
	}{
		"a label":     {func(p *v1alpha1.InstallPlan) { p.Labels = map[string]string{"operators.coreos.com/web.ns": ""} }, false},
		"an approval": {func(p *v1alpha1.InstallPlan) { p.Spec.Approved = !p.Spec.Approved }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append([]client.Object{wholePlan(t), pullSecret()}, objects...)...)
			meanwhile := w.plan(t, "plan")
			c.change(meanwhile)
			once := false
			w.Fault(func(what string, after bool) error {
				if once || after || what != reported {
					return nil
				}
				once = true
				return w.Inner.Update(t.Context(), meanwhile)
			})
			if _, err := w.reconcile(t); apierrors.IsConflict(errors.Unwrap(err)) != c.again || err != nil != c.again {
				t.Errorf("the pass ended with: %v", err)
			}
			if p := w.plan(t, "plan"); p.Status.StartTime == nil != c.again {
				t.Errorf("what the pass did is written: %v, want %v", p.Status.StartTime != nil, !c.again)
			}
		})
	}
}

// TestTwoManagersAtOnce carry out the same plan, neither knowing of the other. Nothing is done twice, and the statuses of finished steps
// stay.
func TestTwoManagersAtOnce(t *testing.T) {
	want := undisturbed(t)
	for round := range 10 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			w := newWorld(t, wholePlan(t), pullSecret())
			request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "plan"}}
			var both sync.WaitGroup
			for range 2 {
				c := &Controller{Options: w.controller.Options, client: w.WithWatch, live: w.WithWatch, events: w.Events, engine: w.controller.engine}
				c.Metrics = metrics.NewInstallPlans()
				both.Go(func() {
					for range 20 {
						if _, err := c.Reconcile(t.Context(), request); err != nil && !apierrors.IsConflict(errors.Unwrap(err)) && !strings.Contains(err.Error(), "the server rejected our request") {
							t.Errorf("neither done nor in conflict: %v", err)
						}
					}
				})
			}
			both.Wait()
			p := w.settle(t, time.Minute)
			hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
			must.Equal(t, "installed objects", installedObjects(t, w), want)
			made := map[string]int{}
			for _, write := range w.Taken() {
				if strings.HasPrefix(write, "create") {
					made[write]++
				}
			}
			for write, n := range made {
				if n > 2 { // one succeeds; the other manager may have been on its way
					t.Errorf("%s was tried %d times", write, n)
				}
			}
		})
	}
}
