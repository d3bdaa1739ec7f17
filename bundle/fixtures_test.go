package bundle

import (
	"encoding/json"
	"maps"
	"testing"
	"testing/fstest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// canonicalJSON is JSON with sorted keys and uniform escapes.
func canonicalJSON(data []byte) string {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return "not JSON: " + err.Error()
	}
	out, err := compactJSON(value)
	if err != nil {
		return "not JSON: " + err.Error()
	}
	return string(out)
}

// testCSV is a ClusterServiceVersion with one Deployment, for a test to change.
func testCSV(change ...func(*v1alpha1.ClusterServiceVersion)) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{}
	csv.APIVersion, csv.Kind = v1alpha1.GroupVersion.String(), v1alpha1.ClusterServiceVersionKind
	csv.Name, csv.Namespace, csv.UID = "op.v1.0.0", "ns", "uid-1"
	csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true}}
	csv.Spec.InstallStrategy = v1alpha1.NamedInstallStrategy{
		StrategyName: v1alpha1.InstallStrategyNameDeployment,
		StrategySpec: v1alpha1.StrategyDetailsDeployment{DeploymentSpecs: []v1alpha1.StrategyDeploymentSpec{testDeployment("op")}},
	}
	for _, f := range change {
		f(csv)
	}
	return csv
}

func testDeployment(name string) v1alpha1.StrategyDeploymentSpec {
	labels := map[string]string{"app": name}
	return v1alpha1.StrategyDeploymentSpec{
		Name:  name,
		Label: map[string]string{"tier": "control"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "init", Image: "example.com/init:1"}},
					Containers:     []corev1.Container{{Name: "manager", Image: "example.com/manager:1"}},
				},
			},
		},
	}
}

// onlyPod is the pod template of the only Deployment of a test ClusterServiceVersion.
func onlyPod(csv *v1alpha1.ClusterServiceVersion) *corev1.PodTemplateSpec {
	return &csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template
}

// renderOne renders the only Deployment and checks that neither the ClusterServiceVersion nor the options change.
func renderOne(t *testing.T, csv *v1alpha1.ClusterServiceVersion, o DeploymentOptions) *appsv1.Deployment {
	t.Helper()
	csvBefore, configBefore := csv.DeepCopy(), o.Config.DeepCopy()
	out := must.Value(Deployments(csv, o))(t)
	if len(out) != 1 {
		t.Fatalf("%d Deployments, want 1", len(out))
	}
	must.Equal(t, "the ClusterServiceVersion was changed", csv, csvBefore)
	must.Equal(t, "the configuration was changed", o.Config, configBefore)
	return out[0]
}

// wantError checks that an error says what it has to.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		must.Contain(t, "error", err.Error(), part)
	}
}

// The files of a small bundle that is in order.
const (
	testAnnotationsYAML = `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: op
  operators.operatorframework.io.bundle.channels.v1: stable,alpha
`
	testCSVYAML = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: op.v1.0.0
spec:
  version: 1.0.0
  displayName: Op
  installModes:
  - {type: AllNamespaces, supported: true}
  customresourcedefinitions:
    owned:
    - {name: things.example.com, version: v1, kind: Thing}
  install:
    strategy: deployment
    spec:
      deployments:
      - name: op
        spec:
          selector: {matchLabels: {app: op}}
          template:
            metadata: {labels: {app: op}}
            spec:
              containers:
              - {name: manager, image: "example.com/op:1"}
`
	testCRDYAML = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  versions:
  - {name: v1, served: true, storage: true}
`
)

// bundleFiles is the small bundle with some files changed, added or, with an empty text, removed.
func bundleFiles(changes map[string]string) fstest.MapFS {
	files := map[string]string{
		"metadata/annotations.yaml":  testAnnotationsYAML,
		"manifests/csv.yaml":         testCSVYAML,
		"manifests/things.crd.yaml":  testCRDYAML,
		"tests/scorecard/tests.yaml": "kind: Configuration",
	}
	maps.Copy(files, changes)
	out := fstest.MapFS{}
	for name, content := range files {
		if content != "" {
			out[name] = &fstest.MapFile{Data: []byte(content)}
		}
	}
	return out
}

// loadTest loads the small bundle with changes.
func loadTest(t testing.TB, changes map[string]string) *Bundle {
	t.Helper()
	return must.Value(Load(bundleFiles(changes)))(t)
}
