package rollout

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tokenLifetime is what tokens are asked for; they are renewed after four fifths of what the API server grants.
const tokenLifetime = time.Hour

// maxAccounts is how many clients are kept. Each holds a token and connections; one that had to go costs a request for another token.
const maxAccounts = 256

// Accounts gives clients that act as a service account, with a token of it and no other credential. It is safe for concurrent use.
type Accounts struct {
	config *rest.Config
	client client.Client
	clock  clock.PassiveClock

	mu    sync.Mutex
	known map[types.NamespacedName]account
}

type account struct {
	client client.Client
	renew  time.Time
}

// NewAccounts returns Accounts for the API server of a configuration. The client is the one that asks for the tokens.
func NewAccounts(config *rest.Config, c client.Client, clk clock.PassiveClock) *Accounts {
	return &Accounts{config: config, client: c, clock: clk, known: map[types.NamespacedName]account{}}
}

// Client returns a client that acts as the service account.
func (a *Accounts) Client(ctx context.Context, namespace, name string) (client.Client, error) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	a.mu.Lock()
	known, ok := a.known[key]
	a.mu.Unlock()
	if ok && a.clock.Now().Before(known.renew) {
		return known.client, nil
	}
	fresh, err := a.open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("act as ServiceAccount %s: %w", key, err)
	}
	// Room is made for it: those whose token is due go, and if that is not enough the one that is due next.
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, key)
	now, next := a.clock.Now(), types.NamespacedName{}
	for k, known := range a.known {
		if !now.Before(known.renew) {
			delete(a.known, k)
			continue
		}
		if oldest, ok := a.known[next]; !ok || known.renew.Before(oldest.renew) {
			next = k
		}
	}
	if len(a.known) >= maxAccounts {
		delete(a.known, next)
	}
	a.known[key] = fresh
	return fresh.client, nil
}

func (a *Accounts) open(ctx context.Context, key types.NamespacedName) (account, error) {
	asked := a.clock.Now()
	seconds := int64(tokenLifetime / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	subject := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := a.client.SubResource("token").Create(ctx, subject, request); err != nil {
		return account{}, fmt.Errorf("request a token: %w", err)
	}
	config := rest.AnonymousClientConfig(a.config)
	config.BearerToken = request.Status.Token
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &forgetter{next, a, key} })
	c, err := client.New(config, client.Options{Scheme: a.client.Scheme(), Mapper: a.client.RESTMapper()})
	if err != nil {
		return account{}, fmt.Errorf("make a client: %w", err)
	}
	granted := request.Status.ExpirationTimestamp.Sub(asked)
	return account{client: c, renew: asked.Add(granted * 4 / 5)}, nil
}

// forgetter drops a client whose token is no longer accepted: the account was deleted, and perhaps made again.
type forgetter struct {
	next http.RoundTripper
	from *Accounts
	key  types.NamespacedName
}

// RoundTrip implements http.RoundTripper.
func (f *forgetter) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := f.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		f.from.mu.Lock()
		delete(f.from.known, f.key)
		f.from.mu.Unlock()
	}
	return response, err
}
