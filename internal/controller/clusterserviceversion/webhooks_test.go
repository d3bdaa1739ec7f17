package clusterserviceversion

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

// withWebhooks gives a CSV a validating, a mutating and a conversion webhook.
func withWebhooks(csv *v1alpha1.ClusterServiceVersion) {
	none := admissionv1.SideEffectClassNone
	path := "/convert"
	hook := func(name string, kind v1alpha1.WebhookAdmissionType) v1alpha1.WebhookDescription {
		return v1alpha1.WebhookDescription{
			GenerateName: name, Type: kind, DeploymentName: "manager", ContainerPort: 443, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}
	}
	csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: "AllNamespaces", Supported: true}}
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "things.example.com", Version: "v1", Kind: "Thing"}}
	csv.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{
		hook("v.example.com", v1alpha1.ValidatingAdmissionWebhook), hook("m.example.com", v1alpha1.MutatingAdmissionWebhook), hook("c.example.com", v1alpha1.ConversionWebhook),
	}
	csv.Spec.WebhookDefinitions[2].ConversionCRDs = []string{"things.example.com"}
	csv.Spec.WebhookDefinitions[2].WebhookPath = &path
}

// hooked is a cluster with an operator that runs and has webhooks.
func hooked(t *testing.T) *cluster {
	t.Helper()
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.installed(newCSV("op.v1", withWebhooks))
	k.wrote()
	return k
}

func (k *cluster) conversion(crd string) *apiextensionsv1.CustomResourceConversion {
	k.t.Helper()
	out := &apiextensionsv1.CustomResourceDefinition{}
	k.get("", crd, out)
	return out.Spec.Conversion
}

// authorities are the CA bundles of the webhooks of a cluster, by webhook.
func (k *cluster) authorities() map[string][]byte {
	k.t.Helper()
	out := map[string][]byte{}
	var validating admissionv1.ValidatingWebhookConfigurationList
	must.NoError(k.t, k.client.List(k.t.Context(), &validating))
	for _, w := range validating.Items {
		out[w.Webhooks[0].Name] = w.Webhooks[0].ClientConfig.CABundle
	}
	var mutating admissionv1.MutatingWebhookConfigurationList
	must.NoError(k.t, k.client.List(k.t.Context(), &mutating))
	for _, w := range mutating.Items {
		out[w.Webhooks[0].Name] = w.Webhooks[0].ClientConfig.CABundle
	}
	if c := k.conversion("things.example.com"); c != nil && c.Webhook != nil {
		out["conversion"] = c.Webhook.ClientConfig.CABundle
	}
	return out
}

func (k *cluster) servingCertificate() (serving.Certificate, *corev1.Secret) {
	k.t.Helper()
	secret := &corev1.Secret{}
	k.get(ns, "manager-service-cert", secret)
	return serving.Certificate{Certificate: secret.Data["tls.crt"], Key: secret.Data["tls.key"], CABundle: secret.Data["olmCAKey"]}, secret
}

// TestWebhooksAreRegisteredWhenTheyAnswer: not before the Deployment behind them is available.
func TestWebhooksAreRegisteredWhenTheyAnswer(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	csv := newCSV("op.v1", withWebhooks)
	k.create(csv)
	k.create(permissions(t, csv)...)
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	must.Empty(t, "hooks registered before the Deployment is available", k.authorities())
	k.rollOut()
	installed := k.pass("op.v1")
	expect(t, installed, toSucceeded, "InstallSucceeded", "")

	serving, secret := k.servingCertificate()
	if err := serving.Due(bundle.ServingHosts("manager", ns), k.clock.Now()); err != nil {
		t.Errorf("serving certificate: %v", err)
	}
	for name, ca := range k.authorities() {
		if !bytes.Equal(ca, serving.CABundle) {
			t.Errorf("webhook %s trusts others than the authority of the certificate", name)
		}
	}
	must.Equal(t, "webhook configurations", k.webhookConfigurations(), []string{"validating v.example.com", "mutating m.example.com"})
	c := k.conversion("things.example.com")
	if c.Strategy != "Webhook" || c.Webhook.ClientConfig.Service.Name != "manager-service" || *c.Webhook.ClientConfig.Service.Path != "/convert" {
		t.Errorf("conversion: %+v", c)
	}
	if secret.Type != corev1.SecretTypeTLS || !hasOwner(secret, "op.v1-uid") || k.deployment("manager").Spec.Template.Annotations["olmcahash"] != secret.Annotations["olmcahash"] {
		t.Errorf("Secret: %v", secret.ObjectMeta)
	}
	rotate, _ := serving.RotateAt()
	if installed.Status.CertsRotateAt == nil || !installed.Status.CertsRotateAt.Time.Equal(rotate) || installed.Status.CertsLastUpdated == nil {
		t.Errorf("status has the certificate renewed at %v, want %s", installed.Status.CertsRotateAt, rotate)
	}
	if result, err := k.reconcile("op.v1"); err != nil || result.RequeueAfter != rotate.Sub(k.clock.Now()) {
		t.Errorf("looked at again after %s (%v), want %s", result.RequeueAfter, err, rotate.Sub(k.clock.Now()))
	}
}

