package manager

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/test/must"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// basePolicy is that of config/network.yaml.
func basePolicy() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: managerPolicy},
		Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "the-manager"}}}}
}

// newPorts are the ports of a manager in a pod of a cluster with the given objects.
func newPorts(t *testing.T, cluster client.Client) *ports {
	t.Helper()
	p := &ports{host: "127.0.0.1", advertise: netip.MustParseAddr("10.0.0.1"), pod: true, log: slog.New(slog.DiscardHandler), now: time.Now,
		policies: &portPolicies{namespace: "olm", client: cluster, reader: cluster},
		used: func(_ context.Context, namespace string) (bool, error) {
			return !strings.HasPrefix(namespace, "gone"), nil
		},
		serve: func(string, *catalogserver.Set) *grpc.Server {
			return catalogserver.NewGRPC(&catalogserver.Set{}, catalogserver.NewHealth(), slog.New(slog.DiscardHandler), catalogserver.GRPCOptions{})
		}}
	t.Cleanup(p.stop)
	return p
}

func policyList(t *testing.T, cluster client.Client) map[string]networkingv1.NetworkPolicy {
	t.Helper()
	var all networkingv1.NetworkPolicyList
	must.NoError(t, cluster.List(t.Context(), &all, client.HasLabels{catalogsOfLabel}))
	found := map[string]networkingv1.NetworkPolicy{}
	for _, one := range all.Items {
		found[one.Name] = one
	}
	return found
}

// TestEachNamespaceHasItsPort: opened to its pods alone by a policy, the same after a restart, corrected, and none is another's.
func TestEachNamespaceHasItsPort(t *testing.T) {
	cluster := fake.NewClientBuilder().WithObjects(basePolicy()).Build()
	p := newPorts(t, cluster)
	at := map[string]uint16{}
	for _, namespace := range []string{"one", "two", "one"} {
		got := must.Value(p.place(t.Context(), namespace))(t)
		if port := got.Address.Port(); at[namespace] != 0 && at[namespace] != port || got.Address.Addr().String() != "10.0.0.1" {
			t.Errorf("%s is at %s, before at port %d", namespace, got.Address, at[namespace])
		}
		at[namespace] = got.Address.Port()
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", at[namespace]))
		must.NoErrorf(t, err, "nobody listens for %s", namespace)
		conn.Close()
	}
	if at["one"] == at["two"] || p.open["one"].place.Catalogs == p.open["two"].place.Catalogs {
		t.Errorf("two namespaces share port %d", at["one"])
	}
	policies := policyList(t, cluster)
	policy := policies[policyName(int(at["one"]))]
	rules := policy.Spec.Ingress
	if len(policies) != 2 || len(rules) != 1 || len(rules[0].From) != 1 || len(rules[0].Ports) != 1 || rules[0].From[0].IPBlock != nil || rules[0].From[0].PodSelector != nil ||
		rules[0].From[0].NamespaceSelector.MatchLabels[corev1.LabelMetadataName] != "one" || rules[0].Ports[0].Port.IntValue() != int(at["one"]) || policy.Spec.PodSelector.MatchLabels["app"] != "the-manager" {
		t.Errorf("%d policies; that of one is %+v", len(policies), policy.Spec)
	}
	// Somebody opens the port to all.
	policy.Spec.Ingress = nil
	must.NoError(t, cluster.Update(t.Context(), &policy))
	p.now = func() time.Time { return time.Now().Add(checkPolicies) }
	if _, err := p.place(t.Context(), "one"); err != nil || len(policyList(t, cluster)[policy.Name].Spec.Ingress) != 1 {
		t.Errorf("the policy is not corrected: %v", err)
	}
	p.stop()
	if _, err := p.place(t.Context(), "three"); err == nil {
		t.Error("it serves more while it ends")
	}
	again := newPorts(t, cluster)
	for _, namespace := range []string{"two", "one"} {
		if got, err := again.place(t.Context(), namespace); err != nil || got.Address.Port() != at[namespace] {
			t.Errorf("after a restart %s is at %s, %v, before at port %d", namespace, got.Address, err, at[namespace])
		}
	}
}

