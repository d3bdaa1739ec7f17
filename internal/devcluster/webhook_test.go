package devcluster

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/fairlead/test/must"
)

// greeter is a mutating webhook that labels what it sees.
func greeter(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{
		UID:       review.Request.UID,
		Allowed:   true,
		Patch:     []byte(`[{"op":"add","path":"/metadata/labels","value":{"greeted":"yes"}}]`),
		PatchType: ptr.To(admissionv1.PatchTypeJSONPatch),
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(review)
}

// byService is how the API server finds the webhook behind Service hook of a namespace.
func byService(namespace string, ca []byte) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{
		Service:  &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: "hook"},
		CABundle: ca,
	}
}

// registerWebhook makes the API server call a webhook for new ConfigMaps of one namespace.
func registerWebhook(t *testing.T, namespace string, where admissionregistrationv1.WebhookClientConfig) {
	t.Helper()
	webhooks := fixtureClient(t).AdmissionregistrationV1().MutatingWebhookConfigurations()
	config := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:         "hook.fairlead.test",
			ClientConfig: where,
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	must.Value(webhooks.Create(t.Context(), config, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		if err := webhooks.Delete(context.Background(), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func TestWebhookInThePlaceOfAPod(t *testing.T) {
	tests := map[string]func(namespace, podIP string) string{
		"by the pod's address and port": func(_, podIP string) string { return podIP + ":8443" },
		"by the pod's address":          func(_, podIP string) string { return podIP },
		"by the service":                func(namespace, _ string) string { return namespace + "/hook" },
		"by the service's port":         func(namespace, _ string) string { return namespace + "/hook:443" },
	}
	for name, from := range tests {
		t.Run(name, func(t *testing.T) {
			namespace := Namespace(t)
			podIP := backend(t, namespace, "hook")
			address, ca := secureServer(t, "hook."+namespace+".svc", http.HandlerFunc(greeter))
			Route(t, from(namespace, podIP), address)
			registerWebhook(t, namespace, byService(namespace, ca))
			awaitGreeting(t, namespace)
		})
	}
}

func awaitGreeting(t *testing.T, namespace string) {
	t.Helper()
	eventually(t, "an object passes the webhook", func(ctx context.Context) (bool, error) {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "seen-"}}
		created, err := fixtureClient(t).CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return created.Labels["greeted"] == "yes", nil
	})
}

func TestWebhookOnTheHost(t *testing.T) {
	t.Run("by its URL", func(t *testing.T) {
		hostProgram(t) // skips with another cluster, which may be on another host
		namespace := Namespace(t)
		address, ca := secureServer(t, loopback, http.HandlerFunc(greeter))
		registerWebhook(t, namespace, admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://" + address + "/"), CABundle: ca})
		awaitGreeting(t, namespace)
	})
	t.Run("behind a service without pods", func(t *testing.T) {
		namespace := Namespace(t)
		serviceWithoutPods(t, namespace, "hook")
		address, ca := secureServer(t, "hook."+namespace+".svc", http.HandlerFunc(greeter))
		Route(t, namespace+"/hook", address)
		registerWebhook(t, namespace, byService(namespace, ca))
		awaitGreeting(t, namespace)
	})
}

func TestUnroutedPodRefuses(t *testing.T) {
	hostProgram(t) // skips with another cluster, whose pods may answer
	namespace := Namespace(t)
	podIP := backend(t, namespace, "hook")
	_, ca := secureServer(t, "hook."+namespace+".svc", http.HandlerFunc(greeter))
	registerWebhook(t, namespace, byService(namespace, ca))
	eventually(t, "the webhook is in force", func(ctx context.Context) (bool, error) {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "seen-"}}
		_, err := fixtureClient(t).CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{})
		if err == nil {
			return false, nil // the API server has not noticed the webhook yet
		}
		if want := "no server is registered for " + podIP + ":8443"; !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
		return true, nil
	})
}
