package components

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"fairlead.dev/fairlead/test/must"
)

func running(name, ip string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Status: corev1.PodStatus{PodIP: ip}}
}

// TestAddressesOfPods begins each time with pods that run already: the next one gets an address above all of theirs.
func TestAddressesOfPods(t *testing.T) {
	for name, c := range map[string]struct {
		pods    []runtime.Object
		network string
		want    []string // of three pods, one after the other; empty is none left
	}{
		"the first":                    {nil, "10.1.0.0/24", []string{"10.1.0.1", "10.1.0.2", "10.1.0.3"}},
		"above those that are taken":   {[]runtime.Object{running("b", "10.1.0.9"), running("a", "10.1.0.7")}, "10.1.0.0/24", []string{"10.1.0.10", "10.1.0.11", "10.1.0.12"}},
		"whatever other networks have": {[]runtime.Object{running("host", "192.168.0.9"), running("waits", "")}, "10.1.0.0/24", []string{"10.1.0.1", "10.1.0.2", "10.1.0.3"}},
		"a network by one of its own":  {nil, "10.1.0.8/24", []string{"10.1.0.1", "10.1.0.2", "10.1.0.3"}},
		"until there are none":         {[]runtime.Object{running("a", "10.1.0.5")}, "10.1.0.0/29", []string{"10.1.0.6", "10.1.0.7", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			a := must.Value(newAddresses(t.Context(), fake.NewClientset(c.pods...), c.network))(t)
			for _, want := range c.want {
				got, err := a.forPod("node", false, "", "new", "ns")
				switch {
				case want == "" && (err == nil || !strings.Contains(err.Error(), "no address left in "+c.network+" for pod ns/new")):
					t.Errorf("with none left: %v, %v", got, err)
				case want != "" && (err != nil || !slices.Equal(got, []string{want})):
					t.Errorf("%v, %v; want %s", got, err, want)
				}
			}
		})
	}
	if _, err := newAddresses(t.Context(), fake.NewClientset(), "10.1.0.0"); err == nil || !strings.Contains(err.Error(), "parse the pod network") {
		t.Errorf("a network that is none: %v", err)
	}
}

// TestAddressesOfNodes are those of pods in the network of their node. They take none of the others.
func TestAddressesOfNodes(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "node"}, {Type: corev1.NodeInternalIP, Address: "192.168.0.2"}, {Type: corev1.NodeInternalIP, Address: "fd00::2"}}}}
	a := must.Value(newAddresses(t.Context(), fake.NewClientset(node), "10.1.0.0/24"))(t)
	if got, err := a.forPod("node", true, "", "proxy", "ns"); err != nil || !slices.Equal(got, []string{"192.168.0.2", "fd00::2"}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := a.forPod("gone", true, "", "proxy", "ns"); err == nil || !strings.Contains(err.Error(), "read node gone for a pod in its network") {
		t.Errorf("on a node that is not there: %v, %v", got, err)
	}
	if got, err := a.forPod("node", false, "", "next", "ns"); err != nil || !slices.Equal(got, []string{"10.1.0.1"}) {
		t.Errorf("after it: %v, %v", got, err)
	}
}
