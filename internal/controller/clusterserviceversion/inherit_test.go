package clusterserviceversion

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// believes reports whether who trusts these authorities believes a server that is asked by a name.
func (k *cluster) believes(authorities []byte, shown serving.Certificate, host string) error {
	k.t.Helper()
	block, _ := pem.Decode(shown.Certificate)
	leaf, err := x509.ParseCertificate(block.Bytes)
	must.NoError(k.t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authorities)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: k.clock.Now()})
	return err
}

// TestTakenOverFromServicesOfTheAPI has an operator as early versions of another implementation leave it: with a Service and a certificate for its
// API instead of its Deployment. While the pods are exchanged, each of them is believed by whatever name it is asked.
func TestTakenOverFromServicesOfTheAPI(t *testing.T) {
	const former, formerHost = "v1-things-example-com", "v1-things-example-com.operators.svc"
	k := withAPI(t)
	shown := must.Value(serving.Issue(serving.Request{Hosts: []string{former + ".operators", formerHost}, Now: k.clock.Now()}))(t)
	_, secret := k.servingCertificate()
	k.delete(secret)
	k.delete(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager-service"}})
	k.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: former, Labels: bundle.OwnerLabels(k.csv("op.v1"))}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: apiService + "-cert", Labels: bundle.OwnerLabels(k.csv("op.v1"))},
			Data: map[string][]byte{"tls.crt": shown.Certificate, "tls.key": shown.Key}})
	edit(k, "", apiService, &apiregistrationv1.APIService{}, func(s *apiregistrationv1.APIService) {
		s.Spec.Service.Name, s.Spec.CABundle = former, shown.CABundle
	})
	live := func() *apiregistrationv1.APIService {
		s := &apiregistrationv1.APIService{}
		k.get("", apiService, s)
		return s
	}
	rolled := false
	k.api.Before = func(write string) error {
		if !strings.HasPrefix(applied(write), "apply Deployment") {
			return nil
		}
		rolled = true
		renewed, _ := k.servingCertificate()
		for which, pod := range map[string]serving.Certificate{"the pods that run": shown, "the pods that come": renewed} {
			if err := k.believes(live().Spec.CABundle, pod, formerHost); err != nil || live().Spec.Service.Name != former {
				t.Errorf("when the pods are rolled out, %s are not believed at Service %s: %v", which, live().Spec.Service.Name, err)
			}
		}
		return nil
	}
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	if !rolled || live().Spec.Service.Name != former {
		t.Errorf("rolled out: %t; the APIService leads to %s before the new pods run", rolled, live().Spec.Service.Name)
	}
	k.rollOut()
	k.pass("op.v1")
	k.answer("True")
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	renewed, _ := k.servingCertificate()
	if s := live(); s.Spec.Service.Name != "manager-service" || k.believes(s.Spec.CABundle, renewed, "manager-service.operators.svc") != nil {
		t.Errorf("the APIService leads to %s", s.Spec.Service.Name)
	}
	k.rests("op.v1")
}

// TestTakenOverWithoutAuthorities: a certificate whose Secret does not hold its authorities is kept, with those by which it is believed.
func TestTakenOverWithoutAuthorities(t *testing.T) {
	k := hooked(t)
	before, _ := k.servingCertificate()
	edit(k, ns, "manager-service-cert", &corev1.Secret{}, func(s *corev1.Secret) { delete(s.Data, bundle.ServingCAKey) })
	generation := k.deployment("manager").Generation
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	after, _ := k.servingCertificate()
	if !bytes.Equal(after.Certificate, before.Certificate) || !bytes.Equal(after.CABundle, before.CABundle) {
		t.Error("the certificate was made anew, or does not have its authorities")
	}
	must.Equal(t, "generation of the Deployment", k.deployment("manager").Generation, generation)
	k.rests("op.v1")
}

