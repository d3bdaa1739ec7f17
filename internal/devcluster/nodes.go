package devcluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const maxNodes = 200

// Simulated nodes carry this annotation; kwok plays the kubelet of no other.
const (
	simulatedNodeKey   = "kwok.x-k8s.io/node"
	simulatedNodeValue = "fake"
	// SimulatedNodeAnnotation is the selector for it.
	SimulatedNodeAnnotation = simulatedNodeKey + "=" + simulatedNodeValue
)

func simulatedNode(number int, kubelet string) *corev1.Node {
	name := fmt.Sprintf("node-%d", number)
	size := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("1000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{simulatedNodeKey: simulatedNodeValue},
			Labels: map[string]string{
				corev1.LabelHostname:             name,
				corev1.LabelOSStable:             "linux",
				corev1.LabelArchStable:           "amd64",
				"node-role.kubernetes.io/worker": "",
				"fairlead.dev/simulated":         "true",
				corev1.LabelTopologyZone:         "local",
				corev1.LabelTopologyRegion:       "local",
			},
		},
		Status: corev1.NodeStatus{
			Allocatable: size,
			Capacity:    size,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.0.%d", number)},
				{Type: corev1.NodeHostName, Address: name},
			},
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: kubelet, OSImage: "simulated"},
		},
	}
}
