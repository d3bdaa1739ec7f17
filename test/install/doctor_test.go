package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/cli"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestDoctor: on a cluster with a manager as it is shipped fairlead doctor finds nothing wrong; then it is broken in eleven ways, and doctor
// names each of them, also to those who read it as JSON; a user without rights gets notes.
func TestDoctor(t *testing.T) {
	w := ownWorld(t)
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, config))
	w.deploymentRuns("olm", "fairlead-manager")
	stop := w.run(w.asManager())
	samples := source("samples", ofImage(w.catalog("1.1.0")))
	w.create(samples)
	w.serves(samples)
	w.packageIsShown("greeter-operator")
	var quiet string
	must.Eventually(t, "fairlead doctor to find nothing wrong", func() error {
		code, out := w.doctor(w.kubeconfig)
		if quiet = out; code != command.ExitOK || strings.Contains(out, "note:") {
			return fmt.Errorf("exit code %d:\n%s", code, out)
		}
		return nil
	})
	t.Logf("with nothing wrong:\n%s", quiet)
	w.breakServing()
	w.breakSetUp()
	expected := []string{
		"ValidatingWebhookConfiguration doctor-checks, webhook gone.example.com: it cannot be reached: Service team/gone does not exist",
		"APIService v1.nothing.example.com: it has no backend: Service team/gone does not exist",
		"Secret team/expired-cert: the certificate for expired.team.svc has expired at ",
		"CatalogSource olm/unreachable: its content cannot be read from 127.0.0.1:1/nothing:latest: ",
		"ValidatingAdmissionPolicy fairlead-extension-accounts: it does not exist",
		"Deployment team/olm-operator: another lifecycle manager works on the v0 API beside Fairlead's",
		"CustomResourceDefinition olmconfigs.operators.coreos.com: it is older than that of this program: version v1 has no status.conditions",
		"Node late: its clock is 5m",
	}
	w.finds(expected)
	stop() // before its rights are gone: it may be refused nothing
	w.breakManager()
	expected = append(expected,
		"Deployment olm/fairlead-manager: no manager runs: it is scaled to 0",
		"ServiceAccount olm/fairlead-manager: the manager may not ",
		"Namespace nowhere: it does not exist, and the catalogs that all namespaces see belong there",
	)
	// Where it does not run there is nothing beside it.
	w.finds(slices.DeleteFunc(expected, func(part string) bool { return strings.Contains(part, "another lifecycle manager") }))
	code, out := w.doctor(w.stranger())
	if t.Logf("as a user without rights:\n%s", out); code != command.ExitOK || !strings.Contains(out, "0 failed, 11 with notes only") {
		t.Errorf("as a user without rights: exit code %d:\n%s", code, out)
	}
}

// doctor runs the command.
func (w *world) doctor(kubeconfig string, args ...string) (code int, out string) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(w.t.Context(), append([]string{"doctor", "--kubeconfig", kubeconfig}, args...), strings.NewReader(""), &stdout, &stderr)
	if stderr.Len() > 0 {
		w.t.Errorf("fairlead doctor: %s", stderr.String())
	}
	return code, stdout.String()
}

// finds waits until the command finds all of it.
func (w *world) finds(expected []string) {
	w.t.Helper()
	var last string
	must.Eventually(w.t, "fairlead doctor to name all that is broken", func() error {
		code, out := w.doctor(w.kubeconfig)
		if last = out; code != command.ExitNo {
			return fmt.Errorf("exit code %d:\n%s", code, out)
		}
		for _, part := range expected {
			if !strings.Contains(out, "    "+part) {
				return fmt.Errorf("there is no %q in:\n%s", part, out)
			}
		}
		return nil
	})
	w.t.Logf("broken:\n%s", last)
	code, out := w.doctor(w.kubeconfig, "-o", "json")
	if code != command.ExitNo || !strings.Contains(out, `"result": "failed"`) || !strings.Contains(out, `"remedy": "`) {
		w.t.Errorf("as JSON: exit code %d: %s", code, out)
	}
}

