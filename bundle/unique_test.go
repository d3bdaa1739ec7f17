package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

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
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
