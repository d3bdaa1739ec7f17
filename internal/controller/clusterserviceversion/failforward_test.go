package clusterserviceversion

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/must"
)

// TestFailForwardWaitsForHeldUpgrades: a failed operator that reports that it cannot be upgraded is not passed over, until it says otherwise.
func TestFailForwardWaitsForHeldUpgrades(t *testing.T) {
	group := newGroup("")
	group.Spec.UpgradeStrategy = v1.UpgradeStrategyUnsafeFailForward
	condition := &v2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "op.v1"}}
	condition.Spec.Overrides = []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: metav1.ConditionFalse, Message: "no"}}
	k := newCluster(t, group, condition)
	k.installed(newCSV("op.v1", withoutAccounts))
	var d appsv1.Deployment
	k.get(ns, "manager", &d)
	k.setStatus(&d, appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}}})
	k.pass("op.v1")
	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1")))
	for range 2 {
		k.pass("op.v2")
		if got := k.pass("op.v1").Status; got.Phase == toReplacing {
			t.Fatalf("it hands over: %s/%s %q", got.Phase, got.Reason, got.Message)
		}
	}
	must.Equal(t, "phase of the next version", k.csv("op.v2").Status.Phase, toPending)
	edit(k, ns, "op.v1", &v2.OperatorCondition{}, func(c *v2.OperatorCondition) { c.Spec.Overrides = nil })
	must.Equal(t, "phase once it is released", k.pass("op.v1").Status.Phase, toReplacing)
}