// TestALostCertificateIsBelieved as long as pods show it: whoever asks trusts it and the next one before a pod shows that.
func TestALostCertificateIsBelieved(t *testing.T) {
	for name, lose := range map[string]func(*cluster){
		"deleted": func(k *cluster) {
			_, secret := k.servingCertificate()
			k.delete(secret)
		},
		"without a key": func(k *cluster) {
			edit(k, ns, "manager-service-cert", &corev1.Secret{}, func(s *corev1.Secret) { s.Data["tls.key"] = nil })
		},
		"overwritten": func(k *cluster) {
			edit(k, ns, "manager-service-cert", &corev1.Secret{}, func(s *corev1.Secret) { s.Data["tls.crt"] = []byte("garbage") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := hooked(t)
			shown, _ := k.servingCertificate()
			lose(k)
			k.api.Before = func(write string) error {
				if !strings.HasPrefix(applied(write), "apply Secret") && !strings.HasPrefix(applied(write), "apply Deployment") {
					return nil
				}
				authorities := k.authorities()
				for webhook, ca := range authorities {
					if err := k.believes(ca, shown, "manager-service.operators.svc"); err != nil {
						t.Errorf("with %s, webhook %s does not believe the pods that run: %v", write, webhook, err)
					}
					if renewed, _ := k.servingCertificate(); strings.HasPrefix(applied(write), "apply Deployment") && k.believes(ca, renewed, "manager-service.operators.svc") != nil {
						t.Errorf("with %s, webhook %s does not believe the pods that come", write, webhook)
					}
				}
				must.Equal(t, "webhooks", len(authorities), 3)
				return nil
			}
			expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
			k.rollsOut("op.v1")
			renewed, _ := k.servingCertificate()
			if err := renewed.Due(bundle.ServingHosts("manager", ns), k.clock.Now()); err != nil {
				t.Error(err)
			}
			for webhook, ca := range k.authorities() {
				if !bytes.Equal(ca, renewed.CABundle) {
					t.Errorf("webhook %s does not trust the new certificate", webhook)
				}
			}
		})
	}
}

// TestWhoseTrustIsInherited: only that in what belongs to the operator.
func TestWhoseTrustIsInherited(t *testing.T) {
	k := newCluster(t, newGroup(""))
	other := newCSV("other")
	other.Namespace = "other"
	k.create(other)
	csv := newCSV("op.v1", withAPIService, withoutAccounts)
	authority := must.Value(serving.Issue(serving.Request{Hosts: []string{"x"}, Now: k.clock.Now()}))(t)
	for name, tc := range map[string]struct {
		owner     *v1alpha1.ClusterServiceVersion
		namespace string
		service   string
		want      bool
	}{
		"its own":                  {csv, ns, "manager-service", true},
		"its own, of the API":      {csv, ns, "v1-things-example-com", true},
		"of another Service":       {csv, ns, "elsewhere", false},
		"of another namespace":     {csv, "other", "manager-service", false},
		"of another operator":      {other, ns, "manager-service", false},
		"of one that has no owner": {nil, ns, "manager-service", false},
	} {
		s := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: apiService}}
		if tc.owner != nil {
			s.Labels = managedLabels(tc.owner)
		}
		gv := schema.GroupVersion{Group: "things.example.com", Version: "v1"}
		s.Spec = apiregistrationv1.APIServiceSpec{Group: gv.Group, Version: gv.Version, CABundle: authority.CABundle,
			Service: &apiregistrationv1.ServiceReference{Namespace: tc.namespace, Name: tc.service}}
		k.create(s)
		certificates := must.Value(k.c.snapshot(csv).certificates(t.Context()))(t)
		c := certificates["manager"]
		must.Equal(t, name+": inherited", bytes.Equal(c.inherited.authorities, authority.CABundle), tc.want)
		must.Equal(t, name+": hosts", slices.Contains(c.allHosts(), "v1-things-example-com.operators.svc"), tc.want && tc.service != "manager-service")
		k.delete(s)
	}
}
