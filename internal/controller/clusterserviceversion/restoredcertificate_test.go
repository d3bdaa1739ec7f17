package clusterserviceversion

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// TestRestoredCertificate: a backup puts another valid certificate into the Secret, of which no client has heard. At every write from then on, all clients
// believe the pods that run, which show the one from before, and those that the rollout makes, which show the one of the Secret.
func TestRestoredCertificate(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.serve(schema.GroupVersionKind{Group: "things.example.com", Version: "v1", Kind: "Thing"})
	k.serve(schema.GroupVersionKind{Group: "things.example.com", Version: "v1", Kind: "Other"})
	k.create(newCSV("op.v1", withWebhooks, withAPIService, withoutAccounts))
	k.pass("op.v1")
	k.rollOut()
	k.answer("True")
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	shown, secret := k.servingCertificate()
	ran := k.deployment("manager").Spec.Template.Annotations["olmcahash"]

	foreign := must.Value(serving.Issue(serving.Request{Hosts: bundle.ServingHosts("manager", ns), Now: k.clock.Now()}))(t)
	secret.Data["tls.crt"], secret.Data["tls.key"], secret.Data["olmCAKey"] = foreign.Certificate, foreign.Key, foreign.CABundle
	must.NoError(t, k.client.Update(t.Context(), secret))
	believed := func(certificates ...serving.Certificate) {
		trusted := k.authorities()
		s := &apiregistrationv1.APIService{}
		k.get("", apiService, s)
		trusted["api"] = s.Spec.CABundle
		must.Equal(t, "clients", len(trusted), 4)
		for name, ca := range trusted {
			for _, served := range certificates {
				must.NoErrorf(t, k.believes(ca, served, "manager-service.operators.svc"), "client %s", name)
			}
		}
	}
	rolledOut := false
	k.api.After = func(string) error {
		if k.deployment("manager").Spec.Template.Annotations["olmcahash"] != ran { // its pods show what the Secret holds
			rolledOut = true
			believed(shown, foreign)
		}
		return nil
	}
	k.told()
	k.pass("op.v1")
	if k.api.After = nil; !rolledOut {
		t.Error("the pods were not rolled out")
	}
	k.rollOut()
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	believed(shown, foreign)
	if mounted, _ := k.servingCertificate(); !bytes.Equal(mounted.Certificate, foreign.Certificate) || !bytes.HasPrefix(mounted.CABundle, foreign.CABundle) {
		t.Error("the certificate that was restored is not kept")
	}
	k.rests("op.v1")
}
