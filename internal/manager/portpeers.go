package manager

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/content/catalogserver"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// peerKnown is how long it is believed which namespace an address belongs to, and noPodKnown that it is none of a pod.
	peerKnown  = 20 * time.Second
	noPodKnown = time.Second
	// noPodBefore is how long it is remembered that an address was none of a pod: then one more question is enough.
	noPodBefore = time.Minute
	// peerAsk is how long the API server may take to answer.
	peerAsk = 5 * time.Second
	// unreported is how long a pod may have begun without its address being reported, so long it is asked for again, each askAgain.
	unreported = 2 * time.Second
	askAgain   = 500 * time.Millisecond
	// peerPage is how many pods are read at once.
	peerPage = 500
	// maxPeers bounds the addresses that are remembered.
	maxPeers = 4096
)

// podPeers find out whose pod a client is, by its address. They refuse pods of other namespaces where the network lets them through, because
// nothing there enforces NetworkPolicies. What is no pod is admitted: nodes, pods that use the network of their node, clients outside of the
// cluster; and so are pods whose address the network replaces by that of a node. An address that is not known yet may be that of a pod which has just
// begun, so it is asked for again before it counts as none.
type podPeers struct {
	reader client.Reader // past the cache: pods are not cached
	now    func() time.Time
	// pause waits between two questions; nil waits in real time.
	pause func(ctx context.Context, d time.Duration) error
	// family is an address of the family that the API server finds pods by: the first one of status.podIPs. A node lists that of its own family
	// first. Pods are searched for addresses of the other family, and for all when this is not set.
	family netip.Addr

	mu    sync.Mutex
	known map[netip.Addr]peerOfPod
	asked map[netip.Addr]*question
}

// peerOfPod is whose an address is.
type peerOfPod struct {
	namespaces []string // of the pods with that address; none is not a pod
	until      time.Time
}

// admit returns why the client of a call may not read the private catalogs of a namespace.
func (p *podPeers) admit(ctx context.Context, namespace string) error {
	address, err := netip.ParseAddr(catalogserver.PeerOf(ctx))
	if err != nil {
		return nil // no address of a network
	}
	owners, err := p.owners(ctx, address.Unmap().WithZone(""))
	if err != nil {
		return status.Errorf(codes.Unavailable, "find out which namespace the client at %s belongs to: %v; try again", address, err)
	}
	if len(owners) > 0 && !slices.Contains(owners, namespace) {
		return status.Errorf(codes.PermissionDenied, "the catalogs of namespace %s are for its own pods, and %s is a pod of namespace %s; use a catalog of that namespace, or of the global one",
			namespace, address, owners[0])
	}
	return nil
}

// question is one that the API server is being asked about an address. All calls from there wait for its answer.
type question struct {
	answered   chan struct{}
	namespaces []string
	err        error
}

// owners are the namespaces of the pods at an address.
func (p *podPeers) owners(ctx context.Context, address netip.Addr) ([]string, error) {
	p.mu.Lock()
	known, ok := p.known[address]
	if ok && p.now().Before(known.until) {
		p.mu.Unlock()
		return known.namespaces, nil
	}
	q := p.asked[address]
	if q == nil {
		q = &question{answered: make(chan struct{})}
		if p.asked == nil {
			p.asked = map[netip.Addr]*question{}
		}
		p.asked[address] = q
		left := unreported
		if ok && len(known.namespaces) == 0 && p.now().Before(known.until.Add(noPodBefore)) {
			left = 0
		}
		go p.ask(context.WithoutCancel(ctx), address, q, left) // others wait for it, when this call ends
	}
	p.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-q.answered:
		return q.namespaces, q.err
	}
}

// ask answers a question. An address that is not known is asked for again, for as long as is left.
func (p *podPeers) ask(ctx context.Context, address netip.Addr, q *question, left time.Duration) {
	q.namespaces, q.err = p.find(ctx, address)
	for ; q.err == nil && len(q.namespaces) == 0 && left > 0; left -= askAgain {
		if q.err = p.wait(ctx, askAgain); q.err == nil {
			q.namespaces, q.err = p.find(ctx, address)
		}
	}
	if apierrors.IsForbidden(q.err) {
		q.err = nil // one that may not see the pods of others relies on the network
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(q.answered)
	delete(p.asked, address)
	if q.err != nil {
		return
	}
	found := peerOfPod{namespaces: q.namespaces, until: p.now().Add(noPodKnown)}
	if len(q.namespaces) > 0 {
		found.until = p.now().Add(peerKnown)
	}
	if p.known == nil || len(p.known) >= maxPeers {
		p.known = map[netip.Addr]peerOfPod{}
	}
	p.known[address] = found
}

// wait waits between two questions.
func (p *podPeers) wait(ctx context.Context, d time.Duration) error {
	if p.pause != nil {
		return p.pause(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// withOwnAddress selects pods that have an address of their own.
func withOwnAddress(more ...fields.Selector) fields.Selector {
	return fields.AndSelectors(append(more, fields.OneTermEqualSelector("spec.hostNetwork", "false"),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)), fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)))...)
}

// find asks the API server once for the pods at an address. Pods can be selected by their first address alone.
func (p *podPeers) find(ctx context.Context, address netip.Addr) (namespaces []string, _ error) {
	ctx, cancel := context.WithTimeout(ctx, peerAsk)
	defer cancel()
	var first metav1.PartialObjectMetadataList
	first.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	at := withOwnAddress(fields.OneTermEqualSelector("status.podIP", address.String()))
	if err := p.reader.List(ctx, &first, &client.ListOptions{FieldSelector: at, Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
		return nil, err
	}
	for i := range first.Items {
		namespaces = append(namespaces, first.Items[i].Namespace)
	}
	if len(namespaces) > 0 || p.family.IsValid() && p.family.Is4() == address.Is4() {
		return namespaces, nil
	}
	var pods corev1.PodList
	for {
		if err := p.reader.List(ctx, &pods, &client.ListOptions{FieldSelector: withOwnAddress(), Limit: peerPage, Continue: pods.Continue}); err != nil {
			return nil, err
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if slices.ContainsFunc(pod.Status.PodIPs, func(ip corev1.PodIP) bool {
				a, err := netip.ParseAddr(ip.IP)
				return err == nil && a.Unmap() == address
			}) {
				namespaces = append(namespaces, pod.Namespace)
			}
		}
		if pods.Continue == "" {
			return namespaces, nil
		}
	}
}
