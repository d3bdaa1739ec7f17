package devcluster

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"fairlead.dev/fairlead/test/must"
)

// backend runs a Deployment with a Service in front of it, both named name, and returns the IP of its one simulated pod.
func backend(t *testing.T, namespace, name string) (podIP string) {
	t.Helper()
	client := fixtureClient(t)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Port: 443, TargetPort: intstr.FromInt32(8443)}},
		},
	}
	must.Value(client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}))(t)
	must.Value(client.AppsV1().Deployments(namespace).Create(t.Context(), deployment(name, 1), metav1.CreateOptions{}))(t)
	eventually(t, "Service "+name+" has a ready endpoint", func(ctx context.Context) (bool, error) {
		slices, err := client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{
			LabelSelector: discoveryv1.LabelServiceName + "=" + name,
		})
		if err != nil || len(slices.Items) == 0 || len(slices.Items[0].Endpoints) == 0 {
			return false, err
		}
		endpoint := slices.Items[0].Endpoints[0]
		podIP = endpoint.Addresses[0]
		return ptr.Deref(endpoint.Conditions.Ready, false), nil
	})
	return podIP
}

// secureServer serves with a certificate for a Service, and returns its address and the authority of the certificate.
func secureServer(t *testing.T, service string, handler http.Handler) (address string, ca []byte) {
	t.Helper()
	certs := must.Value(Open(t.TempDir()))(t)
	must.NoError(t, certs.WriteServer(service))
	pair := must.Value(tls.LoadX509KeyPair(certs.Path(ServerCert), certs.Path(ServerKey)))(t)
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), certs.CA()
}

// serviceWithoutPods has an endpoint that is nowhere.
func serviceWithoutPods(t *testing.T, namespace, name string) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443}}},
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"198.51.100.7"}}},
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To[int32](443)}},
	}
	client := fixtureClient(t)
	must.Value(client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}))(t)
	must.Value(client.DiscoveryV1().EndpointSlices(namespace).Create(t.Context(), slice, metav1.CreateOptions{}))(t)
}

func TestRouteErrors(t *testing.T) {
	hostProgram(t)
	client := fixtureEnvironment(t).client
	tests := map[string]struct{ from, to, want string }{
		"a bad origin":      {"nonsense", "127.0.0.1:1", "NAMESPACE/SERVICE"},
		"a remote target":   {"10.255.0.1", "192.0.2.1:1", "loopback"},
		"an origin in use":  {"10.255.0.2", "127.0.0.1:1", "is routed to 127.0.0.1:2 already"},
		"a missing address": {"10.255.0.1", "", "HOST:PORT"},
	}
	Route(t, "10.255.0.2", "127.0.0.1:2")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := client.Route(t.Context(), test.from, test.to)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