// TestWithoutTheManagersPolicyNoneIsWritten: the first one that selects the manager's pods would close all their other ports.
func TestWithoutTheManagersPolicyNoneIsWritten(t *testing.T) {
	cluster := fake.NewClientBuilder().Build()
	if _, err := newPorts(t, cluster).place(t.Context(), "one"); err != nil || len(policyList(t, cluster)) != 0 {
		t.Errorf("%d policies, %v", len(policyList(t, cluster)), err)
	}
}

// TestPortsAreBounded: what is full is told, and the ports of namespaces without catalogs are used again.
func TestPortsAreBounded(t *testing.T) {
	full := fake.NewClientBuilder().WithObjects(basePolicy())
	for i := range privatePorts {
		name := policyName(firstPrivatePort + i)
		full.WithObjects(&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name, Labels: map[string]string{catalogsOfLabel: fmt.Sprintf("tenant%d", i)}}})
	}
	cluster := full.Build()
	p := newPorts(t, cluster)
	if _, err := p.place(t.Context(), "one-more"); err == nil || !strings.Contains(err.Error(), "all 256 ports") {
		t.Errorf("one namespace more than there are ports: %v", err)
	}
	p.used = func(_ context.Context, namespace string) (bool, error) { return namespace != "tenant7", nil }
	got, err := p.place(t.Context(), "one-more")
	if err != nil || got.Address.Port() != firstPrivatePort+7 || policyList(t, cluster)[policyName(firstPrivatePort+7)].Labels[catalogsOfLabel] != "one-more" {
		t.Errorf("when one has no catalogs any more: %s, %v", got.Address, err)
	}
}

// TestPodsOfOtherNamespacesAreRefused, and what is no pod is admitted.
func TestPodsOfOtherNamespacesAreRefused(t *testing.T) {
	pod := func(namespace, name, ip string, phase corev1.PodPhase, hostNetwork bool) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{HostNetwork: hostNetwork}, Status: corev1.PodStatus{PodIP: ip, Phase: phase}}
	}
	cluster := fake.NewClientBuilder().WithObjects(pod("own", "a", "10.0.0.2", corev1.PodRunning, false), pod("other", "b", "10.0.0.3", corev1.PodRunning, false),
		pod("other", "ended", "10.0.0.4", corev1.PodSucceeded, false), pod("other", "of-node", "10.0.0.5", corev1.PodRunning, true)).Build()
	p := &podPeers{reader: exact{cluster}, now: time.Now, pause: noPause}
	for address, want := range map[string]codes.Code{"10.0.0.2": codes.OK, "10.0.0.3": codes.PermissionDenied, "::ffff:10.0.0.3": codes.PermissionDenied, "10.9.9.9": codes.OK, "10.0.0.4": codes.OK, "10.0.0.5": codes.OK} {
		for range 2 {
			ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(address), Port: 1}})
			if err := p.admit(ctx, "own"); status.Code(err) != want {
				t.Errorf("from %s: %v, want %s", address, err, want)
			}
		}
	}
	broken := &podPeers{reader: failing{cluster}, now: time.Now}
	ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP("10.0.0.3"), Port: 1}})
	if err := broken.admit(ctx, "own"); status.Code(err) != codes.Unavailable {
		t.Errorf("while the API server does not answer: %v, want Unavailable", err)
	}
}

// noPause asks again at once.
func noPause(context.Context, time.Duration) error { return nil }

// clientAt is the context of a call from an address.
func clientAt(t *testing.T, address string) context.Context {
	t.Helper()
	return peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(address), Port: 1}})
}

