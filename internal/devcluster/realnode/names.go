package realnode

import (
	"context"
	"net"
	"os"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// names knows the names of Services, as the specification of Kubernetes' DNS has them. It asks at each question: the API server is on this machine, and
// what it says is never old.
type names struct{ client kubernetes.Interface }

// lookup takes a name without the cluster's domain. A name that leads to others, such as that of a namespace, exists without an address.
func (n *names) lookup(ctx context.Context, name string) (found []net.IP, exists bool, err error) {
	if name == "" || name == "svc" || name == "pod" {
		return nil, true, nil
	}
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	switch {
	case last == "svc" && len(labels) == 2:
		_, err := n.client.CoreV1().Namespaces().Get(ctx, labels[0], metav1.GetOptions{})
		return nil, err == nil, ignoreNotFound(err)
	case last == "svc" && len(labels) == 3:
		return n.service(ctx, labels[1], labels[0], "")
	case last == "svc" && len(labels) == 4:
		return n.service(ctx, labels[2], labels[1], labels[0])
	case last == "pod" && len(labels) == 3:
		// The address with dashes for dots, in the name of its namespace: nothing has to be known.
		ip := net.ParseIP(strings.ReplaceAll(labels[0], "-", "."))
		return []net.IP{ip}, ip != nil, nil
	}
	return nil, false, nil
}

// service finds the address of a Service, or those of its pods when it has none; with a host only that of the pod of this name.
func (n *names) service(ctx context.Context, namespace, name, host string) ([]net.IP, bool, error) {
	service, err := n.client.CoreV1().Services(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, false, ignoreNotFound(err)
	}
	headless := service.Spec.ClusterIP == "None"
	if host == "" && !headless {
		if ip := net.ParseIP(service.Spec.ClusterIP); ip != nil {
			return []net.IP{ip}, true, nil
		}
		return nil, true, nil // it is a name elsewhere
	}
	if !headless {
		return nil, false, nil
	}
	slices, err := n.client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + name})
	if err != nil {
		return nil, false, err
	}
	var found []net.IP
	for _, slice := range slices.Items {
		for _, e := range slice.Endpoints {
			named := e.Hostname != nil && *e.Hostname == host
			ready := e.Conditions.Ready == nil || *e.Conditions.Ready || service.Spec.PublishNotReadyAddresses
			if host != "" && !named || !ready {
				continue
			}
			for _, address := range e.Addresses {
				found = append(found, net.ParseIP(address))
			}
		}
	}
	return found, host == "" || len(found) > 0, nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// systemResolvers reads host and port of the resolvers in this machine's configuration; they change while it runs.
func systemResolvers() []string {
	content, _ := os.ReadFile("/etc/resolv.conf")
	return parseResolvers(string(content))
}

func parseResolvers(config string) []string {
	var found []string
	for line := range strings.Lines(config) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "nameserver" {
			found = append(found, net.JoinHostPort(fields[1], "53"))
		}
	}
	return found
}
