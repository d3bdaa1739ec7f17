package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/test/must"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// advertised stands for the address of the manager's pod, which pods of a real cluster could reach. A documentation address is used.
const advertised = "192.0.2.7:4711"

// listening is where the manager of the tests serves catalogs in truth.
var listening = freeAddress()

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return ""
	}
	defer l.Close()
	return l.Addr().String()
}

// dialService connects as a pod of the cluster does that dials a Service by its name: the name leads to the Service, that to its
// EndpointSlices, and these to an address, here that of the manager.
func (w *world) dialService(address string) *grpc.ClientConn {
	w.t.Helper()
	through := func(ctx context.Context, _ string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		labels := strings.Split(host, ".")
		if len(labels) != 3 || labels[2] != "svc" {
			return nil, fmt.Errorf("%s is not the name of a Service", host)
		}
		to, err := w.endpoint(ctx, labels[0], labels[1], port)
		if err != nil {
			return nil, err
		}
		at, err := behind(to)
		if err != nil {
			return nil, fmt.Errorf("%s leads astray: %w", address, err)
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", at)
	}
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(through))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	return conn
}

// behind is where the manager listens in truth that advertises an address: the one of global catalogs, or the port of a namespace.
func behind(address string) (string, error) {
	if address == advertised {
		return listening, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err == nil && net.JoinHostPort(host, "4711") != advertised {
		err = fmt.Errorf("nothing listens at %s", address)
	}
	return net.JoinHostPort("127.0.0.1", port), err
}

// endpoint is where a port of a Service leads to.
func (w *world) endpoint(ctx context.Context, name, namespace, port string) (string, error) {
	var service corev1.Service
	if err := w.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &service); err != nil {
		return "", err
	}
	if len(service.Spec.Ports) != 1 || fmt.Sprint(service.Spec.Ports[0].Port) != port || service.Spec.ClusterIP == "" {
		return "", fmt.Errorf("Service %s has no port %s, or no address: %+v", name, port, service.Spec)
	}
	var slices discoveryv1.EndpointSliceList
	if err := w.client.List(ctx, &slices, client.InNamespace(namespace), client.MatchingLabels{discoveryv1.LabelServiceName: name}); err != nil {
		return "", err
	}
	if len(slices.Items) != 1 || len(slices.Items[0].Endpoints) != 1 || len(slices.Items[0].Ports) != 1 || *slices.Items[0].Ports[0].Name != service.Spec.Ports[0].Name {
		return "", fmt.Errorf("EndpointSlices of Service %s: %+v", name, slices.Items)
	}
	return fmt.Sprintf("%s:%d", slices.Items[0].Endpoints[0].Addresses[0], *slices.Items[0].Ports[0].Port), nil
}

// offered are the packages that a client gets to know at an address.
func offered(ctx context.Context, conn *grpc.ClientConn) ([]string, error) {
	stream, err := registry.NewRegistryClient(conn).ListPackages(ctx, &registry.ListPackageRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		p, err := stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return names, nil
			}
			return nil, err
		}
		names = append(names, p.GetName())
	}
}

// served waits until the status names an address, and clients that dial it get a package and no other.
func (w *world) served(pkg string) *v1alpha1.CatalogSource {
	w.t.Helper()
	var source v1alpha1.CatalogSource
	w.eventually("clients to get package "+pkg, func() error {
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "catalog"}, &source); err != nil {
			return err
		}
		if source.Status.GRPCConnectionState == nil || source.Status.GRPCConnectionState.LastObservedState != "READY" {
			return fmt.Errorf("status %+v", source.Status)
		}
		got, err := offered(w.t.Context(), w.dialService(source.Status.GRPCConnectionState.Address))
		if err == nil && (len(got) != 1 || got[0] != pkg) {
			err = fmt.Errorf("they get %v", got)
		}
		return err
	})
	return &source
}

// TestClientsReachCatalogsByTheirServices: two catalogs of one name in two namespaces, each behind the Service that its status names.
func TestClientsReachCatalogsByTheirServices(t *testing.T) {
	one, two := newWorldAlone(t), newWorldAlone(t)
	one.create(one.catalogSource(one.catalog(operator{pkg: "first", version: "1.0.0"})))
	one.served("first")
	// The other one has no content yet: nobody may get that of its namesake in its place.
	conn := two.dialService("catalog." + two.namespace + ".svc:50051")
	if got, err := offered(t.Context(), conn); err == nil {
		t.Errorf("a catalog that is not there offers %v", got)
	}
	two.create(two.catalogSource(two.catalog(operator{pkg: "second", version: "1.0.0"})))
	source := two.served("second")
	one.served("first")
	if r := source.Status.RegistryServiceStatus; r == nil || r.Protocol != "grpc" || r.ServiceName != "catalog" || r.ServiceNamespace != two.namespace || r.Port != "50051" || r.CreatedAt.IsZero() {
		t.Errorf("registryService %+v", r)
	}
	// New content comes under the same name.
	two.catalog(operator{pkg: "third", version: "1.0.0"})
	two.served("third")
}

