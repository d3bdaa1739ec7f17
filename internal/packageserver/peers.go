package packageserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// peer is another process that serves, or did, as its EndpointSlice says.
type peer struct {
	name    string
	uid     types.UID
	address string // where it can be asked
}

// peers are the endpoints of other processes.
func (r *Registration) peers(ctx context.Context, reader client.Reader) ([]peer, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSliceList"))
	if err := reader.List(ctx, &list, client.InNamespace(r.options.Namespace), client.MatchingLabels(ourSlices)); err != nil {
		return nil, fmt.Errorf("list the EndpointSlices of Service %s/%s: %w", r.options.Namespace, ServiceName, err)
	}
	own := r.options.slice().GetName()
	var others []peer
	for i := range list.Items {
		if s := &list.Items[i]; s.Name != own {
			others = append(others, peer{name: s.Name, uid: s.UID, address: s.Annotations[reachedAt]})
		}
	}
	return others, nil
}

// removeSilent asks every other process once, removes the endpoints of those that are given up, and returns how many answer.
func (r *Registration) removeSilent(ctx context.Context, reader client.Reader, givenUp func(name string, answered bool) bool) (int, error) {
	others, err := r.peers(ctx, reader)
	if err != nil {
		return 0, err
	}
	serving, err := r.serving(ctx, others)
	if err != nil {
		return 0, err
	}
	for _, other := range others {
		if !givenUp(other.name, serving[other.name]) || ctx.Err() != nil {
			continue
		}
		r.log.Info("removing the endpoint of a process that does not serve packages any more", "address", other.address)
		slice := r.options.slice() // a process that serves after all puts its own back
		slice.SetName(other.name)
		err := r.client.Delete(ctx, slice, client.Preconditions{UID: &other.uid})
		if client.IgnoreNotFound(err) != nil {
			return 0, fmt.Errorf("delete EndpointSlice %s/%s of another process: %w", r.options.Namespace, other.name, err)
		}
	}
	return len(serving), ctx.Err()
}

// serving are the names of those that answer. Who is not believed is asked again with what the API server believes now, which may be more
// than this process knows while a certificate is exchanged.
func (r *Registration) serving(ctx context.Context, others []peer) (map[string]bool, error) {
	found := map[string]bool{}
	r.ask(ctx, others, r.Provider().Certificate().CABundle, found)
	if len(found) == len(others) {
		return found, nil
	}
	// A process that shows a certificate that the API server does not believe does not serve, whatever it answers.
	live, err := r.apiService(ctx)
	if err != nil {
		return nil, err
	}
	trusted := r.options.bundle(live)
	if trusted == nil {
		_, stored, err := r.store.Load(ctx)
		if err != nil {
			return nil, err
		}
		trusted = stored.Trusted(r.options.Clock.Now())
	}
	r.ask(ctx, slices.DeleteFunc(slices.Clone(others), func(p peer) bool { return found[p.name] }), trusted, found)
	return found, nil
}

// ask adds those that answer to what was found.
func (r *Registration) ask(ctx context.Context, others []peer, trusted []byte, found map[string]bool) {
	if len(trusted) == 0 {
		return // no one can be believed
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, other := range others {
		group.Go(func() {
			if r.probe(ctx, other.address, trusted) != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[other.name] = true
		})
	}
	group.Wait()
}

// answerTime is how long a process may take to say whether it serves.
const answerTime = time.Second

// prober asks processes whether they serve.
type prober struct{ host string }

// probe asks as the API server does, under the name of the Service, and believes the same CA certificates.
func (p prober) probe(ctx context.Context, address string, trusted []byte) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: p.host, MinVersion: tls.VersionTLS12}}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask %q whether packages are served there: %w", address, err)
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fmt.Errorf("ask whether packages are served: %w", err)
	}
	_ = answer.Body.Close() // only the status counts
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("ask whether packages are served at %s: the answer is %s", address, answer.Status)
	}
	return nil
}

// A process that is killed leaves its endpoint behind, and every request that is led there fails. So those that are left ask each other every
// few seconds, and remove the endpoint of who does not answer twice. Nothing is asked where there is no one else, and nothing is written
// while everybody answers.
const (
	askEvery = 2 * time.Second
	strikes  = 2
	// maxStrikes bounds how much longer one is waited for that put its endpoint back and still does not answer: it serves, maybe, and only
	// this process cannot reach it.
	maxStrikes = 1024
)

// supervision is what one process knows of the others, by the names of their endpoints.
type supervision struct {
	failed  map[string]int // in a row
	allowed map[string]int
}

// supervise looks after the endpoints of others until the context ends.
func (r *Registration) supervise(ctx context.Context, seen client.Reader) {
	s := supervision{failed: map[string]int{}, allowed: map[string]int{}}
	ticker := r.options.Clock.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		if _, err := r.removeSilent(ctx, seen, s.givenUp); err != nil && ctx.Err() == nil {
			r.log.Error(err, "endpoints of processes that do not serve any more may stay; it is tried again")
		}
	}
}

// givenUp counts an answer, or that there was none.
func (s *supervision) givenUp(name string, answered bool) bool {
	if answered {
		delete(s.failed, name)
		delete(s.allowed, name)
		return false
	}
	s.failed[name]++
	allowed := max(s.allowed[name], strikes)
	if s.failed[name] < allowed {
		return false
	}
	s.failed[name], s.allowed[name] = 0, min(4*allowed, maxStrikes)
	return true
}
