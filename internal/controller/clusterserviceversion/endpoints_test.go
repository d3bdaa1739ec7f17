package clusterserviceversion

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/fairlead/test/must"
)

// TestConversionWaitsForAnEndpoint has an available Deployment whose Service has no endpoints yet. The CRD is converted as before until it
// has some, and admission webhooks are not asked; an endpoint that is used already keeps getting its authorities.
func TestConversionWaitsForAnEndpoint(t *testing.T) {
	k, _ := rolledOut(t)
	k.c.dial, k.silent = nil, true
	_, err := k.reconcile("op.v1")
	waiting := k.csv("op.v1")
	must.Equal(t, "nothing brings it back to look for the endpoints again", err == nil, false)
	must.Equal(t, "phase", waiting.Status.Phase, toInstalling)
	must.Contain(t, "message", waiting.Status.Message, "convert CRD things.example.com by webhook: Service operators/manager-service has no endpoint that is ready")
	if c := k.conversion("things.example.com"); c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		t.Errorf("switched on already: %+v", c)
	}
	if got := k.webhookConfigurations(); len(got) > 0 || !strings.Contains(waiting.Status.Message, "Service operators/manager-service has no endpoint that is ready; until it has one, it is not asked") {
		t.Errorf("registered already: %v; %s", got, waiting.Status.Message)
	}
	k.silent = false
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	if c := k.conversion("things.example.com"); c == nil || c.Strategy != apiextensionsv1.WebhookConverter {
		t.Errorf("conversion %+v", c)
	}
}

// TestWebhooksOfADeploymentWithoutPods are registered: their author wants it so.
func TestWebhooksOfADeploymentWithoutPods(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.silent = true
	csv := newCSV("op.v1", withWebhooks, withoutAccounts)
	csv.Spec.WebhookDefinitions = csv.Spec.WebhookDefinitions[:2]
	csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Replicas = new(int32)
	k.create(csv)
	k.pass("op.v1")
	k.rollsOut("op.v1")
	must.Equal(t, "webhook configurations", len(k.webhookConfigurations()), 2)
}
