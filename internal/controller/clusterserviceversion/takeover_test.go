package clusterserviceversion

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// belonging is what the metadata of an object says of whose it is.
func belonging(change func(*metav1.ObjectMeta)) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: ns, Name: "manager", UID: "of-before"}
	change(&m)
	return m
}

func ownerLabels(name string) map[string]string {
	return map[string]string{v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind, v1alpha1.OwnerNamespaceLabel: ns, v1alpha1.OwnerLabel: name}
}

func ownerRef(apiVersion, kind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "u", Controller: new(true)}}
}

// TestDeploymentThatIsThere: one that a user or another client's controller has is not adopted, and nothing else is made before that is settled.
// One that belongs to no one any more, or is offered, is taken.
func TestDeploymentThatIsThere(t *testing.T) {
	operators := v1alpha1.GroupVersion.String()
	for name, tc := range map[string]struct {
		change  func(*metav1.ObjectMeta)
		refused string
	}{
		"a user's": {func(*metav1.ObjectMeta) {}, "Deployment operators/manager exists, and nothing says that it belongs to an operator: delete or rename it, or let operators have it by giving it the label olm.managed=true"},
		"a chart's": {func(m *metav1.ObjectMeta) {
			m.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
		}, "nothing says that it belongs to an operator"},
		"a controller's, although offered": {func(m *metav1.ObjectMeta) {
			m.Labels, m.OwnerReferences = map[string]string{v1alpha1.ManagedLabel: "true"}, ownerRef("example.com/v1", "Thing", "x")
		}, "Deployment operators/manager is controlled by Thing x"},
		"another operator's": {func(m *metav1.ObjectMeta) {
			m.Labels = ownerLabels("neighbour.v1")
		}, "is one of ClusterServiceVersion neighbour.v1"},
		"another operator's by its owner": {func(m *metav1.ObjectMeta) {
			m.OwnerReferences = ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "neighbour.v1")
		}, "belongs to ClusterServiceVersion operators/neighbour.v1"},
		"another operator's, with the label of one that is gone": {func(m *metav1.ObjectMeta) {
			m.Labels, m.OwnerReferences = ownerLabels("gone.v1"), ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "neighbour.v1")
		}, "belongs to ClusterServiceVersion operators/neighbour.v1"},
		"another operator's, with the label of one that is replaced": {func(m *metav1.ObjectMeta) {
			m.Labels, m.OwnerReferences = ownerLabels("op.v1"), ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "neighbour.v1")
		}, "belongs to ClusterServiceVersion operators/neighbour.v1"},
		"offered":                     {func(m *metav1.ObjectMeta) { m.Labels = map[string]string{v1alpha1.ManagedLabel: "true"} }, ""},
		"its own, of another manager": {func(m *metav1.ObjectMeta) { m.Labels = ownerLabels("op.v2") }, ""},
		"its own, without labels": {func(m *metav1.ObjectMeta) {
			m.OwnerReferences = ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "op.v2")
		}, ""},
		"of the version that was here": {func(m *metav1.ObjectMeta) { m.Labels = ownerLabels("op.v1") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := &appsv1.Deployment{ObjectMeta: belonging(tc.change), Spec: newStrategy("theirs").Spec}
			if tc.refused == "" {
				before.Spec.Selector = newStrategy("manager").Spec.Selector // the cluster lets nobody change it
			}
			k := newCluster(t, newGroup(""), before, newCSV("neighbour.v1", withoutAccounts, withDeployments("other")))
			k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1")))
			if tc.refused == "" {
				expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
				return
			}
			csv := k.pass("op.v2")
			must.Equal(t, "phase", csv.Status.Phase, toFailed)
			must.Contain(t, "message", csv.Status.Message, tc.refused)
			for _, w := range k.wrote() {
				if strings.HasPrefix(applied(w), "apply Deployment") || strings.HasPrefix(applied(w), "apply Service") {
					t.Errorf("%s", w)
				}
			}
			k.stays(t, "op.v2")
			k.delete(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager"}})
			k.pass("op.v2")
			expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
		})
	}
}

// stays makes sure that a CSV which waits for a user changes nothing, and is read again without an event.
func (k *cluster) stays(t *testing.T, name string) {
	t.Helper()
	before := k.csv(name)
	k.wrote()
	result, err := k.reconcile(name)
	if err != nil || result.RequeueAfter == 0 && before.Status.Reason != v1alpha1.CSVReasonOwnerConflict { // that ends with another CSV
		t.Errorf("it is looked at again after %s: %v", result.RequeueAfter, err)
	}
	must.Equal(t, "resource version of "+name, k.csv(name).ResourceVersion, before.ResourceVersion)
}

// TestServiceThatIsThere: neither is a user's Service in front of the operator's webhooks.
func TestServiceThatIsThere(t *testing.T) {
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager-service"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "theirs"}}}
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"), theirs)
	k.create(newCSV("op.v1", withoutAccounts, withWebhooks))
	csv := k.pass("op.v1")
	must.Equal(t, "phase", csv.Status.Phase, toFailed)
	must.Contain(t, "message", csv.Status.Message, "Service operators/manager-service exists, and nothing says that it belongs to an operator")
	live := &corev1.Service{}
	if k.get(ns, "manager-service", live); live.Spec.Selector["app"] != "theirs" || len(live.Labels) > 0 {
		t.Errorf("the Service is now %+v", live)
	}
}

