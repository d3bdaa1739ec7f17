package clusterserviceversion

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// TestReplacedVersionRenewsItsCertificates while its successor waits for something, possibly for months.
func TestReplacedVersionRenewsItsCertificates(t *testing.T) {
	k := hooked(t)
	k.create(newCSV("op.v2", withWebhooks, withoutAccounts, replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "missing.example.com", Version: "v1", Kind: "Missing"}}
	}))
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	k.pass("op.v2")
	old, _ := k.servingCertificate()
	rotate, _ := old.RotateAt()
	if result, err := k.reconcile("op.v1"); err != nil || result.RequeueAfter != rotate.Sub(k.clock.Now()) {
		t.Errorf("looked at again after %s (%v), want %s", result.RequeueAfter, err, rotate.Sub(k.clock.Now()))
	}
	k.clock.SetTime(rotate)
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	k.clock.SetTime(rotate.Add(serving.APIServerDelay))
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	renewed, secret := k.servingCertificate()
	if bytes.Equal(renewed.Certificate, old.Certificate) {
		t.Fatal("the certificate was not renewed")
	}
	for name, ca := range k.authorities() {
		if !bytes.Equal(ca, renewed.CABundle) || !bytes.HasSuffix(ca, old.CABundle) {
			t.Errorf("webhook %s does not trust the old and the new certificate", name)
		}
	}
	must.Equal(t, "hash of the certificate that the pods run with", k.deployment("manager").Spec.Template.Annotations["olmcahash"], secret.Annotations["olmcahash"])
	k.rests("op.v1")
	// The successor gets what it needs: from then on everything is its own.
	k.create(newCRD("missing.example.com", "v1"))
	k.pass("op.v2")
	if again, secret := k.servingCertificate(); !bytes.Equal(again.Certificate, renewed.Certificate) || !ownedBy(secret, k.csv("op.v2")) {
		t.Errorf("the successor does not serve with it: %v", secret.Labels)
	}
	next, _ := renewed.RotateAt()
	k.clock.SetTime(next)
	k.wrote()
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	if writes := k.wrote(); slices.ContainsFunc(writes, func(w string) bool { return !strings.Contains(w, "ClusterServiceVersion") }) {
		t.Errorf("the replaced version writes what its successor has taken over: %v", writes)
	}
}

// TestRenewalSpreadsToTheReplacedVersion: a successor that announces a certificate lets the webhooks of the old version trust it, as long as
// they are there.
func TestRenewalSpreadsToTheReplacedVersion(t *testing.T) {
	k := hooked(t)
	old, _ := k.servingCertificate()
	rotate, _ := old.RotateAt()
	k.create(newCSV("op.v2", withWebhooks, withoutAccounts, replacing("op.v1")))
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	k.pass("op.v2")
	k.rollsOut("op.v2")
	if got := k.webhookConfigurations(); len(got) != 4 {
		t.Fatalf("webhook configurations: %v", got)
	}
	k.clock.SetTime(rotate)
	k.pass("op.v2")
	var list admissionv1.ValidatingWebhookConfigurationList
	must.NoError(t, k.client.List(t.Context(), &list))
	for _, w := range list.Items {
		if ca := w.Webhooks[0].ClientConfig.CABundle; bytes.Equal(ca, old.CABundle) || !bytes.HasSuffix(ca, old.CABundle) {
			t.Errorf("webhook %s of %s does not trust the old and the new certificate", w.Name, w.Labels[v1alpha1.OwnerLabel])
		}
	}
}

// TestCertificateThatSomebodyElseHasWritten counts: what is written over it would be trusted by no one who has heard of that one.
func TestCertificateThatSomebodyElseHasWritten(t *testing.T) {
	k := hooked(t)
	old, _ := k.servingCertificate()
	rotate, _ := old.RotateAt()
	k.clock.SetTime(rotate)
	k.pass("op.v1")
	k.clock.SetTime(rotate.Add(serving.APIServerDelay))
	k.api.Before = func(write string) error {
		if applied(write) == "apply Secret manager-service-cert" {
			return apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "manager-service-cert", errors.New("it was changed"))
		}
		return nil
	}
	k.c.writtenAt.Clear()
	k.fails("op.v1")
	k.api.Before = nil
	k.pass("op.v1")
	k.rollsOut("op.v1")
}

// TestTrustThatCannotBeSpread is told, and the server goes on showing what is trusted.
func TestTrustThatCannotBeSpread(t *testing.T) {
	k := hooked(t)
	old, _ := k.servingCertificate()
	rotate, _ := old.RotateAt()
	k.clock.SetTime(rotate)
	k.failAt("apply MutatingWebhookConfiguration", errors.New("no"))
	k.told()
	for range 2 {
		k.c.writtenAt.Clear()
		k.fails("op.v1")
		k.tells("Warning NeedsCertRotation spread trust in the next serving certificates")
		k.clock.SetTime(k.clock.Now().Add(serving.APIServerDelay))
	}
	if shown, _ := k.servingCertificate(); !bytes.Equal(shown.Certificate, old.Certificate) {
		t.Error("the server shows a certificate that not everybody trusts")
	}
	k.api.Before = nil
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	k.clock.SetTime(k.clock.Now().Add(serving.APIServerDelay))
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
}

// TestThreeYearsWithoutAFailedRequest skips the clock in steps. At every write, whoever the API server would ask is believed: the pods may
// show the certificate of the Secret, or still the one of the step before.
func TestThreeYearsWithoutAFailedRequest(t *testing.T) {
	k := askedInAllWays(t, serving.DefaultLife)
	shown, _ := k.servingCertificate()
	renewals, checked := 0, 0
	check := func(string) error {
		mounted, _ := k.servingCertificate()
		checked += k.believed(shown, mounted)
		return nil
	}
	k.api.After = check
	for end := k.clock.Now().AddDate(3, 0, 0); k.clock.Now().Before(end); k.clock.SetTime(k.clock.Now().AddDate(0, 0, 13)) {
		for range 3 {
			k.pass("op.v1")
			k.rollOut()
		}
		expect(t, k.csv("op.v1"), toSucceeded, "InstallSucceeded", "")
		_ = check("")
		if mounted, _ := k.servingCertificate(); !bytes.Equal(mounted.Certificate, shown.Certificate) {
			shown, renewals = mounted, renewals+1
		}
	}
	if renewals != 2 || checked < 500 {
		t.Errorf("%d renewals in three years, want 2; %d checks", renewals, checked)
	}
}
