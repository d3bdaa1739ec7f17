package clusterserviceversion

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestHealedWhileReplaced: as long as the next version waits for its requirements, the old one is corrected; not any more from
// when the next one has begun, or has adopted what the old one had.
func TestHealedWhileReplaced(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v1", Kind: "Thing"}}
	}))
	k.pass("op.v2")
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	k.delete(managerDeployment())
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	expect(t, k.pass("op.v2"), toPending, "RequirementsNotMet", "")
	d := &appsv1.Deployment{}
	if !k.get(ns, "manager", d) || d.Labels[v1alpha1.OwnerLabel] != "op.v1" {
		t.Fatalf("nothing runs: %v", d.Labels)
	}

	k.rollOut()
	k.pass("op.v1")
	k.create(newCRD("things.example.com", "v1"))
	before := k.csv("op.v2").Status
	expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
	after := k.csv("op.v2").Status
	k.wrote()
	for _, status := range []v1alpha1.ClusterServiceVersionStatus{before, after} {
		csv := k.csv("op.v2")
		csv.Status = status // what the cache shows
		must.NoError(t, k.client.Status().Update(t.Context(), csv))
		k.pass("op.v1")
		must.Empty(t, "writes while the next version is "+string(status.Phase), k.wrote())
	}
}

// TestNoDriftIsCorrectedWithoutAGroup: while the group of a confined account is recreated, or a second group exists, no group decides with which
// rights the drift of a version that is being replaced is corrected. The manager's own rights must not be used.
func TestNoDriftIsCorrectedWithoutAGroup(t *testing.T) {
	second := newGroup("")
	second.Name, second.UID = "second", "second-uid"
	for name, c := range map[string]struct{ away, back func(*cluster) }{
		"none": {func(k *cluster) { k.delete(newGroup("")) }, func(k *cluster) { k.create(newGroup("")) }},
		"two":  {func(k *cluster) { k.create(second.DeepCopy()) }, func(k *cluster) { k.delete(second.DeepCopy()) }},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(""))
			k.installed(newCSV("op.v1", withoutAccounts))
			k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v1", Kind: "Thing"}}
			}))
			k.pass("op.v2")
			expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
			c.away(k)
			k.delete(managerDeployment())
			for range 2 {
				expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
			}
			must.Equal(t, "the Deployment was recreated although no group decides with which rights", k.get(ns, "manager", &appsv1.Deployment{}), false)
			c.back(k)
			expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
			must.Equal(t, "the Deployment was not recreated once there was exactly one group", !k.get(ns, "manager", &appsv1.Deployment{}), false)
		})
	}
}

// TestFailedIsHealedWhileGroupIsNotReady: what was installed and did not become healthy in its time may yet, so it is corrected like what runs.
func TestFailedIsHealedWhileGroupIsNotReady(t *testing.T) {
	k := newCluster(t, newGroup(ns))
	k.create(newCSV("op.v1", withoutAccounts))
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	k.clock.SetTime(k.clock.Now().Add(2 * DefaultInstallTimeout))
	expect(t, k.pass("op.v1"), toFailed, "InstallCheckFailed", "")
	edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Status = v1.OperatorGroupStatus{} })
	k.delete(managerDeployment())
	for range 2 {
		k.c.writtenAt.Clear()
		expect(t, k.pass("op.v1"), toFailed, "InstallCheckFailed", "")
	}
	must.Equal(t, "the Deployment is not made again", !k.get(ns, "manager", &appsv1.Deployment{}), false)
	k.rollOut()
	edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Status = newGroup(ns).Status })
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
}