// TestPodsAreKnownByAllTheirAddresses: a pod of another namespace in a cluster of both families is refused by its second address, too.
func TestPodsAreKnownByAllTheirAddresses(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "b"}, Status: corev1.PodStatus{PodIP: "10.0.0.3", Phase: corev1.PodRunning,
		PodIPs: []corev1.PodIP{{IP: "10.0.0.3"}, {IP: "fd00:0::3"}}}}
	cluster := fake.NewClientBuilder().WithObjects(pod).Build()
	for name, family := range map[string]netip.Addr{"served in the first family": netip.MustParseAddr("10.0.0.1"), "served outside of the cluster": {}} {
		p := &podPeers{reader: exact{cluster}, now: time.Now, pause: noPause, family: family}
		for address, want := range map[string]codes.Code{"10.0.0.3": codes.PermissionDenied, "fd00::3": codes.PermissionDenied, "fd00::4": codes.OK} {
			if err := p.admit(clientAt(t, address), "own"); status.Code(err) != want {
				t.Errorf("%s: from %s: %v, want %s", name, address, err, want)
			}
		}
	}
}

// TestAPodThatHasJustBegunIsAwaited: its address is asked for again until it is reported. What is no pod waits once, not at each call.
func TestAPodThatHasJustBegunIsAwaited(t *testing.T) {
	cluster := fake.NewClientBuilder().Build()
	now, waited := time.Now(), time.Duration(0)
	p := &podPeers{reader: exact{cluster}, now: func() time.Time { return now }, family: netip.MustParseAddr("10.0.0.1")}
	p.pause = func(_ context.Context, d time.Duration) error {
		waited += d
		if waited == unreported {
			return cluster.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "b"}, Status: corev1.PodStatus{PodIP: "10.0.0.3", Phase: corev1.PodRunning}})
		}
		return nil
	}
	if err := p.admit(clientAt(t, "10.0.0.3"), "own"); status.Code(err) != codes.PermissionDenied || waited != unreported {
		t.Errorf("after %s: %v, want PermissionDenied", waited, err)
	}
	p.pause = func(_ context.Context, d time.Duration) error { waited += d; return nil }
	for _, test := range []struct{ later, want time.Duration }{{0, unreported}, {0, 0}, {2 * noPodKnown, 0}, {noPodKnown + noPodBefore + time.Second, unreported}} {
		now, waited = now.Add(test.later), 0
		if err := p.admit(clientAt(t, "10.9.9.9"), "own"); err != nil || waited != test.want {
			t.Errorf("%s later a client that is no pod waits %s, want %s; %v", test.later, waited, test.want, err)
		}
	}
	ended, cancel := context.WithCancel(clientAt(t, "10.8.8.8"))
	cancel()
	if err := (&podPeers{reader: exact{cluster}, now: time.Now}).admit(ended, "own"); status.Code(err) != codes.Unavailable {
		t.Errorf("a call that ends while its address is not known: %v", err)
	}
}

// TestCallsFromOneAddressAskOnce: many calls from an address that is not known wait for one question.
func TestCallsFromOneAddressAskOnce(t *testing.T) {
	var lists atomic.Int32
	counting := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			lists.Add(1)
			return nil
		}})
	reached, release := make(chan struct{}), make(chan struct{})
	p := &podPeers{reader: counting, now: time.Now, family: netip.MustParseAddr("10.0.0.1"), pause: func(context.Context, time.Duration) error {
		reached <- struct{}{}
		<-release
		return nil
	}}
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			if err := p.admit(clientAt(t, "10.9.9.9"), "own"); err != nil {
				t.Error(err)
			}
		})
	}
	<-reached
	ended, cancel := context.WithCancel(clientAt(t, "10.9.9.9"))
	cancel()
	if err := p.admit(ended, "own"); status.Code(err) != codes.Unavailable {
		t.Errorf("a call that ends while it waits: %v", err)
	}
	go func() {
		for range reached { // the further pauses
		}
	}()
	close(release)
	calls.Wait()
	close(reached)
	if want := int32(1 + unreported/askAgain); lists.Load() != want {
		t.Errorf("the API server is asked %d times, want %d", lists.Load(), want)
	}
}

