package bundle

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
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
	must.Equal(t, "result", got, want)
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
	must.Equal(t, fmt.Sprintf("two hashes for the same input: %s", plain), render(nil, DeploymentOptions{}), plain)
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

// TestDuplicates: of entries that the API server would refuse to apply twice, the last one stays.
func TestDuplicates(t *testing.T) {
	csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
		pod := &onlyPod(csv).Spec
		pod.Volumes = []corev1.Volume{hostPath("v", "/one"), hostPath("w", "/w"), hostPath("v", "/two")}
		pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "s"}, {Name: "s"}}
		pod.InitContainers[0].Env = env("A", "1", "A", "2")
		pod.Containers[0].Env = env("A", "1", "B", "$(A)", "A", "2", "C", "$(A)")
		pod.Containers[0].Ports = []corev1.ContainerPort{
			{Name: "first", ContainerPort: 8080}, {ContainerPort: 8080, Protocol: corev1.ProtocolUDP}, {Name: "last", ContainerPort: 8080, Protocol: corev1.ProtocolTCP},
		}
	})
	config := &v1alpha1.SubscriptionConfig{Volumes: []corev1.Volume{hostPath("x", "/one"), hostPath("x", "/two")}, Env: env("D", "1", "D", "2")}
	pod := renderOne(t, csv, DeploymentOptions{Config: config}).Spec.Template.Spec
	for name, c := range map[string]struct{ got, want any }{
		"volumes":         {pod.Volumes, []corev1.Volume{hostPath("w", "/w"), hostPath("v", "/two"), hostPath("x", "/two")}},
		"pull secrets":    {pod.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "s"}}},
		"init containers": {pod.InitContainers[0].Env, env("A", "2")},
		"variables":       {pod.Containers[0].Env, env("B", "$(A)", "A", "2", "C", "$(A)", "D", "2", "OPERATOR_CONDITION_NAME", "op.v1.0.0")},
		"ports": {pod.Containers[0].Ports, []corev1.ContainerPort{
			{ContainerPort: 8080, Protocol: corev1.ProtocolUDP}, {Name: "last", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}},
	} {
		must.Equal(t, name, c.got, c.want)
	}
}