// TestServicesOfCatalogsAreKept: what is changed is healed, and what belongs to a catalog goes with it.
func TestServicesOfCatalogsAreKept(t *testing.T) {
	w := newWorldAlone(t)
	w.create(w.catalogSource(w.catalog(operator{pkg: "app", version: "1.0.0"})))
	source := w.served("app")
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "catalog"}}
	var slices discoveryv1.EndpointSliceList
	if err := w.client.List(t.Context(), &slices, client.InNamespace(w.namespace), client.MatchingLabels{discoveryv1.LabelServiceName: "catalog"}); err != nil || len(slices.Items) != 1 {
		t.Fatalf("%d EndpointSlices, %v, want one", len(slices.Items), err)
	}
	slice := &slices.Items[0]
	own, err := w.endpoint(t.Context(), "catalog", w.namespace, "50051")
	if err != nil || own == advertised {
		t.Fatalf("a private catalog is served at %s (%v), as global ones are", own, err)
	}
	for name, drift := range map[string]func(){
		"another port": func() { update(w, service, func(s *corev1.Service) { s.Spec.Ports[0].TargetPort.IntVal = 1 }) },
		"a selector":   func() { update(w, service, func(s *corev1.Service) { s.Spec.Selector = map[string]string{"a": "b"} }) },
		"one more port": func() {
			update(w, service, func(s *corev1.Service) { s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "x", Port: 1}) })
		},
		"no Service":       func() { w.gone(service) },
		"no EndpointSlice": func() { w.gone(slice) },
		"an EndpointSlice astray": func() {
			update(w, slice, func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses = []string{"192.0.2.99"} })
		},
	} {
		drift()
		w.eventually("to be healed of "+name, func() error {
			var now corev1.Service
			if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(service), &now); err != nil {
				return err
			}
			to, err := w.endpoint(t.Context(), "catalog", w.namespace, "50051")
			if err == nil && (to != own || len(now.Spec.Selector) > 0 || now.Spec.Ports[0].TargetPort.IntValue() != 50051) {
				err = fmt.Errorf("it leads to %s: %+v", to, now.Spec)
			}
			return err
		})
	}
	w.served("app")
	w.gone(source)
	w.eventually("the Service to go with its catalog", func() error {
		for _, o := range []client.Object{service, slice} {
			if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is still there: %w", o.GetName(), err)
			}
		}
		return nil
	})
}

func (w *world) gone(o client.Object) {
	w.t.Helper()
	if err := w.client.Delete(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func TestAdvertise(t *testing.T) {
	for name, test := range map[string]struct {
		wanted, pod, listening, want string
	}{
		"the address of the pod":              {"", "10.1.2.3", "0.0.0.0:50051", "10.1.2.3:50051"},
		"IPv6":                                {"", "fd00::1", "[::]:50051", "[fd00::1]:50051"},
		"given":                               {"192.0.2.1:4711", "10.1.2.3", "127.0.0.1:1", "192.0.2.1:4711"},
		"listening where pods can reach it":   {"", "", "192.0.2.1:50051", "192.0.2.1:50051"},
		"loopback, which no pod can reach":    {"", "", "127.0.0.1:50051", ""},
		"everywhere, but nobody knows where":  {"", "", "[::]:50051", ""},
		"no port":                             {"192.0.2.1", "", "0.0.0.0:50051", ""},
		"loopback cannot be advertised":       {"127.0.0.1:50051", "", "0.0.0.0:50051", ""},
		"a variable that holds something odd": {"", "pod-7", "0.0.0.0:50051", ""},
	} {
		got, err := advertise(test.wanted, test.pod, netip.MustParseAddrPort(test.listening))
		if (err == nil) != (test.want != "") || err == nil && got.String() != test.want {
			t.Errorf("%s: %s, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestOpenServing(t *testing.T) {
	t.Setenv(PodIPVariable, "")
	for _, address := range []string{"", "0"} {
		if s, err := openServing(Options{CatalogAddress: address}, nil); s != nil || err != nil {
			t.Errorf("address %q: %v, %v, want none", address, s, err)
		}
	}
	if _, err := openServing(Options{CatalogAddress: "127.0.0.1:0"}, nil); err == nil || !strings.Contains(err.Error(), "pods cannot reach 127.0.0.1") {
		t.Errorf("an address of no use: %v", err)
	}
	s := must.Value(openServing(Options{CatalogAddress: "127.0.0.1:0", CatalogAdvertise: advertised}, nil))(t)
	defer s.listener.Close()
	if _, err := openServing(Options{CatalogAddress: s.listener.Addr().String(), CatalogAdvertise: advertised}, nil); err == nil || !strings.Contains(err.Error(), "choose another address") {
		t.Errorf("a busy port: %v", err)
	}
}
