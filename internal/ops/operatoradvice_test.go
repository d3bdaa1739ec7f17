package ops

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestAdviceBesidesTheReason: what to do is said once, by the reason where that has a remedy of its own, and else in general.
func TestAdviceBesidesTheReason(t *testing.T) {
	failed := Listed{Name: "mine", Namespace: "ops", State: "Failed"}
	for _, reason := range []string{
		"no operator has package kite; add its catalog, or correct the name",
		"requirements are not met\nto see what to do: fairlead why mine -n ops",
		"the namespace has no OperatorGroup: create one",
		"the ServiceAccount may not create roles.rbac.authorization.k8s.io; grant it that right",
		"the operator watches all namespaces, and OperatorGroup a selects one; set spec.config of the Subscription, or change the OperatorGroup",
		"the upgrade waits until the added permissions are accepted: fairlead upgrade mine --acknowledge-permissions abc",
	} {
		must.Equal(t, "advice besides "+reason, advice(Node{Kind: "Subscription", State: "Failed", Reason: reason}, failed), "")
	}
	for _, reason := range []string{
		"", "Deployment does not have minimum availability.", "containers with unready status: [manager]", "it is being installed", "waiting for deployment kite to become ready: 0 of 1 pods are available",
		"Back-off pulling: the set of pods is not complete", "asked to create pods: exceeded quota",
	} {
		must.Contain(t, "advice for "+reason, advice(Node{Kind: "Deployment", State: "Failed", Reason: reason}, failed), "wait for a minute")
	}
	must.Contain(t, "a state that is known", advice(Node{Kind: "Pod", State: "OOMKilled", Reason: "set the memory"}, failed), "give the container more memory")
}
