package components

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// addresses gives simulated pods their IP addresses, counting upwards: an address is not used again after its pod is
// gone, so that a route registered for one pod never catches the calls meant for another. kwok's own pool hands freed
// addresses out again at once and forgets, when it is restarted, which ones are taken.
type addresses struct {
	client  kubernetes.Interface
	network netip.Prefix

	mu   sync.Mutex
	last netip.Addr
}

// newAddresses continues after the highest address in use.
func newAddresses(ctx context.Context, client kubernetes.Interface, cidr string) (*addresses, error) {
	network, err := netip.ParsePrefix(cidr)
	if err != nil {
		return nil, fmt.Errorf("parse the pod network: %w", err)
	}
	pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the pods whose addresses are taken: %w", err)
	}
	last := network.Masked().Addr()
	for _, pod := range pods.Items {
		if ip, err := netip.ParseAddr(pod.Status.PodIP); err == nil && network.Contains(ip) && last.Less(ip) {
			last = ip
		}
	}
	return &addresses{client: client, network: network, last: last}, nil
}

// forPod is called by kwok's pod template, which fixes its parameters.
func (a *addresses) forPod(node string, hostNetwork bool, _, name, namespace string) ([]string, error) {
	if hostNetwork {
		return a.ofNode(node)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	next := a.last.Next()
	if !a.network.Contains(next) {
		return nil, fmt.Errorf("no address left in %s for pod %s/%s", a.network, namespace, name)
	}
	a.last = next
	return []string{next.String()}, nil
}

func (a *addresses) ofNode(name string) ([]string, error) {
	node, err := a.client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read node %s for a pod in its network: %w", name, err)
	}
	var ips []string
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			ips = append(ips, address.Address)
		}
	}
	return ips, nil
}