// breakServing breaks what the API server calls: a webhook and an API without what answers, and one whose certificate has expired.
func (w *world) breakServing() {
	w.t.Helper()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "team", Name: name} }
	old := must.Value(serving.Issue(serving.Request{Hosts: []string{"expired.team.svc"}, Now: time.Now().Add(-48 * time.Hour), Life: 24 * time.Hour}))(w.t)
	hook := func(name, service string, bundle []byte) admissionv1.ValidatingWebhook {
		return admissionv1.ValidatingWebhook{Name: name, AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionv1.SideEffectClassNone),
			ClientConfig: admissionv1.WebhookClientConfig{CABundle: bundle, Service: &admissionv1.ServiceReference{Namespace: "team", Name: service}},
			Rules:        []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{"nothing.example.com"}, APIVersions: []string{"v1"}, Resources: []string{"things"}}}}}
	}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "doctor-checks"}, Webhooks: []admissionv1.ValidatingWebhook{
			hook("gone.example.com", "gone", nil), hook("expired.example.com", "expired", old.CABundle)}},
		&apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.nothing.example.com"}, Spec: apiregistrationv1.APIServiceSpec{Group: "nothing.example.com", Version: "v1",
			GroupPriorityMinimum: 1000, VersionPriority: 10, InsecureSkipTLSVerify: true, Service: &apiregistrationv1.ServiceReference{Namespace: "team", Name: "gone"}}},
		&corev1.Service{ObjectMeta: meta("expired"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}}},
		&discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "expired-1", Labels: map[string]string{discoveryv1.LabelServiceName: "expired"}},
			AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"192.0.2.9"}}}},
		&corev1.Secret{ObjectMeta: meta("expired-cert"), Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": old.Certificate, "tls.key": old.Key}})
}

// breakSetUp breaks what the manager works with.
func (w *world) breakSetUp() {
	w.t.Helper()
	other := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "olm-operator"}}
	other.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "olm-operator"}}
	other.Spec.Template.Labels = other.Spec.Selector.MatchLabels
	other.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "registry.example.com/operator-framework/olm"}}
	late := metav1.NewMicroTime(time.Now().Add(-5*time.Minute - 30*time.Second))
	w.create(source("unreachable", ofImage("127.0.0.1:1/nothing:latest")), other,
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: "late"},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: new("late"), LeaseDurationSeconds: new(int32(3600)), RenewTime: &late}})
	must.NoError(w.t, w.Delete(w.t.Context(), &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "fairlead-extension-accounts"}}))
	var crd apiextensionsv1.CustomResourceDefinition
	must.NoError(w.t, w.Get(w.t.Context(), client.ObjectKey{Name: "olmconfigs.operators.coreos.com"}, &crd))
	delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties, "conditions")
	must.NoError(w.t, w.Update(w.t.Context(), &crd))
}

// breakManager stops the manager, and takes its rights and the namespace of its catalogs.
func (w *world) breakManager() {
	w.t.Helper()
	for _, name := range []string{"fairlead-manager", "fairlead-manager-v1"} {
		must.NoError(w.t, w.Delete(w.t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	must.Eventually(w.t, "the Deployment of the manager to be changed", func() error {
		var d appsv1.Deployment
		if err := w.Get(w.t.Context(), client.ObjectKey{Namespace: "olm", Name: "fairlead-manager"}, &d); err != nil {
			return err
		}
		args := d.Spec.Template.Spec.Containers[0].Args
		i := slices.Index(args, "--global-namespace=olm")
		if i < 0 {
			return fmt.Errorf("its arguments are %q", args)
		}
		args[i], d.Spec.Replicas = "--global-namespace=nowhere", new(int32(0))
		return w.Update(w.t.Context(), &d)
	})
}

// stranger is a kubeconfig of a user without rights.
func (w *world) stranger() string {
	w.t.Helper()
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "stranger"}})
	clients := must.Value(kubernetes.NewForConfig(w.admin))(w.t)
	token := must.Value(clients.CoreV1().ServiceAccounts("team").CreateToken(w.t.Context(), "stranger", &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(w.t)
	k := must.Value(clientcmd.LoadFromFile(w.kubeconfig))(w.t)
	for name := range k.AuthInfos {
		k.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	file := filepath.Join(w.t.TempDir(), "kubeconfig")
	must.NoError(w.t, clientcmd.WriteToFile(*k, file))
	return file
}
