package catalogsource

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Annotations of an EndpointSlice say who serves there: the address, and the pod as NAMESPACE/NAME/UID if it is one.
const (
	addressAnnotation = "operators.fairlead.dev/serves-at"
	podAnnotation     = "operators.fairlead.dev/serves-in"
)

const (
	// peerPause is the time between two looks whether another manager is still there.
	peerPause = 10 * time.Second
	// peerTries is how many times in a row a manager outside of the cluster may fail to answer before it counts as gone.
	peerTries = 3
	// peerTrust is how long one is not called any more that does not answer, and yet writes again what is removed: the two only cannot
	// reach each other.
	peerTrust = time.Hour
	// peerAnswer is how long it may take to answer.
	peerAnswer = 3 * time.Second
)

// peers are the other managers that serve the same catalogs: replicas, and those that were there before. What leads to one that is gone is
// removed by those that are left. Of a pod the API server knows whether it is there; others are called.
type peers struct {
	reader client.Reader // past the cache: managers' pods are not cached
	call   func(ctx context.Context, address string) error
	clock  clock.PassiveClock

	mu   sync.Mutex
	seen map[string]*peer // by address and pod
}

// peer is what is known of one.
type peer struct {
	looked   time.Time
	looking  bool
	failures int
	gone     bool
	lost     time.Time // when it was found to be gone
}

// gone reports whether the manager that an EndpointSlice leads to is gone, as far as is known. It never waits: it begins to look, and the
// next call knows more.
func (p *peers) gone(ctx context.Context, slice client.Object) bool {
	address, pod := slice.GetAnnotations()[addressAnnotation], slice.GetAnnotations()[podAnnotation]
	if address == "" {
		return true // written by a version that knew only one manager
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key, now := address+" "+pod, p.clock.Now()
	known := p.seen[key]
	if known == nil {
		known = &peer{}
		if p.seen == nil {
			p.seen = map[string]*peer{}
		}
		p.seen[key] = known
	}
	if known.gone && pod == "" && slice.GetCreationTimestamp().After(known.lost) {
		known.gone, known.failures, known.looked = false, 0, now.Add(peerTrust)
	}
	if !known.looking && now.Sub(known.looked) >= peerPause {
		known.looking = true
		go p.look(context.WithoutCancel(ctx), known, address, pod)
	}
	for other, k := range p.seen {
		if !k.looking && now.Sub(k.looked) > 10*peerPause {
			delete(p.seen, other) // nothing leads there any more
		}
	}
	return known.gone
}

// look finds out whether a manager is there.
func (p *peers) look(ctx context.Context, known *peer, address, pod string) {
	ctx, cancel := context.WithTimeout(ctx, peerAnswer)
	defer cancel()
	var there bool
	var err error
	if pod != "" {
		there, err = p.runs(ctx, address, pod)
	} else {
		there = p.call(ctx, address) == nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known.looking, known.looked = false, p.clock.Now()
	switch {
	case err != nil: // nothing was found out
	case there:
		known.failures, known.gone = 0, false
	default:
		known.failures++
		if !known.gone && (pod != "" || known.failures >= peerTries) {
			known.gone, known.lost = true, known.looked
		}
	}
}

// runs reports whether a pod runs at the address.
func (p *peers) runs(ctx context.Context, address, pod string) (bool, error) {
	parts := strings.Split(pod, "/")
	if len(parts) != 3 {
		return false, nil
	}
	var live corev1.Pod
	err := p.reader.Get(ctx, client.ObjectKey{Namespace: parts[0], Name: parts[1]}, &live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("look for the pod of another manager: %w", err)
	}
	host, _, _ := net.SplitHostPort(address)
	ended := live.DeletionTimestamp != nil || live.Status.Phase == corev1.PodSucceeded || live.Status.Phase == corev1.PodFailed
	return err == nil && string(live.UID) == parts[2] && !ended && (live.Status.PodIP == "" || live.Status.PodIP == host), nil
}

// callTCP connects and hangs up.
func callTCP(ctx context.Context, address string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
