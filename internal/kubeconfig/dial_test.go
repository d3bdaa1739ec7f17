package kubeconfig

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"      //nolint:staticcheck // SA1019: dialers of client-go are of this type
	"k8s.io/apimachinery/pkg/util/httpstream/spdy" //nolint:staticcheck // SA1019: dialers of client-go are of this type
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/test/must"
)

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

func dialing(t *testing.T, s *apiServer, ready corev1.ConditionStatus) func(ctx context.Context, address string) (net.Conn, error) {
	t.Helper()
	api := httptest.NewServer(s)
	t.Cleanup(api.Close)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "cat"},
		Ports: []corev1.ServicePort{{Port: 50051, TargetPort: intstr.FromString("grpc")}}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat-1", Labels: map[string]string{"app": "cat"}},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "grpc", ContainerPort: 9000}}}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}}}
	none := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "none"}}
	return Dialer(&rest.Config{Host: api.URL}, fake.NewClientBuilder().WithObjects(service, none, pod).Build())
}

func TestDialer(t *testing.T) {
	s := &apiServer{to: echo(t)}
	dial := dialing(t, s, corev1.ConditionTrue)
	for name, address := range map[string]string{"directly": s.to, "a Service of the cluster": "cat.olm.svc:50051", "by its whole name": "cat.olm.svc.cluster.local.:50051"} {
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
	if len(s.asked) != 2 || s.asked[0] != want || s.asked[1] != want {
		t.Errorf("the API server was asked for %v, want %s twice", s.asked, want)
	}
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
