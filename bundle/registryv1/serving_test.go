package registryv1

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// serving is the test bundle with webhooks of every type.
func serving(b *bundle.Bundle) {
	c := hook(conversion, "c.example.com")
	c.ConversionCRDs = []string{"widgets.example.com"}
	v := hook(validating, "v.example.com-")
	v.ContainerPort, v.TargetPort, v.WebhookPath = 8443, ptr(intstr.FromString("hooks")), ptr("/validate")
	with(c, hook(mutating, "m.example.com"), v)(b)
}

func TestWebhooksBuiltIn(t *testing.T) {
	asked := []string{}
	out := mustRender(t, loadTest(t, serving), Options{CA: func(deployment string) []byte {
		asked = append(asked, deployment)
		return []byte("authority")
	}})
	must.Equal(t, "asked for authorities of", asked, []string{"op.manager"})
	wantServing := []Serving{{
		Deployment: "op.manager", Service: "op-manager-service", Secret: "op-manager-service-cert",
		Hosts: []string{"op-manager-service.operators", "op-manager-service.operators.svc", "op-manager-service.operators.svc.cluster.local"},
	}}
	must.Equal(t, "serving", out.Serving, wantServing)
	v := find(t, out, "ValidatingWebhookConfiguration", "", "v.example.com")
	const wantV = `- admissionReviewVersions:
  - v1
  clientConfig:
    caBundle: YXV0aG9yaXR5
    service:
      name: op-manager-service
      namespace: operators
      path: /validate
      port: 8443
  name: v.example.com
  sideEffects: null
`
	must.Equal(t, "webhook", yamlOf(t, v["webhooks"]), wantV)
	const wantC = `strategy: Webhook
webhook:
  clientConfig:
    caBundle: YXV0aG9yaXR5
    service:
      name: op-manager-service
      namespace: operators
      path: /
      port: 443
  conversionReviewVersions:
  - v1
`
	spec := find(t, out, "CustomResourceDefinition", "", "widgets.example.com")["spec"].(map[string]any)
	must.Equal(t, "conversion", yamlOf(t, spec["conversion"]), wantC)
	const wantS = `ports:
- name: "443"
  port: 443
  targetPort: 443
- name: "8443"
  port: 8443
  targetPort: hooks
selector:
  app: op
`
	must.Equal(t, "Service", yamlOf(t, find(t, out, "Service", "operators", "op-manager-service")["spec"]), wantS)
	for _, object := range mustRender(t, loadTest(t, serving), Options{}).Objects {
		must.Lack(t, object.GetKind(), asJSON(t, object), "caBundle")
	}
}

func TestNamespaceSelector(t *testing.T) {
	b := loadTest(t, func(b *bundle.Bundle) {
		b.CSV.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{hook(mutating, "m.example.com"), hook(validating, "v.example.com")}
	})
	out := mustRender(t, b, Options{Config: json.RawMessage(`{"watchNamespaces": ["y", "x"]}`)})
	for kind, name := range map[string]string{"MutatingWebhookConfiguration": "m.example.com", "ValidatingWebhookConfiguration": "v.example.com"} {
		webhook := find(t, out, kind, "", name)["webhooks"].([]any)[0].(map[string]any)
		const want = "matchExpressions:\n- key: kubernetes.io/metadata.name\n  operator: In\n  values:\n  - x\n  - \"y\"\n"
		must.Equal(t, "namespaceSelector", yamlOf(t, webhook["namespaceSelector"]), want)
		webhook = find(t, mustRender(t, b, Options{}), kind, "", name)["webhooks"].([]any)[0].(map[string]any)
		if webhook["namespaceSelector"] != nil {
			t.Errorf("a selector for all namespaces: %v", webhook["namespaceSelector"])
		}
	}
}

func TestCertManager(t *testing.T) {
	out := mustRender(t, loadTest(t, serving), Options{Certificates: CertManager, CA: func(string) []byte { return []byte("unused") }})
	const want = `commonName: op-manager-service.operators
dnsNames:
- op-manager-service.operators
- op-manager-service.operators.svc
- op-manager-service.operators.svc.cluster.local
duration: 17520h0m0s
isCA: false
issuerRef:
  group: cert-manager.io
  kind: Issuer
  name: op-manager-service-cert-selfsigned-issuer
renewBefore: 24h0m0s
secretName: op-manager-service-cert
usages:
- server auth
`
	must.Equal(t, "spec", yamlOf(t, find(t, out, "Certificate", "operators", "op-manager-service-cert")["spec"]), want)
	must.Equal(t, "issuer", yamlOf(t, find(t, out, "Issuer", "operators", "op-manager-service-cert-selfsigned-issuer")["spec"]), "selfSigned: {}\n")
	checkInjection(t, out, "cert-manager.io/inject-ca-from", "operators/op-manager-service-cert")
	long := mustRender(t, loadTest(t, serving), Options{Certificates: CertManager, Namespace: strings.Repeat("n", 63)})
	if name := find(t, long, "Certificate", strings.Repeat("n", 63), "op-manager-service-cert")["spec"].(map[string]any)["commonName"]; name != nil {
		t.Errorf("common name %v is longer than a certificate can have", name)
	}
}

func TestServiceCA(t *testing.T) {
	out := mustRender(t, loadTest(t, serving), Options{Certificates: ServiceCA})
	checkInjection(t, out, "service.beta.openshift.io/inject-cabundle", "true")
	metadata := find(t, out, "Service", "operators", "op-manager-service")["metadata"].(map[string]any)
	must.Equal(t, "annotations", metadata["annotations"], any(map[string]any{"service.beta.openshift.io/serving-cert-secret-name": "op-manager-service-cert"}))
}

// checkInjection checks that everything with a client of the Service asks for its authority, and that nothing has one.
func checkInjection(t *testing.T, out *Rendered, key, value string) {
	t.Helper()
	asking := 0
	for _, object := range out.Objects {
		if object.GetAnnotations()[key] == value {
			asking++
		}
		must.Lack(t, object.GetKind(), asJSON(t, object), "caBundle")
	}
	if asking != 3 || out.Serving != nil {
		t.Errorf("%d objects ask for the authority, want the CRD and both webhook configurations; serving %v", asking, out.Serving)
	}
}