func TestServingObjects(t *testing.T) {
	k := hooked(t)
	service := &corev1.Service{}
	if !k.get(ns, "manager-service", service) || service.Spec.Ports[0].Port != 443 || service.Spec.Selector["app"] != "manager" {
		t.Errorf("Service: %+v", service.Spec)
	}
	account := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "account"}}
	for _, name := range []string{ns + "/manager-service-cert", "kube-system/manager-service-auth-reader"} {
		namespace, name, _ := strings.Cut(name, "/")
		binding := &rbacv1.RoleBinding{}
		if !k.get(namespace, name, binding) || cmp.Diff(account, binding.Subjects) != "" || !ownedBy(binding, k.csv("op.v1")) {
			t.Errorf("RoleBinding %s/%s: %v", namespace, name, binding)
		}
	}
	delegator := &rbacv1.ClusterRoleBinding{}
	if !k.get("", "manager-service-system:auth-delegator", delegator) || cmp.Diff(account, delegator.Subjects) != "" || !ownedBy(delegator, k.csv("op.v1")) {
		t.Errorf("ClusterRoleBinding: %v", delegator)
	}
}

func TestWebhookNamespaces(t *testing.T) {
	selected := newGroup("x")
	selected.Spec = v1.OperatorGroupSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}}
	tests := map[string]struct {
		group *v1.OperatorGroup
		want  *metav1.LabelSelector
	}{
		"all":         {newGroup(""), nil},
		"named":       {newGroup("x"), &metav1.LabelSelector{MatchLabels: map[string]string{"olm.operatorgroup.uid/group-uid": ""}}},
		"by selector": {selected, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, membership{*tc.group}.webhookNamespaces()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidWebhooks(t *testing.T) {
	tests := map[string]struct {
		edit    func([]v1alpha1.WebhookDescription) []v1alpha1.WebhookDescription
		message string
	}{
		"a name twice": {func(d []v1alpha1.WebhookDescription) []v1alpha1.WebhookDescription {
			d[1].GenerateName = d[0].GenerateName
			return d
		}, `repeat the generateName "v.example.com"`},
		"all groups": {func(d []v1alpha1.WebhookDescription) []v1alpha1.WebhookDescription {
			d[0].Rules = []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{APIGroups: []string{"*"}}}}
			return d
		}, `names the API group "*"`},
		"a Deployment that is not there": {func(d []v1alpha1.WebhookDescription) []v1alpha1.WebhookDescription {
			d[0].DeploymentName = "other"
			return d
		}, `deploymentName "other" is not among`},
		"a conversion of nothing": {func(d []v1alpha1.WebhookDescription) []v1alpha1.WebhookDescription {
			d[2].ConversionCRDs = nil
			return d
		}, "needs conversionCRDs"},
		"a conversion of what is not owned": {func(d []v1alpha1.WebhookDescription) []v1alpha1.WebhookDescription {
			d[2].ConversionCRDs = []string{"others.example.com"}
			return d
		}, "others.example.com is not among the owned CRDs"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			csv := newCSV("op.v1", withoutAccounts, withWebhooks)
			csv.Spec.WebhookDefinitions = tc.edit(csv.Spec.WebhookDefinitions)
			k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"), csv)
			got := k.pass("op.v1")
			expect(t, got, toFailed, "InvalidWebhookDescription", "")
			must.Contain(t, "message", got.Status.Message, tc.message)
		})
	}
}

