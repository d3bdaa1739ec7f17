package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

func TestDeployment(t *testing.T) {
	csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations = map[string]string{"olm.targetNamespaces": "", "shared": "csv"}
		onlyPod(csv).Annotations = map[string]string{"own": "pod", "shared": "pod"}
	})
	got := renderOne(t, csv, DeploymentOptions{})

	hash := got.Labels["olm.deployment-spec-hash"]
	if want, err := Hash62(got.Spec); err != nil || hash != want {
		t.Errorf("hash label %q, want that of the final spec, %q (%v)", hash, want, err)
	}
	no, one := false, int32(1)
	want := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "op", Namespace: "ns",
			Labels: map[string]string{
				"tier": "control", "olm.managed": "true", "olm.owner": "op.v1.0.0", "olm.owner.namespace": "ns",
				"olm.owner.kind": "ClusterServiceVersion", "olm.deployment-spec-hash": hash,
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: "op.v1.0.0", UID: "uid-1",
				Controller: &no, BlockOwnerDeletion: &no,
			}},
		},
		Spec: appsv1.DeploymentSpec{
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"app": "op"}},
			RevisionHistoryLimit: &one,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      map[string]string{"app": "op"},
					Annotations: map[string]string{"olm.targetNamespaces": "", "shared": "csv", "own": "pod"},
				},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "init", Image: "example.com/init:1"}},
					Containers: []corev1.Container{{Name: "manager", Image: "example.com/manager:1", Env: []corev1.EnvVar{
						{Name: "OPERATOR_CONDITION_NAME", Value: "op.v1.0.0"},
					}}},
				},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeploymentHash shows that the hash follows from all that the pods depend on.
func TestDeploymentHash(t *testing.T) {
	render := func(change func(*v1alpha1.ClusterServiceVersion), o DeploymentOptions) string {
		csv := testCSV()
		if change != nil {
			change(csv)
		}
		return renderOne(t, csv, o).Labels["olm.deployment-spec-hash"]
	}
	plain := render(nil, DeploymentOptions{})
	if again := render(nil, DeploymentOptions{}); again != plain {
		t.Errorf("two hashes for the same input: %s and %s", plain, again)
	}
	tests := map[string]struct {
		change func(*v1alpha1.ClusterServiceVersion)
		o      DeploymentOptions
	}{
		"another name":        {change: func(csv *v1alpha1.ClusterServiceVersion) { csv.Name = "op.v2" }},
		"another annotation":  {change: func(csv *v1alpha1.ClusterServiceVersion) { csv.Annotations = map[string]string{"a": "b"} }},
		"another image":       {change: func(csv *v1alpha1.ClusterServiceVersion) { onlyPod(csv).Spec.Containers[0].Image = "other" }},
		"a configuration":     {o: DeploymentOptions{Config: &v1alpha1.SubscriptionConfig{NodeSelector: map[string]string{"a": "b"}}}},
		"a proxy":             {o: DeploymentOptions{ProxyEnv: []corev1.EnvVar{{Name: "HTTP_PROXY", Value: "p"}}}},
		"a certificate":       {o: DeploymentOptions{Certs: map[string]ServingCert{"op": {}}}},
		"a known certificate": {o: DeploymentOptions{Certs: map[string]ServingCert{"op": {CA: []byte("pem")}}}},
	}
	seen := map[string]string{plain: "nothing changed"}
	for name, tc := range tests {
		hash := render(tc.change, tc.o)
		if other, taken := seen[hash]; taken {
			t.Errorf("%s: same hash as for %s", name, other)
		}
		seen[hash] = name
	}
}

func TestDeploymentsRefuse(t *testing.T) {
	tests := map[string]struct {
		csv  *v1alpha1.ClusterServiceVersion
		o    DeploymentOptions
		want []string
	}{
		"another strategy": {
			csv:  testCSV(func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallStrategy.StrategyName = "helm" }),
			want: []string{`"helm" is not known`, "op.v1.0.0"},
		},
		"a bad selector": {
			csv: testCSV(),
			o: DeploymentOptions{Config: &v1alpha1.SubscriptionConfig{Selector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Likes"}},
			}}},
			want: []string{"Deployment op", "spec.config.selector", "Likes"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Deployments(tc.csv, tc.o)
			wantError(t, err, tc.want...)
		})
	}
}
