package registryv1

import (
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kyaml "sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

const (
	annotationsYAML = `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: op
  operators.operatorframework.io.bundle.channels.v1: stable
`
	csvYAML = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: op.v1.2.3
  annotations:
    capabilities: Basic Install
spec:
  version: 1.2.3
  installModes:
  - {type: AllNamespaces, supported: true}
  - {type: OwnNamespace, supported: true}
  - {type: SingleNamespace, supported: true}
  - {type: MultiNamespace, supported: true}
  customresourcedefinitions:
    owned:
    - {name: widgets.example.com, version: v1, kind: Widget}
  install:
    strategy: deployment
    spec:
      permissions:
      - serviceAccountName: manager
        rules:
        - {apiGroups: [""], resources: [pods], verbs: [get]}
      clusterPermissions:
      - serviceAccountName: manager
        rules:
        - {apiGroups: [""], resources: [nodes], verbs: [list]}
      deployments:
      - name: op.manager
        label: {app: op}
        spec:
          selector: {matchLabels: {app: op}}
          template:
            metadata: {labels: {app: op}}
            spec:
              serviceAccountName: manager
              containers:
              - {name: manager, image: registry.example.com/op:v1}
`
	crdYAML = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
  creationTimestamp: null
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
status: {conditions: []}
`
)

// loadTest is a bundle that can be installed in every way, changed by edit.
func loadTest(t testing.TB, edit func(b *bundle.Bundle)) *bundle.Bundle {
	t.Helper()
	b := must.Value(bundle.Load(fstest.MapFS{
		"metadata/annotations.yaml": {Data: []byte(annotationsYAML)},
		"manifests/csv.yaml":        {Data: []byte(csvYAML)},
		"manifests/crd.yaml":        {Data: []byte(crdYAML)},
	}))(t)
	if edit != nil {
		edit(b)
	}
	return b
}

// supporting sets the install modes of a bundle.
func supporting(modes ...v1alpha1.InstallModeType) func(*bundle.Bundle) {
	return func(b *bundle.Bundle) {
		b.CSV.Spec.InstallModes = nil
		for _, mode := range modes {
			b.CSV.Spec.InstallModes = append(b.CSV.Spec.InstallModes, v1alpha1.InstallMode{Type: mode, Supported: true})
		}
	}
}

// hook is a webhook of the only Deployment of the test bundle.
func hook(kind v1alpha1.WebhookAdmissionType, name string) v1alpha1.WebhookDescription {
	return v1alpha1.WebhookDescription{Type: kind, GenerateName: name, DeploymentName: "op.manager", AdmissionReviewVersions: []string{"v1"}}
}

// manifest is an object of a bundle, from YAML.
func manifest(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	must.NoError(t, kyaml.Unmarshal([]byte(text), &out.Object))
	return out
}

// mustRender renders a bundle into the namespace operators unless the options say otherwise.
func mustRender(t testing.TB, b *bundle.Bundle, o Options) *Rendered {
	t.Helper()
	if o.Namespace == "" {
		o.Namespace = "operators"
	}
	return must.Value(Render(b, o))(t)
}

// find is the object of a kind and name, which has to be there once in its namespace.
func find(t testing.TB, out *Rendered, kind, namespace, name string) map[string]any {
	t.Helper()
	var found map[string]any
	for _, object := range out.Objects {
		if object.GetKind() == kind && object.GetName() == name && object.GetNamespace() == namespace {
			if found != nil {
				t.Fatalf("%s %s/%s is there twice", kind, namespace, name)
			}
			found = object.Object
		}
	}
	if found == nil {
		t.Fatalf("there is no %s %s/%s", kind, namespace, name)
	}
	return found
}

// yamlOf compares well and reads well.
func yamlOf(t testing.TB, v any) string {
	t.Helper()
	return string(must.Value(kyaml.Marshal(v))(t))
}

func ptr[T any](v T) *T { return &v }