func TestChangedWebhooksAreHealedInPlace(t *testing.T) {
	k := hooked(t)
	configuration := func() *admissionv1.ValidatingWebhookConfiguration {
		var list admissionv1.ValidatingWebhookConfigurationList
		if err := k.client.List(t.Context(), &list); err != nil || len(list.Items) != 1 {
			t.Fatal(err, list.Items)
		}
		return &list.Items[0]
	}
	before := configuration().Name
	edit(k, "", before, &admissionv1.ValidatingWebhookConfiguration{}, func(w *admissionv1.ValidatingWebhookConfiguration) {
		w.Webhooks[0].ClientConfig.CABundle = []byte("wrong")
	})
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	serving, _ := k.servingCertificate()
	if after := configuration(); after.Name != before || !bytes.Equal(after.Webhooks[0].ClientConfig.CABundle, serving.CABundle) {
		t.Error("the authority was not healed")
	}
	k.delete(configuration())
	edit(k, "", "things.example.com", &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: "None"}
	})
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	if configuration().Name != before || k.conversion("things.example.com").Strategy != "Webhook" {
		t.Error("the webhooks were not registered again")
	}
	k.rests("op.v1")
}

// TestWebhooksUnderOtherNames are adopted, and those that nothing is desired from are removed.
func TestWebhooksUnderOtherNames(t *testing.T) {
	k := hooked(t)
	var list admissionv1.MutatingWebhookConfigurationList
	must.NoError(t, k.client.List(t.Context(), &list))
	renamed, old := list.Items[0].DeepCopy(), list.Items[0].DeepCopy()
	k.delete(&list.Items[0])
	renamed.Name, renamed.ResourceVersion = "m.example.com-x7k2p", ""
	old.Name, old.ResourceVersion = "gone.example.com-abcde", ""
	old.Labels["olm.webhook-description-generate-name"] = "gone.example.com"
	k.create(renamed, old)
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	if err := k.client.List(t.Context(), &list); err != nil || len(list.Items) != 1 || list.Items[0].Name != "m.example.com-x7k2p" {
		t.Errorf("%v: %v", err, list.Items)
	}
}

// convertedBy makes the CRD of withWebhooks be converted by the Service of an operator of a namespace.
func (k *cluster) convertedBy(namespace string) {
	k.t.Helper()
	edit(k, "", "things.example.com", &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: namespace, Name: "manager-service"}},
		}}
	})
}

// TestConversionOfAnotherNamespace: who converts the CRD goes on converting it, and where no one does yet, the older one that is being installed.
func TestConversionOfAnotherNamespace(t *testing.T) {
	const other = "ClusterServiceVersion other/first, which was there first: a CRD has one conversion webhook in the cluster; delete one of the two"
	for name, tc := range map[string]struct {
		phase     phase
		reason    reason
		created   int64
		convertBy string
		want      string
	}{
		"it converts":                         {toSucceeded, "", 1, "other", "is converted by " + other},
		"it converts, although it is younger": {toSucceeded, "", 1 << 32, "other", "is converted by " + other},
		"it converts, although it failed":     {toFailed, v1alpha1.CSVReasonInstallCheckFailed, 1, "other", "is converted by " + other},
		"it is being installed":               {toInstalling, "", 1, "", "is to be converted by " + other},
		"it is being installed, and younger":  {toInstalling, "", 1 << 32, "", ""},
		"it waits":                            {toPending, "", 1, "", ""},
		"it never ran":                        {toFailed, v1alpha1.CSVReasonInterOperatorGroupOwnerConflict, 1, "", ""},
		"it was stopped":                      {toFailed, v1alpha1.CSVReasonInterOperatorGroupOwnerConflict, 1, "other", ""},
		"it was stopped by a static group":    {toFailed, v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs, 1, "other", ""},
		"somebody else converts, who is gone": {toPending, "", 1, "third", ""},
	} {
		t.Run(name, func(t *testing.T) {
			first := newCSV("first", withWebhooks)
			first.Namespace, first.CreationTimestamp = "other", metav1.NewTime(time.Unix(tc.created, 0))
			first.Status.Phase, first.Status.Reason = tc.phase, tc.reason
			k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"), first)
			if tc.convertBy != "" {
				k.convertedBy(tc.convertBy)
			}
			k.create(newCSV("op.v1", withWebhooks, withoutAccounts))
			k.pass("op.v1")
			k.rollOut()
			k.c.writtenAt.Clear()
			_, err := k.reconcile("op.v1")
			if tc.want == "" {
				expect(t, k.csv("op.v1"), toSucceeded, "InstallSucceeded", "")
				if s := k.conversion("things.example.com").Webhook.ClientConfig.Service; err != nil || s.Namespace != ns {
					t.Errorf("it is converted by %s/%s; %v", s.Namespace, s.Name, err)
				}
				return
			}
			must.Equal(t, "the conflict is not retried", err == nil, false)
			expect(t, k.csv("op.v1"), toInstalling, "InstallWaiting", "Webhook install failed: CRD things.example.com "+tc.want)
			k.delete(first)
			expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
		})
	}
}

