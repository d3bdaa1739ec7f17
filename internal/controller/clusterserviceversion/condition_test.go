package clusterserviceversion

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/must"
)

// TestUpgradeThatTheOperatorHolds: as long as the running version reports that it cannot be upgraded, it runs on and is corrected, and the next one
// waits with what it said. An override decides against it.
func TestUpgradeThatTheOperatorHolds(t *testing.T) {
	report := func(status metav1.ConditionStatus, generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: status, ObservedGeneration: generation, Message: "a migration is going on"}}
	}
	said := `operator is not upgradeable: the operatorcondition operators/op.v1 says "Upgradeable"="False": a migration is going on`
	for name, tc := range map[string]struct {
		held    func(*v2.OperatorCondition)
		message string
		release func(*v2.OperatorCondition)
	}{
		"reported": {
			func(c *v2.OperatorCondition) { c.Status.Conditions = report("False", 1) }, said,
			func(c *v2.OperatorCondition) { c.Status.Conditions = report("True", 1) },
		},
		"overridden": {
			func(c *v2.OperatorCondition) { c.Status.Conditions = report("False", 1) }, said,
			func(c *v2.OperatorCondition) { c.Spec.Overrides = report("True", 0) },
		},
		"outdated": {
			func(c *v2.OperatorCondition) { c.Generation, c.Status.Conditions = 2, report("True", 1) },
			`operator is not upgradeable: the operatorcondition status "Upgradeable"="True" is outdated`,
			func(c *v2.OperatorCondition) { c.Status.Conditions = report("True", 2) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			condition := &v2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "op.v1", Generation: 1}}
			tc.held(condition)
			k := newCluster(t, newGroup(ns), condition)
			k.installed(newCSV("op.v1"))
			next := newCSV("op.v2", replacing("op.v1"), withoutAccounts)
			k.create(next)
			expect(t, k.pass("op.v2"), toPending, "OperatorConditionNotUpgradeable", tc.message)
			expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
			k.rests("op.v2")
			k.delete(k.deployment("manager"))
			k.pass("op.v1")
			must.Equal(t, "the version that runs is not healed", k.deployment("manager") == nil, false)
			k.rollsOut("op.v1")

			edit(k, ns, "op.v1", &v2.OperatorCondition{}, tc.release)
			expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "being replaced by csv: op.v2")
			expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
			k.rollsOut("op.v2")
		})
	}
}

// TestOperatorConditionsWake the version that runs and the one that is to replace it.
func TestOperatorConditionsWake(t *testing.T) {
	k := newCluster(t, newCSV("op.v1"), newCSV("op.v2", replacing("op.v1")), newCSV("other.v1"))
	condition := &v2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "op.v1"}}
	must.Equal(t, "requests", names(k.c.triggers().conditioned(t.Context(), condition)), "operators/op.v1 operators/op.v2")
}
