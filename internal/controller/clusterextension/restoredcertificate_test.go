package clusterextension

import (
	"bytes"
	"testing"

	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// TestRestoredCertificate: a backup puts another valid certificate into the Secret, of which no client has heard. The next revision trusts it, and what pods
// show that have not read the Secret yet.
func TestRestoredCertificate(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	before, _ := w.shown()
	foreign := must.Value(serving.Issue(serving.Request{Hosts: served.Hosts, Now: w.clock.Now()}))(t)
	secret := w.secret()
	secret.Data["tls.crt"], secret.Data["tls.key"], secret.Data[serving.CAKey] = foreign.Certificate, foreign.Key, foreign.CABundle
	w.must(w.client.Update(t.Context(), secret))
	w.pass("my")
	w.settle("my")
	after, trusted := w.shown()
	if !bytes.Equal(after.Certificate, foreign.Certificate) {
		t.Fatal("the certificate that was restored is not kept")
	}
	for name, shown := range map[string]serving.Certificate{"restored": after, "before": before} {
		shown.CABundle = trusted
		must.NoErrorf(t, shown.Check(served.Hosts, w.clock.Now()), "the webhook configuration does not trust the certificate %s", name)
	}
	must.Equal(t, "revisions", w.newest("my").Spec.Revision, 2)
	w.pass("my")
	must.Equal(t, "revisions after another pass", w.newest("my").Spec.Revision, 2)
}