// TestAnotherNamespaceDoesNotHoldAnUpgrade: the operator that converts is upgraded to a version that is younger than an operator of another
// namespace, which converts nothing.
func TestAnotherNamespaceDoesNotHoldAnUpgrade(t *testing.T) {
	for name, phase := range map[string]phase{"runs": toSucceeded, "was refused": toFailed} {
		t.Run(name, func(t *testing.T) {
			k := hooked(t)
			second := newCSV("second", withWebhooks, withoutAccounts)
			second.Namespace, second.CreationTimestamp, second.Status.Phase = "other", metav1.NewTime(time.Unix(5, 0)), phase
			k.create(second)
			k.create(newCSV("op.v2", withWebhooks, withoutAccounts, replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.WebhookDefinitions[2].WebhookPath = new("/convert/v2")
			}))
			for range 4 {
				_, _ = k.reconcile("op.v1")
				_, _ = k.reconcile("op.v2")
				k.rollOut()
				k.c.writtenAt.Clear()
			}
			expect(t, k.csv("op.v2"), toSucceeded, "InstallSucceeded", "")
			must.Equal(t, "path of the conversion", *k.conversion("things.example.com").Webhook.ClientConfig.Service.Path, "/convert/v2")
		})
	}
}

// TestWebhooksThatCannotBeRegistered: after the time to install the CSV rests in Failed until they can.
func TestWebhooksThatCannotBeRegistered(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.create(newCSV("op.v1", withWebhooks, withoutAccounts))
	k.failAt("apply MutatingWebhookConfiguration", errors.New("no"))
	try := func() *v1alpha1.ClusterServiceVersion {
		t.Helper()
		k.c.writtenAt.Clear()
		k.rollOut()
		_, _ = k.reconcile("op.v1")
		return k.csv("op.v1")
	}
	try()
	expect(t, try(), toInstalling, "InstallWaiting", "")
	k.clock.SetTime(k.clock.Now().Add(DefaultInstallTimeout))
	for range 3 {
		csv := try()
		expect(t, csv, toFailed, "InstallCheckFailed", "")
		if !strings.HasPrefix(csv.Status.Message, "install timeout: create MutatingWebhookConfiguration") {
			t.Errorf("message %q", csv.Status.Message)
		}
	}
	k.api.Before = nil
	expect(t, try(), toSucceeded, "InstallSucceeded", "")
}

func TestPreserveUnknownFieldsCannotBeConverted(t *testing.T) {
	crd := newCRD("things.example.com", "v1")
	crd.Spec.PreserveUnknownFields = true
	k := newCluster(t, newGroup(""), crd, newCSV("op.v1", withWebhooks, withoutAccounts))
	k.pass("op.v1")
	k.rollOut()
	k.c.writtenAt.Clear()
	_, _ = k.reconcile("op.v1")
	expect(t, k.csv("op.v1"), toInstalling, "InstallWaiting",
		"Webhook install failed: convert CRD things.example.com with webhook c.example.com: spec.preserveUnknownFields is true; the CRD has to set it to false")
}

