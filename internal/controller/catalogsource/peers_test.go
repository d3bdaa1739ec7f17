package catalogsource

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// beside is another manager of the same cluster, which serves at an address.
func (w *world) beside(address, pod string) *world {
	other := &world{Server: w.Server, t: w.t, client: w.client, registry: w.registry, indexes: w.indexes}
	other.c = other.controller()
	other.c.services = &services{client: w.Server, engine: &rollout.Engine{Client: w.Server, FieldManager: string(fieldOwner)},
		peers:   &peers{reader: w.Server, call: callTCP, clock: w.Clock},
		Serving: &Serving{GlobalNamespace: key.Namespace, Global: Place{netip.MustParseAddrPort(address), &catalogserver.Set{}}, Pod: pod}}
	w.t.Cleanup(other.c.links.closeAll)
	return other
}

// leads are the addresses that the Service of the catalog leads to.
func (w *world) leads() map[string]bool {
	w.t.Helper()
	var list discoveryv1.EndpointSliceList
	if err := w.client.List(w.t.Context(), &list, client.MatchingLabels{discoveryv1.LabelServiceName: "cat"}); err != nil {
		w.t.Fatal(err)
	}
	found := map[string]bool{}
	for _, s := range list.Items {
		found[net.JoinHostPort(s.Endpoints[0].Addresses[0], strconv.Itoa(int(*s.Ports[0].Port)))] = true
	}
	return found
}

func managerPod(name, ip string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fairlead-system", Name: name, UID: "uid-of-pod"}, Status: corev1.PodStatus{PodIP: ip, Phase: corev1.PodRunning}}
}

// TestTwoManagersServeSideBySide: neither takes away what leads to the other, nothing is written once both are there, and what leads to one
// that is gone goes.
func TestTwoManagersServeSideBySide(t *testing.T) {
	pod := managerPod("one", "192.0.2.1")
	cluster := newWorld(t, source(grpc(0)), pod)
	first := cluster.beside("192.0.2.1:50051", "fairlead-system/one/uid-of-pod")
	second := cluster.beside("192.0.2.2:4711", "")
	for _, w := range []*world{first, second} {
		w.c.services.peers.call = func(context.Context, string) error { return nil }
	}
	first.reconcile()
	second.reconcile()
	cluster.Taken()
	for range 5 {
		first.Clock.Step(peerPause)
		first.reconcile()
		result, _ := second.reconcile()
		if result.RequeueAfter != peerPause {
			t.Fatalf("looked whether the other is still there after %s", result.RequeueAfter)
		}
		first.settled(second)
	}
	if got := first.leads(); len(got) != 2 || !got["192.0.2.1:50051"] || !got["192.0.2.2:4711"] || len(cluster.Writes()) > 0 {
		t.Errorf("it leads to %v, after the writes %v while nothing changed", got, cluster.Writes())
	}
	must.NoError(t, first.client.Delete(t.Context(), pod))
	second.removes(1)
	if got := first.leads(); !got["192.0.2.2:4711"] {
		t.Errorf("it leads to %v, want the one that is left", got)
	}
}