// TestInstallReadyIsHealedWhileGroupIsNotReady: an install that is repeated, and was cut short, is of an operator that runs. What is installed
// for the first time waits for the group.
func TestInstallReadyIsHealedWhileGroupIsNotReady(t *testing.T) {
	for name, tc := range map[string]struct {
		begin  func(*cluster)
		reason string
		there  bool
	}{
		"repeated": {func(k *cluster) {
			expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
			k.delete(managerDeployment())
		}, "InstallWaiting", true},
		"changed": {func(k *cluster) {
			k.pass("op.v1")
			k.rollsOut("op.v1")
			edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image = "example.com/manager:2"
			})
		}, "ComponentUnhealthy", true},
		"the first time": {func(*cluster) {}, "AllRequirementsMet", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(ns))
			k.create(newCSV("op.v1", withoutAccounts))
			tc.begin(k)
			k.failAt("apply Deployment", apierrors.NewServerTimeout(schema.GroupResource{Group: "apps", Resource: "deployments"}, "patch", 1))
			k.c.writtenAt.Clear()
			k.fails("op.v1")
			expect(t, k.csv("op.v1"), toInstallReady, reason(tc.reason), "")
			k.api.Before = nil
			edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Status = v1.OperatorGroupStatus{} })
			if d := k.deploymentOrNil("manager"); d != nil {
				k.delete(d)
			}
			k.c.writtenAt.Clear()
			expect(t, k.pass("op.v1"), toInstallReady, reason(tc.reason), "")
			must.Equal(t, "the Deployment is there", k.deploymentOrNil("manager") != nil, tc.there)
		})
	}
}

// deploymentOrNil reads a Deployment; nil when it is gone.
func (k *cluster) deploymentOrNil(name string) *appsv1.Deployment {
	k.t.Helper()
	d := &appsv1.Deployment{}
	if !k.get(ns, name, d) {
		return nil
	}
	return d
}

// TestUnhealthyWhileReplaced: the status says so as long as no successor has begun, and when it is over.
func TestUnhealthyWhileReplaced(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v1", Kind: "Thing"}}
	}))
	k.pass("op.v2")
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "being replaced by csv: op.v2")
	k.unavailable("manager")
	unhealthy := "being replaced by csv: op.v2, which has not begun its install; meanwhile this one is not healthy: waiting for deployment manager to become ready: "
	for range 2 {
		csv := k.pass("op.v1")
		if csv.Status.Phase != toReplacing || !strings.HasPrefix(csv.Status.Message, unhealthy) {
			t.Errorf("%s %q, want %q", csv.Status.Phase, csv.Status.Message, unhealthy)
		}
	}
	k.rollOut()
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "being replaced by csv: op.v2")
	k.rests("op.v1")
}

// TestHealedWhileGroupIsNotReady: what runs is corrected, and the status reports what is waited for and, later, that it is no more.
func TestHealedWhileGroupIsNotReady(t *testing.T) {
	for name, tc := range map[string]struct {
		unready func(k *cluster)
		ready   func(k *cluster)
		waits   string
	}{
		"the group has yet to list an API": {
			unready: func(k *cluster) {
				edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { ownsThing(csv) })
			},
			ready: func(k *cluster) { k.listAPIs() },
			waits: "OperatorGroup group",
		},
		"the group has yet to select": {
			unready: func(k *cluster) {
				edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Status = v1.OperatorGroupStatus{} })
			},
			ready: func(k *cluster) {
				edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Status = newGroup(ns).Status })
			},
			waits: "OperatorGroup group to select its target namespaces",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(ns), newCRD("things.example.com", "v1"))
			look := func() *v1alpha1.ClusterServiceVersion {
				t.Helper()
				k.c.writtenAt.Clear()
				must.Value(k.c.Reconcile(t.Context(), reconcile.Request{NamespacedName: key(ns, "op.v1")}))(t)
				return k.csv("op.v1")
			}
			k.installed(newCSV("op.v1", withoutAccounts))
			tc.unready(k)
			k.delete(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager"}})
			look()
			csv := look() // details of a state follow its metadata a while later
			expect(t, csv, toSucceeded, "InstallSucceeded", "")
			must.Equal(t, "nothing runs", !k.get(ns, "manager", &appsv1.Deployment{}), false)
			must.Contain(t, "message", csv.Status.Message, "; waiting for ")
			must.Contain(t, "message", csv.Status.Message, tc.waits)
			k.rollOut()
			tc.ready(k)
			expect(t, look(), toSucceeded, "InstallSucceeded", "install strategy completed with no errors")
		})
	}
}
