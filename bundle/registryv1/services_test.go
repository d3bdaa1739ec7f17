package registryv1

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

func TestAPIService(t *testing.T) {
	b := loadTest(t, func(b *bundle.Bundle) {
		b.CSV.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "gadgets", Group: "apis.example.com", Version: "v1", Kind: "Gadget", DeploymentName: "op.manager"}}
	})
	out := mustRender(t, b, Options{CA: func(string) []byte { return []byte("authority") }})
	const want = `caBundle: YXV0aG9yaXR5
group: apis.example.com
groupPriorityMinimum: 2000
service:
  name: op-manager-service
  namespace: operators
  port: 443
version: v1
versionPriority: 15
`
	must.Equal(t, "spec", yamlOf(t, find(t, out, "APIService", "", "v1.apis.example.com")["spec"]), want)
	const subjects = "- kind: ServiceAccount\n  name: manager\n  namespace: operators\n"
	for _, object := range []map[string]any{
		find(t, out, "RoleBinding", "kube-system", "op-manager-service-auth-reader"),
		find(t, out, "ClusterRoleBinding", "", "op-manager-service-system:auth-delegator"),
	} {
		must.Equal(t, "subjects", yamlOf(t, object["subjects"]), subjects)
	}
	injected := mustRender(t, b, Options{Certificates: CertManager})
	metadata := find(t, injected, "APIService", "", "v1.apis.example.com")["metadata"].(map[string]any)
	must.Equal(t, "annotations", metadata["annotations"], any(map[string]any{"cert-manager.io/inject-ca-from": "operators/op-manager-service-cert"}))
}

// TestServiceOfTheBundle: what its manifest has besides joins the Service that webhooks need.
func TestServiceOfTheBundle(t *testing.T) {
	b := loadTest(t, func(b *bundle.Bundle) {
		serving(b)
		b.Objects = append(b.Objects,
			manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: op-manager-service, labels: {a: b}, annotations: {c: d}}, spec: {selector: {other: x}, ports: [{port: 443, targetPort: 1}, {port: 9090, name: metrics}, {port: 9091}]}}"),
			manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: another}, spec: {ports: [{port: 1}]}}"))
	})
	out := mustRender(t, b, Options{})
	find(t, out, "Service", "operators", "another")
	var got corev1.Service
	convert(t, find(t, out, "Service", "operators", "op-manager-service"), &got)
	var ports []string
	for _, port := range got.Spec.Ports {
		ports = append(ports, port.Name+" "+port.TargetPort.String())
	}
	must.Equal(t, "ports", ports, []string{"443 443", "8443 hooks", "metrics 0", "9091 0"})
	if got.Labels["a"] != "b" || got.Annotations["c"] != "d" || len(got.Spec.Selector) != 1 || got.Spec.Selector["app"] != "op" {
		t.Errorf("labels %v, annotations %v, selector %v", got.Labels, got.Annotations, got.Spec.Selector)
	}
}
