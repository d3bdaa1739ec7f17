package clusterserviceversion

import (
	"bytes"
	"testing"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// TestRestoredCertificate: a backup puts another valid certificate into the Secret, of which no client has heard. At every write from then on, all clients
// believe the pods that run, which show the one from before, and those that the rollout makes, which show the one of the Secret.
func TestRestoredCertificate(t *testing.T) {
	k := askedInAllWays(t, 0)
	shown, secret := k.servingCertificate()
	ran := k.deployment("manager").Spec.Template.Annotations["olmcahash"]

	foreign := must.Value(serving.Issue(serving.Request{Hosts: bundle.ServingHosts("manager", ns), Now: k.clock.Now()}))(t)
	secret.Data["tls.crt"], secret.Data["tls.key"], secret.Data["olmCAKey"] = foreign.Certificate, foreign.Key, foreign.CABundle
	must.NoError(t, k.client.Update(t.Context(), secret))
	rolledOut := false
	k.api.After = func(string) error {
		if k.deployment("manager").Spec.Template.Annotations["olmcahash"] != ran { // its pods show what the Secret holds
			rolledOut = true
			k.believed(shown, foreign)
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
	k.believed(shown, foreign)
	if mounted, _ := k.servingCertificate(); !bytes.Equal(mounted.Certificate, foreign.Certificate) || !bytes.HasPrefix(mounted.CABundle, foreign.CABundle) {
		t.Error("the certificate that was restored is not kept")
	}
	k.rests("op.v1")
}