// settled waits until no one looks for others.
func (w *world) settled(all ...*world) {
	w.t.Helper()
	for _, one := range append(all, w) {
		for range 1000 {
			p := one.c.services.peers
			p.mu.Lock()
			busy := false
			for _, k := range p.seen {
				busy = busy || k.looking
			}
			p.mu.Unlock()
			if !busy {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// removes reconciles until the Service leads to so many.
func (w *world) removes(left int) {
	w.t.Helper()
	for range 10 {
		w.Clock.Step(peerPause)
		w.reconcile()
		w.settled()
		if len(w.leads()) == left {
			return
		}
	}
	w.t.Fatalf("it leads to %v, want %d", w.leads(), left)
}

// TestAManagerOutsideOfTheClusterIsCalled: and only after several calls without answer it counts as gone.
func TestAManagerOutsideOfTheClusterIsCalled(t *testing.T) {
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	w := newWorld(t, source(grpc(0)))
	other := w.beside(listener.Addr().String(), "")
	w.serve()
	other.reconcile()
	for range 2 * peerTries {
		w.Clock.Step(peerPause)
		w.reconcile()
		w.settled()
	}
	if got := w.leads(); !got[listener.Addr().String()] {
		t.Fatalf("it leads to %v, and not to one that answers", got)
	}
	listener.Close()
	for range peerTries - 1 {
		w.Clock.Step(peerPause)
		w.reconcile()
		w.settled()
	}
	if got := w.leads(); !got[listener.Addr().String()] {
		t.Fatal("one that has not answered a few times counts as gone")
	}
	w.removes(1)
}

func TestPodsOfOtherManagers(t *testing.T) {
	now := metav1.Now()
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		there  bool
	}{
		"runs":                   {func(*corev1.Pod) {}, true},
		"has no address yet":     {func(p *corev1.Pod) { p.Status.PodIP = "" }, true},
		"another of that name":   {func(p *corev1.Pod) { p.UID = "other" }, false},
		"has another address":    {func(p *corev1.Pod) { p.Status.PodIP = "192.0.2.9" }, false},
		"failed":                 {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
		"is being deleted":       {func(p *corev1.Pod) { p.DeletionTimestamp, p.Finalizers = &now, []string{"x/y"} }, false},
		"is called by its name?": {func(p *corev1.Pod) { p.Name = "two" }, false},
	} {
		pod := managerPod("one", "192.0.2.1")
		test.change(pod)
		w := newWorld(t, pod)
		if got, err := w.c.services.peers.runs(t.Context(), "192.0.2.1:50051", "fairlead-system/one/uid-of-pod"); got != test.there || err != nil {
			t.Errorf("%s: %t, %v, want %t", name, got, err, test.there)
		}
	}
}

// TestWhatAnEarlierVersionLeftGoes: it knew of one manager only.
func TestWhatAnEarlierVersionLeftGoes(t *testing.T) {
	owner := source(grpc(0))
	yes := true
	old := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat-fairlead-ipv4", Labels: map[string]string{"olm.managed": "true", discoveryv1.LabelServiceName: "cat"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "CatalogSource", Name: "cat", UID: owner.UID, Controller: &yes}}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"192.0.2.66"}}}, Ports: []discoveryv1.EndpointPort{{Port: new(int32)}}}
	w := newWorld(t, owner, old)
	w.serve()
	w.reconcile()
	if got := w.leads(); len(got) != 1 || !got["192.0.2.7:4711"] {
		t.Errorf("it leads to %v", got)
	}
}

// TestManagersThatCannotReachEachOtherDoNotFight: one that writes again what was removed is there, whether it answers or not.
func TestManagersThatCannotReachEachOtherDoNotFight(t *testing.T) {
	w := newWorld(t)
	p := w.c.services.peers
	p.call = func(context.Context, string) error { return errors.New("no route to host") }
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(w.Clock.Now()), Annotations: map[string]string{addressAnnotation: "192.0.2.9:50051"}}}
	gone := func() bool {
		w.Clock.Step(peerPause)
		p.gone(t.Context(), slice)
		w.settled()
		return p.gone(t.Context(), slice)
	}
	for i := range peerTries {
		if got := gone(); got != (i == peerTries-1) {
			t.Fatalf("after %d calls without answer it counts as gone: %t", i+1, got)
		}
	}
	w.Clock.Step(time.Second)
	slice.CreationTimestamp = metav1.NewTime(w.Clock.Now())
	for range int(peerTrust/peerPause) - 1 {
		if gone() {
			t.Fatal("it is removed again and again")
		}
	}
	for range peerTries + 1 {
		gone()
	}
	if !gone() {
		t.Error("it never counts as gone any more")
	}
}
