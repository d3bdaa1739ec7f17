package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/utils/clock"
)

// renewBefore is how long before its expiry a token is renewed, so that no request leaves with one that expires on its way.
const renewBefore = 30 * time.Second

// Why a token is of no use any more.
var (
	errLoggedOut = errors.New("prove who you are to the API server: you have logged out; log in again")
	errExpired   = errors.New("prove who you are to the API server: your token has expired; log in again")
	errRefused   = errors.New("prove who you are to the API server: it does not accept your token any more; log in again")
)

// issued is a bearer token. Until is when it expires; zero where that is not known.
type issued struct {
	token string
	until time.Time
}

// credential is what a user proves who they are with to the API server. It is in memory alone, and is never printed.
type credential struct {
	clock clock.PassiveClock
	// renew gets the next token; nil where there is none to be had.
	renew func(ctx context.Context) (issued, error)

	renewing sync.Mutex // is held while a token is renewed, so that the others need not wait for the provider

	mu      sync.Mutex
	held    issued
	gone    error // why it is of no use any more; nil while it is
	doubted bool  // the API server has refused a request with it
}

// String keeps the token out of everything that prints.
func (*credential) String() string { return "(a credential)" }

// GoString is String for %#v.
func (c *credential) GoString() string { return c.String() }

// current is the token, renewed where it is about to expire.
func (c *credential) current(ctx context.Context) (string, error) {
	now := c.clock.Now()
	token, renew, err := c.state(now)
	if err != nil || !renew {
		return token, err
	}
	c.renewing.Lock()
	defer c.renewing.Unlock()
	if token, renew, err = c.state(now); err != nil || !renew { // another request has renewed it meanwhile
		return token, err
	}
	next, failed := c.renew(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.gone != nil: // the user has logged out meanwhile
		return "", c.gone
	case failed == nil:
		c.held = next
	case !now.Before(c.held.until):
		c.gone, c.held = errors.Join(errExpired, failed), issued{}
		return "", c.gone
	}
	return c.held.token, nil
}

// state is the token, and whether it should be renewed first.
func (c *credential) state(now time.Time) (token string, renew bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch expires := !c.held.until.IsZero(); {
	case c.gone != nil:
		return "", false, c.gone
	case expires && c.renew != nil && !now.Before(c.held.until.Add(-renewBefore)):
		return "", true, nil
	case expires && !now.Before(c.held.until):
		c.gone, c.held = errExpired, issued{}
		return "", false, c.gone
	}
	return c.held.token, false, nil
}

// forget drops the token: who still has the credential can do nothing with it.
func (c *credential) forget(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		c.gone = why
	}
	c.held, c.renew = issued{}, nil
}

// ended reports whether the credential is of no use any more. It asks no one.
func (c *credential) ended(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone != nil || c.renew == nil && !c.held.until.IsZero() && !now.Before(c.held.until)
}

// doubt notes that a request was refused; takeDoubt reports whether one was, once.
func (c *credential) doubt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubted = true
}

func (c *credential) takeDoubt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	doubted := c.doubted
	c.doubted = false
	return doubted
}

// wrap gives requests the token.
func (c *credential) wrap(next http.RoundTripper) http.RoundTripper { return bearerTransport{c, next} }

type bearerTransport struct {
	credential *credential
	next       http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.credential.current(r.Context())
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := t.next.RoundTrip(r)
	if err == nil && answer.StatusCode == http.StatusUnauthorized {
		t.credential.doubt()
	}
	return answer, err
}

// maxToken is how long a token may be, in bytes.
const maxToken = 16 << 10

// usable reports whether a text can be a bearer token: one word of visible ASCII.
func usable(token string) bool {
	return token != "" && len(token) <= maxToken && strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) < 0
}

// algorithms are those that tokens of clusters are signed with. Nothing is verified with them here: the API server does that.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512, jose.PS256, jose.PS384, jose.PS512, jose.EdDSA}

// expiry is when a token says that it expires; zero where it does not. The API server decides whether it is accepted: this only ends the session in time.
func expiry(token string) time.Time {
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return time.Time{}
	}
	var claims jwt.Claims
	if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil || claims.Expiry == nil {
		return time.Time{}
	}
	return claims.Expiry.Time()
}