// TestSecretThatIsThere: a private key is not replaced, nor a Secret taken along at uninstall, that another client has under the name of a
// serving certificate, whether it would do or not. One that another manager of operators made is adopted.
func TestSecretThatIsThere(t *testing.T) {
	issued := must.Value(serving.Issue(serving.Request{Hosts: bundle.ServingHosts("manager", ns), Now: newCluster(t).clock.Now()}))(t)
	others := map[string][]byte{"tls.crt": []byte("certificate"), "tls.key": []byte("private key"), "ca.crt": []byte("authority")}
	good := map[string][]byte{"tls.crt": issued.Certificate, "tls.key": issued.Key, bundle.ServingCAKey: issued.CABundle}
	operators := v1alpha1.GroupVersion.String()
	byCertManager := func(m *metav1.ObjectMeta) { m.OwnerReferences = ownerRef("cert-manager.io/v1", "Certificate", "web") }
	for name, tc := range map[string]struct {
		change  func(*metav1.ObjectMeta)
		data    map[string][]byte
		refused string
	}{
		"a controller's":               {byCertManager, others, "Secret operators/manager-service-cert is controlled by Certificate web: delete or rename one of the two"},
		"a controller's that would do": {byCertManager, good, "Secret operators/manager-service-cert is controlled by Certificate web"},
		"a user's":                     {func(*metav1.ObjectMeta) {}, others, "Secret operators/manager-service-cert exists, and nothing says that it belongs to an operator"},
		"a user's that would do":       {func(*metav1.ObjectMeta) {}, good, "exists, and nothing says that it belongs to an operator"},
		"another operator's":           {func(m *metav1.ObjectMeta) { m.Labels = ownerLabels("neighbour.v1") }, good, "belongs to ClusterServiceVersion operators/neighbour.v1"},
		"written by cert-manager since": {func(m *metav1.ObjectMeta) {
			m.Labels, m.Annotations = ownerLabels("op.v2"), map[string]string{"cert-manager.io/certificate-name": "web"}
		}, others, "Secret operators/manager-service-cert is written by cert-manager for Certificate web: delete that or give it another spec.secretName, then delete the Secret"},
		"of another manager, by its owner": {func(m *metav1.ObjectMeta) {
			m.OwnerReferences = ownerRef(operators, v1alpha1.ClusterServiceVersionKind, "op.v2")
			m.OwnerReferences[0].Controller = nil
		}, good, ""},
		"of another manager, by its label":      {func(m *metav1.ObjectMeta) { m.Labels = map[string]string{v1alpha1.ManagedLabel: "true"} }, good, ""},
		"of another manager, by its annotation": {func(m *metav1.ObjectMeta) { m.Annotations = map[string]string{v1alpha1.CAHashAnnotation: "x"} }, others, ""},
		"of the version that was here":          {func(m *metav1.ObjectMeta) { m.Labels = ownerLabels("op.v1") }, good, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := &corev1.Secret{ObjectMeta: belonging(tc.change), Type: corev1.SecretTypeTLS, Data: tc.data}
			before.Name = bundle.ServingSecretName("manager")
			k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"), before, newCSV("neighbour.v1", withoutAccounts, withDeployments("other")))
			k.create(newCSV("op.v2", withoutAccounts, withWebhooks, replacing("op.v1")))
			csv := k.pass("op.v2")
			live := &corev1.Secret{}
			k.get(ns, before.Name, live)
			if tc.refused == "" {
				expect(t, csv, toInstalling, "InstallWaiting", "")
				if !ownedBy(live, csv) || !hasOwner(live, csv.UID) {
					t.Errorf("the Secret is not taken over: %+v", live.ObjectMeta)
				}
				return
			}
			if csv.Status.Phase != toFailed || csv.Status.Reason != v1alpha1.CSVReasonComponentFailedNoRetry || !strings.Contains(csv.Status.Message, tc.refused) {
				t.Errorf("%s/%s %q, want it to say %q", csv.Status.Phase, csv.Status.Reason, csv.Status.Message, tc.refused)
			}
			must.Equal(t, "the Secret was changed", live, before, cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion"))
			k.stays(t, "op.v2")
			k.delete(live)
			k.pass("op.v2")
			expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
		})
	}
}

// TestSecretTakenFromARunningOperator: the operator says whose its Secret is now, and goes on when it has it back.
func TestSecretTakenFromARunningOperator(t *testing.T) {
	k := hooked(t)
	edit(k, ns, "manager-service-cert", &corev1.Secret{}, func(s *corev1.Secret) {
		s.Annotations["cert-manager.io/certificate-name"] = "web"
		s.Data = map[string][]byte{"tls.crt": []byte("certificate"), "tls.key": []byte("private key")}
	})
	for range 2 {
		csv := k.pass("op.v1")
		expect(t, csv, toFailed, v1alpha1.CSVReasonComponentFailedNoRetry, "install strategy failed: Secret operators/manager-service-cert is written by cert-manager "+
			"for Certificate web: delete that or give it another spec.secretName, then delete the Secret")
	}
	_, secret := k.servingCertificate()
	must.Equal(t, "the private key was replaced", string(secret.Data["tls.key"]), "private key")
	k.delete(secret)
	k.pass("op.v1")
	k.rollsOut("op.v1")
}

// TestHealingTakesNothing: a Deployment that another client makes in place of the operator's is theirs, while the operator reports what it lacks.
func TestHealingTakesNothing(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.delete(managerDeployment())
	k.create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "manager"}, Spec: newStrategy("theirs").Spec})
	for range 3 {
		_, _ = k.reconcile("op.v1")
	}
	live := &appsv1.Deployment{}
	if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(managerDeployment()), live); err != nil || len(live.Labels) > 0 {
		t.Errorf("the Deployment is now %+v, %v", live.ObjectMeta, err)
	}
	if csv := k.csv("op.v1"); csv.Status.Phase != toFailed || !strings.Contains(csv.Status.Message, "nothing says that it belongs to an operator") {
		t.Errorf("%s/%s %q", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	}
}
