package clusterserviceversion

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// servedBy makes another Deployment serve the APIs.
func servedBy(by string) func(*v1alpha1.ClusterServiceVersion) {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []v1alpha1.StrategyDeploymentSpec{newStrategy(by)}
		for i := range csv.Spec.APIServiceDefinitions.Owned {
			csv.Spec.APIServiceDefinitions.Owned[i].DeploymentName = by
		}
	}
}

// TestAPIServiceIsHandedOver when the server of the next version runs and has an endpoint, and not before.
func TestAPIServiceIsHandedOver(t *testing.T) {
	k := withAPI(t)
	leads := func(want, owner string) {
		t.Helper()
		s := &apiregistrationv1.APIService{}
		k.get("", apiService, s)
		must.Equal(t, "name", s.Spec.Service.Name, want)
		must.Equal(t, "owner label", s.Labels[v1alpha1.OwnerLabel], owner)
	}
	k.create(newCSV("op.v2", withAPIService, withoutAccounts, servedBy("server"), replacing("op.v1")))
	k.pass("op.v1")
	expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
	leads("manager-service", "op.v1")
	k.silent = true
	k.rollOut()
	k.c.writtenAt.Clear()
	k.fails("op.v2")
	csv := k.csv("op.v2")
	if expect(t, csv, toInstalling, "InstallWaiting", ""); !strings.Contains(csv.Status.Message, "Service operators/server-service has no endpoint that is ready; until it has one, it leads where it did") {
		t.Errorf("message %q", csv.Status.Message)
	}
	leads("manager-service", "op.v1")
	k.silent = false
	expect(t, k.pass("op.v2"), toSucceeded, "InstallSucceeded", "")
	leads("server-service", "op.v2")
	for range 3 {
		k.pass("op.v1")
	}
	k.clock.SetTime(k.clock.Now().Add(handoverDelay))
	for range 3 {
		k.pass("op.v1")
	}
	must.Equal(t, "the old version is still there", k.csv("op.v1") != nil, false)
	expect(t, k.pass("op.v2"), toSucceeded, "InstallSucceeded", "")
	leads("server-service", "op.v2")
}

// TestAPIServiceWithoutTLSIsTakenOver although the cluster refuses one that has authorities and does not look at certificates.
func TestAPIServiceWithoutTLSIsTakenOver(t *testing.T) {
	for _, skips := range []bool{true, false} {
		desired, live := &unstructured.Unstructured{Object: map[string]any{}}, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"insecureSkipTLSVerify": skips}}}
		must.NoError(t, (&chain{}).mayWrite(&apiregistrationv1.APIService{}, desired, live))
		if verifies, said, err := unstructured.NestedBool(desired.Object, "spec", "insecureSkipTLSVerify"); verifies || said != skips || err != nil {
			t.Errorf("asked for: %v, %v", desired.Object, err)
		}
	}
}

// TestServersOutliveTheirVersion for a short while: requests that are under way lead to them.
func TestServersOutliveTheirVersion(t *testing.T) {
	k := hooked(t)
	next := newCSV("op.v2", withWebhooks, withoutAccounts, replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []v1alpha1.StrategyDeploymentSpec{newStrategy("server")}
		for i := range csv.Spec.WebhookDefinitions {
			csv.Spec.WebhookDefinitions[i].DeploymentName = "server"
		}
	})
	k.create(next)
	k.pass("op.v1")
	k.pass("op.v2")
	k.rollOut()
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	must.Equal(t, "webhook configurations, until there are others", len(k.webhookConfigurations()), 2)
	expect(t, k.pass("op.v2"), toSucceeded, "InstallSucceeded", "")
	k.clock.SetTime(k.clock.Now().Add(handoverDelay / 2))
	k.c.writtenAt.Clear()
	result, err := k.reconcile("op.v1")
	must.NoError(t, err)
	must.Equal(t, "requeue after", result.RequeueAfter, handoverDelay/2)
	expect(t, k.csv("op.v1"), toReplacing, "BeingReplaced", "replaced by csv: op.v2, which is installed; requests that are under way are answered first")
	if got := k.webhookConfigurations(); len(got) != 2 || k.deployment("manager") == nil || !k.get(ns, "manager-service", &corev1.Service{}) {
		t.Errorf("webhooks %v; the server has to be there", got)
	}
	k.rests("op.v1")
	k.clock.SetTime(k.clock.Now().Add(handoverDelay / 2))
	for range 3 {
		k.pass("op.v1")
	}
	must.Equal(t, "the old version is still there", k.csv("op.v1") != nil, false)
}