// TestRotation renews the certificate at two thirds of its life. Trust comes first: what is registered trusts the new one for a while before
// servers show it.
func TestRotation(t *testing.T) {
	k := hooked(t)
	old, _ := k.servingCertificate()
	rotate := must.Value(old.RotateAt())(t)
	k.clock.SetTime(rotate)
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	if shown, _ := k.servingCertificate(); !bytes.Equal(shown.Certificate, old.Certificate) {
		t.Error("the new certificate is shown at once")
	}
	must.Equal(t, "webhooks", len(k.authorities()), 3)
	for name, ca := range k.authorities() {
		if bytes.Equal(ca, old.CABundle) || !bytes.HasSuffix(ca, old.CABundle) {
			t.Errorf("webhook %s does not trust the old and the new certificate", name)
		}
	}
	k.wrote()
	k.clock.SetTime(rotate.Add(serving.APIServerDelay / 2))
	if result, err := k.reconcile("op.v1"); err != nil || result.RequeueAfter != serving.APIServerDelay/2 {
		t.Errorf("looked at again after %s (%v), want %s", result.RequeueAfter, err, serving.APIServerDelay/2)
	}
	must.Empty(t, "writes in between", k.wrote())

	k.clock.SetTime(rotate.Add(serving.APIServerDelay))
	trusted := k.authorities()
	csv := k.pass("op.v1")
	expect(t, csv, toInstalling, "InstallWaiting", "")
	if !slices.Contains(history(csv), "Pending/NeedsCertRotation") {
		t.Errorf("history: %v", history(csv))
	}
	renewed, _ := k.servingCertificate()
	if bytes.Equal(renewed.Certificate, old.Certificate) || !csv.Status.CertsRotateAt.After(rotate) || !csv.Status.CertsLastUpdated.Time.Equal(rotate.Add(serving.APIServerDelay).Truncate(time.Second)) {
		t.Errorf("the certificate was not renewed: %v, %v", csv.Status.CertsRotateAt, csv.Status.CertsLastUpdated)
	}
	k.rollsOut("op.v1")
	for name, ca := range k.authorities() {
		if !bytes.Equal(ca, renewed.CABundle) || !bytes.Equal(ca, trusted[name]) {
			t.Errorf("webhook %s does not trust what was staged and is served", name)
		}
	}
	k.rests("op.v1")
}

// TestKilledWhileACertificateIsRenewed: whichever write a manager is killed at, before or after the cluster has it, the next one continues with the
// certificate that is staged. At every write, all that is registered trusts what the pods serve: the certificate in the Secret, or the one before.
func TestKilledWhileACertificateIsRenewed(t *testing.T) {
	for n := 1; ; n++ {
		total := 0
		for _, arrives := range []bool{false, true} {
			k := hooked(t)
			old, _ := k.servingCertificate()
			rotate, _ := old.RotateAt()
			k.clock.SetTime(rotate)
			writes, staged := 0, map[string]bool{}
			kill := func(after bool) error {
				now, secret := k.servingCertificate()
				if next := secret.Data["next.crt"]; next != nil {
					staged[string(next)] = true
				}
				for name, ca := range k.authorities() {
					for _, served := range []serving.Certificate{old, now} {
						if err := k.believes(ca, served, "manager-service.operators.svc"); err != nil {
							t.Errorf("killed at write %d (it arrives: %t), at write %d: webhook %s: %v", n, arrives, writes, name, err)
						}
					}
				}
				if !after {
					writes++
				}
				if writes == n && after == arrives {
					return fakeapi.ErrKilled
				}
				return nil
			}
			k.api.Fault(func(_ string, after bool) error { return kill(after) })
			for range 6 {
				k.c.writtenAt.Clear()
				if _, err := k.reconcile("op.v1"); err != nil {
					k.c = k.restarted()
				}
				k.rollOut()
				k.clock.SetTime(k.clock.Now().Add(serving.APIServerDelay))
			}
			k.api.Before, k.api.After = nil, nil
			expect(t, k.csv("op.v1"), toSucceeded, "InstallSucceeded", "")
			renewed, secret := k.servingCertificate()
			if bytes.Equal(renewed.Certificate, old.Certificate) || !staged[string(renewed.Certificate)] || len(staged) != 1 || len(secret.Data) != 3 {
				t.Errorf("killed at write %d (it arrives: %t): %d certificates were staged, and the Secret holds %d keys", n, arrives, len(staged), len(secret.Data))
			}
			total = max(total, writes)
		}
		if n > total {
			if n < 10 {
				t.Errorf("a renewal takes %d writes, which is too few", n)
			}
			return
		}
	}
}

