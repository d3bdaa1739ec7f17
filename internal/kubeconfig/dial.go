package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream" //nolint:staticcheck // SA1019: dialers of client-go are of this type
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// directTime is how long it may take to reach a Service directly, before it is reached through the API server.
	directTime = 2 * time.Second
	// elsewhereTime is how long it may take to reach an address that is not that of a Service.
	elsewhereTime = 15 * time.Second
)

// Dialer connects to servers as commands reach them: directly and, where that fails and the address is that of a Service of the cluster, by its name
// (see ServiceOf) or its ClusterIP, through the API server to a pod behind it, which needs the right to create pods/portforward.
func Dialer(config *rest.Config, reader client.Reader) func(ctx context.Context, address string) (net.Conn, error) {
	return dialer{config, reader, connect}.dial
}

type dialer struct {
	config *rest.Config
	reader client.Reader
	// direct connects without the cluster, in so much time; 0 is for as much as it takes.
	direct func(ctx context.Context, address string, most time.Duration) (net.Conn, error)
}

func connect(ctx context.Context, address string, most time.Duration) (net.Conn, error) {
	return (&net.Dialer{Timeout: most}).DialContext(ctx, "tcp", address)
}

func (d dialer) dial(ctx context.Context, address string) (net.Conn, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	service, named := ServiceOf(host)
	ip := net.ParseIP(host)
	if !named && !MayBeClusterIP(ip) {
		return d.direct(ctx, address, 0)
	}
	conn, err := d.direct(ctx, address, directTime)
	if err == nil {
		return conn, nil
	}
	if !named {
		found, unknown := d.withAddress(ctx, ip)
		if found == nil && isTimeout(err) { // a server elsewhere may take longer
			conn, err = d.direct(ctx, address, elsewhereTime)
		}
		switch {
		case found != nil:
			service = *found
		case err == nil:
			return conn, nil
		case unknown != nil:
			return nil, fmt.Errorf("connect to %s: %w; whether it is the ClusterIP of a Service is not known: %w; if it is, use NAME.NAMESPACE.svc, the name of that Service, instead of its address", address, err, unknown)
		default:
			return nil, fmt.Errorf("connect to %s, which is the ClusterIP of no Service of the cluster: %w", address, err)
		}
	}
	port, through := strconv.Atoi(text)
	if through == nil {
		conn, through = d.through(ctx, service, port)
	}
	if through != nil {
		return nil, fmt.Errorf("connect to %s through the API server of the cluster: %w; and directly: %w", address, through, err)
	}
	return conn, nil
}

// MayBeClusterIP reports whether an address can be that of a Service; nil cannot.
func MayBeClusterIP(ip net.IP) bool { return ip.IsGlobalUnicast() }

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// withAddress is the Service that has a ClusterIP; nil when none has it.
func (d dialer) withAddress(ctx context.Context, ip net.IP) (*client.ObjectKey, error) {
	var services corev1.ServiceList
	if err := d.reader.List(ctx, &services); err != nil {
		return nil, fmt.Errorf("list the Services of the cluster: %w", err)
	}
	for i := range services.Items {
		service := &services.Items[i]
		if slices.ContainsFunc(append(service.Spec.ClusterIPs, service.Spec.ClusterIP), func(text string) bool { return ip.Equal(net.ParseIP(text)) }) {
			return new(client.ObjectKeyFromObject(service)), nil
		}
	}
	return nil, nil
}

// through connects to a port of a Service through the API server.
func (d dialer) through(ctx context.Context, service client.ObjectKey, port int) (net.Conn, error) {
	pod, port, err := d.behind(ctx, service, port)
	if err != nil {
		return nil, err
	}
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() { // what forwards ports knows no contexts
		conn, err := d.forward(pod, port)
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.conn != nil {
				_ = r.conn.Close() // it comes too late
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// behind is a pod that is ready behind a Service, and its port.
func (d dialer) behind(ctx context.Context, key client.ObjectKey, port int) (*corev1.Pod, int, error) {
	var service corev1.Service
	if err := d.reader.Get(ctx, key, &service); err != nil {
		return nil, 0, fmt.Errorf("read Service %s: %w", key, err)
	}
	if len(service.Spec.Selector) == 0 {
		return nil, 0, fmt.Errorf("reach Service %s: it selects no pods", key)
	}
	target := intstr.FromInt(port)
	for _, p := range service.Spec.Ports {
		if int(p.Port) == port && p.TargetPort != (intstr.IntOrString{}) {
			target = p.TargetPort
		}
	}
	var pods corev1.PodList
	if err := d.reader.List(ctx, &pods, client.InNamespace(key.Namespace), client.MatchingLabels(service.Spec.Selector)); err != nil {
		return nil, 0, fmt.Errorf("list the pods behind Service %s: %w", key, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if ready && pod.DeletionTimestamp.IsZero() {
			if port := portOf(pod, target); port > 0 {
				return pod, port, nil
			}
		}
	}
	return nil, 0, fmt.Errorf("reach Service %s: none of the %d pods behind it is ready and has port %s", key, len(pods.Items), target.String())
}

// portOf is the number of a port; 0 when the pod has none of that name.
func portOf(pod *corev1.Pod, target intstr.IntOrString) int {
	if target.Type == intstr.Int {
		return target.IntValue()
	}
	for _, container := range pod.Spec.Containers {
		for _, p := range container.Ports {
			if p.Name == target.StrVal {
				return int(p.ContainerPort)
			}
		}
	}
	return 0
}

// forward connects to a port of a pod through the API server.
func (d dialer) forward(pod *corev1.Pod, port int) (net.Conn, error) {
	base, _, err := rest.DefaultServerUrlFor(d.config)
	if err != nil {
		return nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(d.config)
	if err != nil {
		return nil, err
	}
	to := base.JoinPath("api/v1/namespaces", pod.Namespace, "pods", pod.Name, "portforward")
	// Begin to forward ports of a pod.
	tunnel, protocol, err := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, to).Dial(portforward.PortForwardProtocolV1Name)
	if err == nil && protocol != portforward.PortForwardProtocolV1Name {
		_ = tunnel.Close() // it is of no use
		err = fmt.Errorf("the server speaks %q and not %s", protocol, portforward.PortForwardProtocolV1Name)
	}
	if err != nil {
		return nil, fmt.Errorf("forward port %d of pod %s/%s, which needs the right to create pods/portforward: %w", port, pod.Namespace, pod.Name, err)
	}
	conn, err := carry(tunnel, port)
	if err != nil {
		_ = tunnel.Close() // it is of no use any more
		return nil, fmt.Errorf("forward port %d of pod %s/%s: %w", port, pod.Namespace, pod.Name, err)
	}
	return conn, nil
}

// carry is a connection through a tunnel, which ends with it.
func carry(tunnel httpstream.Connection, port int) (net.Conn, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failures, err := tunnel.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := tunnel.CreateStream(headers)
	if err = errors.Join(err, failures.Close()); err != nil { // nothing is written to that of failures
		return nil, err
	}
	near, far := net.Pipe()
	end := func() { _, _ = far.Close(), tunnel.Close() } // whichever side ends first
	go func() {
		defer end()
		_, _ = io.Copy(data, far) // who reads the connection learns that it ended
	}()
	go func() {
		defer end()
		_, _ = io.Copy(far, data)
	}()
	go func() {
		if text, _ := io.ReadAll(failures); len(text) > 0 {
			end() // the pod does not listen there
		}
	}()
	return near, nil
}