// TestPrivatePortsListenAtTheAdvertisedAddress: in a pod, unless another address is given; elsewhere at the given one.
func TestPrivatePortsListenAtTheAdvertisedAddress(t *testing.T) {
	for name, test := range map[string]struct {
		host string
		pod  bool
		want string
	}{
		"in a pod": {"", true, "127.0.0.7"}, "in a pod, all addresses": {"::", true, "127.0.0.7"}, "in a pod, another one": {"127.0.0.8", true, "127.0.0.8"},
		"outside of a pod": {"127.0.0.9", false, "127.0.0.9"},
	} {
		p := newPorts(t, fake.NewClientBuilder().WithObjects(basePolicy()).Build())
		p.host, p.pod, p.advertise = test.host, test.pod, netip.MustParseAddr("127.0.0.7")
		got, err := p.place(t.Context(), "one")
		must.NoErrorf(t, err, "%s", name)
		for _, address := range []string{"127.0.0.7", "127.0.0.8", "127.0.0.9"} {
			conn, err := net.Dial("tcp", net.JoinHostPort(address, fmt.Sprint(got.Address.Port())))
			if (err == nil) != (address == test.want) {
				t.Errorf("%s: at %s: %v, want a listener at %s alone", name, address, err, test.want)
			}
			if err == nil {
				conn.Close()
			}
		}
		p.stop()
	}
}

// TestAForeignPolicyTakesOnlyItsPort: when the policy of a port in use becomes that of another namespace, or of none, the port is closed, and the
// catalogs are served at another one.
func TestAForeignPolicyTakesOnlyItsPort(t *testing.T) {
	for name, labels := range map[string]map[string]string{"of another namespace": {catalogsOfLabel: "mallory"}, "of none": nil} {
		t.Run(name, func(t *testing.T) {
			cluster := fake.NewClientBuilder().WithObjects(basePolicy()).Build()
			p := newPorts(t, cluster)
			first := must.Value(p.place(t.Context(), "one"))(t)
			policy := policyList(t, cluster)[policyName(int(first.Address.Port()))]
			policy.Labels = labels
			must.NoError(t, cluster.Update(t.Context(), &policy))
			p.now = func() time.Time { return time.Now().Add(checkPolicies) }
			second, err := p.place(t.Context(), "one")
			if err != nil || second.Address.Port() == first.Address.Port() || second.Catalogs != first.Catalogs {
				t.Fatalf("served at %s, %v, before at %s", second.Address, err, first.Address)
			}
			if policyList(t, cluster)[policyName(int(second.Address.Port()))].Labels[catalogsOfLabel] != "one" {
				t.Error("the new port is not opened to the namespace")
			}
			if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", first.Address.Port())); err == nil {
				conn.Close()
				t.Error("the port that is opened to others is still served")
			}
			live := networkingv1.NetworkPolicy{}
			if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(&policy), &live); err != nil || live.Labels[catalogsOfLabel] != labels[catalogsOfLabel] {
				t.Errorf("the policy of another owner is changed: %v, %v", live.Labels, err)
			}
			if again, err := p.place(t.Context(), "one"); err != nil || again.Address != second.Address {
				t.Errorf("it moves again: %s, %v", again.Address, err)
			}
		})
	}
}

// exact leaves out what the fake client cannot select by.
type exact struct{ client.Client }

func (e exact) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	var all corev1.PodList
	if err := e.Client.List(ctx, &all); err != nil {
		return err
	}
	var options client.ListOptions
	options.ApplyOptions(o)
	for _, pod := range all.Items {
		if !options.FieldSelector.Matches(fields.Set{"status.podIP": pod.Status.PodIP, "spec.hostNetwork": fmt.Sprint(pod.Spec.HostNetwork), "status.phase": string(pod.Status.Phase)}) {
			continue
		}
		switch found := list.(type) {
		case *metav1.PartialObjectMetadataList:
			found.Items = append(found.Items, metav1.PartialObjectMetadata{ObjectMeta: pod.ObjectMeta})
		case *corev1.PodList:
			found.Items = append(found.Items, pod)
		}
	}
	return nil
}

// failing is a cluster that does not answer.
type failing struct{ client.Client }

func (failing) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return context.DeadlineExceeded
}