// TestFightForTheCertificate ends: a Secret that another client deletes again and again is reissued five times within ten minutes, then the status
// names the cause, and later the certificate is issued again.
func TestFightForTheCertificate(t *testing.T) {
	k := hooked(t)
	lose := func() {
		_, secret := k.servingCertificate()
		k.delete(secret)
		k.pass("op.v1")
		k.rollOut()
		k.pass("op.v1")
	}
	for range 5 { // the first one was issued by the install
		lose()
		expect(t, k.csv("op.v1"), toSucceeded, "InstallSucceeded", "")
	}
	lose()
	csv := k.csv("op.v1")
	must.Equal(t, "phase", csv.Status.Phase, toFailed)
	must.Contain(t, "message", csv.Status.Message, "issued 6 times within 10m0s, because another client deletes or changes the Secret")
	k.wrote()
	if k.pass("op.v1"); len(k.wrote()) != 0 {
		t.Error("it is fought for")
	}
	k.clock.SetTime(k.clock.Now().Add(10 * time.Minute))
	k.pass("op.v1")
	k.rollsOut("op.v1")
}

// TestFightForTheStagedCertificate ends as well: the operator goes on with the certificate in use, and an Event names the cause.
func TestFightForTheStagedCertificate(t *testing.T) {
	k := hooked(t)
	before, _ := k.servingCertificate()
	rotate, _ := before.RotateAt()
	k.clock.SetTime(rotate)
	for range 7 {
		k.pass("op.v1")
		k.told()
		edit(k, ns, "manager-service-cert", &corev1.Secret{}, func(s *corev1.Secret) { delete(s.Data, "next.crt") })
	}
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	must.Contain(t, "events", strings.Join(k.told(), "\n"), "Warning NeedsCertRotation the certificate in Secret operators/manager-service-cert is not renewed: it was issued 6 times")
	if served, secret := k.servingCertificate(); !bytes.Equal(served.Certificate, before.Certificate) || secret.Data["next.crt"] != nil {
		t.Error("it goes on")
	}
}

// TestUpgradeKeepsTheCertificate: the old webhooks go on working while the new version adopts.
func TestUpgradeKeepsTheCertificate(t *testing.T) {
	k := hooked(t)
	before, _ := k.servingCertificate()
	next := newCSV("op.v2", withWebhooks, withoutAccounts, replacing("op.v1"))
	k.create(next)
	k.pass("op.v1")
	k.pass("op.v2")
	after, _ := k.servingCertificate()
	must.Equal(t, "the certificate was made anew although it is good", !bytes.Equal(before.Certificate, after.Certificate), false)
	k.rollsOut("op.v2")
	for range 3 {
		k.pass("op.v1")
	}
	if k.csv("op.v1") != nil || k.conversion("things.example.com").Strategy != "Webhook" {
		t.Error("the old version is still there, or has taken the conversion with it")
	}
	must.Equal(t, "webhook configurations", len(k.webhookConfigurations()), 2)
	_, secret := k.servingCertificate()
	if hasOwner(secret, "op.v1-uid") || !hasOwner(secret, "op.v2-uid") || !ownedBy(secret, next) {
		t.Errorf("owners of the Secret, which goes with its last one: %v", secret.ObjectMeta)
	}
	d := k.deployment("manager")
	if hasOwner(d, "op.v1-uid") || !hasOwner(d, "op.v2-uid") {
		t.Errorf("owners of the Deployment: %v", d.OwnerReferences)
	}
}
