package kubeconfig

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"      //nolint:staticcheck // SA1019: dialers of client-go are of this type
	"k8s.io/apimachinery/pkg/util/httpstream/spdy" //nolint:staticcheck // SA1019: dialers of client-go are of this type
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"fairlead.dev/fairlead/test/must"
)

// Addresses of documentation, which are not connected to, whatever the network of the machine does with them.
const (
	clusterIP = "198.51.100.7" // of a Service
	silentIP  = "198.51.100.8" // of no Service
	slowIP    = "198.51.100.9" // of a server that needs more time than a Service
)

// unlessOfTests connects to what is no address of documentation.
func unlessOfTests(ctx context.Context, address string, most time.Duration) (net.Conn, error) {
	switch host, _, _ := net.SplitHostPort(address); {
	case host == slowIP && most > directTime:
		near, _ := net.Pipe()
		return near, nil
	case strings.HasPrefix(host, "198.51.100."):
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	return connect(ctx, address, most)
}

// apiServer forwards ports of pods to a server, as an API server does.
type apiServer struct {
	to    string
	mu    sync.Mutex
	asked []string // paths and ports
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 2)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	failures, data := <-streams, <-streams
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+data.Headers().Get(corev1.PortHeader))
	s.mu.Unlock()
	upstream, err := net.Dial("tcp", s.to)
	if err != nil {
		_, _ = io.WriteString(failures, err.Error())
		return
	}
	defer upstream.Close()
	go func() { _, _ = io.Copy(upstream, data); _ = upstream.Close() }()
	_, _ = io.Copy(data, upstream)
}

// echo is a server that repeats what it receives, in capitals.
func echo(t *testing.T) string {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				text := make([]byte, 5)
				if _, err := io.ReadFull(conn, text); err == nil {
					_, _ = io.WriteString(conn, strings.ToUpper(string(text)))
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func dialing(t *testing.T, s http.Handler, ready corev1.ConditionStatus) func(ctx context.Context, address string) (net.Conn, error) {
	t.Helper()
	api := httptest.NewServer(s)
	t.Cleanup(api.Close)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat"}, Spec: corev1.ServiceSpec{ClusterIP: clusterIP, Selector: map[string]string{"app": "cat"},
		Ports: []corev1.ServicePort{{Port: 50051, TargetPort: intstr.FromString("grpc")}}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat-1", Labels: map[string]string{"app": "cat"}},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "grpc", ContainerPort: 9000}}}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}}}
	none := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "none"}}
	return dialer{&rest.Config{Host: api.URL}, fake.NewClientBuilder().WithObjects(service, none, pod).Build(), unlessOfTests}.dial
}

func TestDialer(t *testing.T) {
	s := &apiServer{to: echo(t)}
	dial := dialing(t, s, corev1.ConditionTrue)
	for name, address := range map[string]string{"directly": s.to, "a Service of the cluster": "cat.olm.svc:50051", "by its whole name": "cat.olm.svc.cluster.local.:50051", "by its ClusterIP": clusterIP + ":50051"} {
		conn, err := dial(t.Context(), address)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := io.WriteString(conn, "hello"); err != nil {
			t.Error(err)
		}
		if text, err := io.ReadAll(conn); string(text) != "HELLO" || err != nil {
			t.Errorf("%s: it says %q, %v", name, text, err)
		}
		conn.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const want = "POST /api/v1/namespaces/olm/pods/cat-1/portforward 9000"
	must.Equal(t, "asked of the API server", s.asked, []string{want, want, want})
}

func TestDialerThatCannotReachTheServer(t *testing.T) {
	for name, test := range map[string]struct {
		address string
		ready   corev1.ConditionStatus
		want    string
	}{
		"no Service":        {"gone.olm.svc:50051", corev1.ConditionTrue, `read Service olm/gone: services "gone" not found`},
		"without pods":      {"none.olm.svc:50051", corev1.ConditionTrue, "reach Service olm/none: it selects no pods"},
		"none is ready":     {"cat.olm.svc:50051", corev1.ConditionFalse, "none of the 1 pods behind it is ready and has port grpc"},
		"no Service at all": {"127.0.0.1:1", corev1.ConditionTrue, "connection refused"},
		"another domain":    {"cat.olm.svc.example.invalid:50051", corev1.ConditionTrue, "dial tcp: lookup cat.olm.svc.example.invalid"},
		"by its ClusterIP":  {clusterIP + ":50051", corev1.ConditionFalse, "connect to " + clusterIP + ":50051 through the API server of the cluster: reach Service olm/cat: none of the 1 pods"},
		"of no Service":     {silentIP + ":1", corev1.ConditionTrue, "connect to " + silentIP + ":1, which is the ClusterIP of no Service of the cluster: "},
		"without a port":    {"cat.olm.svc", corev1.ConditionTrue, "connect to cat.olm.svc: "},
	} {
		t.Run(name, func(t *testing.T) {
			if conn, err := dialing(t, &apiServer{}, test.ready)(t.Context(), test.address); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want %s", conn, err, test.want)
			}
		})
	}
}

// TestDialerOfAPodThatDoesNotListen: the connection ends, rather than being silent.
func TestDialerOfAPodThatDoesNotListen(t *testing.T) {
	conn, err := dialing(t, &apiServer{to: "127.0.0.1:1"}, corev1.ConditionTrue)(t.Context(), "cat.olm.svc:50051")
	if err != nil {
		return // it was found out at once
	}
	defer conn.Close()
	if text, _ := io.ReadAll(conn); len(text) > 0 {
		t.Errorf("it says %q", text)
	}
}

// TestDialerThatMayNotListServices: what has only an address is named, with what works without that right.
func TestDialerThatMayNotListServices(t *testing.T) {
	refused := apierrors.NewForbidden(corev1.Resource("services"), "", errors.New("no"))
	reader := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return refused }}).Build()
	dial := dialer{&rest.Config{}, reader, unlessOfTests}.dial
	conn := must.Value(dial(t.Context(), slowIP+":50051"))(t) // of a server elsewhere
	must.NoError(t, conn.Close())
	_, err := dial(t.Context(), clusterIP+":50051")
	must.Fail(t, "dial", err, "connect to "+clusterIP+":50051: ", "list the Services of the cluster: services is forbidden", "use NAME.NAMESPACE.svc, the name of that Service, instead of its address")
}

// TestDialerIsCancelled while the API server is silent.
func TestDialerIsCancelled(t *testing.T) {
	asked, silent := make(chan struct{}), make(chan struct{})
	dial := dialing(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(asked); <-silent }), corev1.ConditionTrue)
	t.Cleanup(func() { close(silent) }) // before the server is closed
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := dial(ctx, "cat.olm.svc:50051")
	must.Fail(t, "dial", err, "through the API server of the cluster: context canceled")
}
