package console

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"k8s.io/utils/clock"
)

// OIDC says where users log in: at an OpenID Connect provider whose ID tokens the API server accepts.
type OIDC struct {
	// Issuer is the URL of the provider, and ClientID is how it calls the console.
	Issuer, ClientID string
	// Secret reads the secret of the client; nil for a public client.
	Secret func() (string, error)
	// CA is the CA bundle of the provider as PEM; that of the system when empty.
	CA []byte
	// Scopes are asked for besides openid.
	Scopes []string
}

// Check tells what can never work.
func (o OIDC) Check() error {
	u, err := url.Parse(o.Issuer)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("the issuer %q is of no use; give its URL, which begins with https:// and has no query", o.Issuer)
	case o.ClientID == "":
		return errors.New("the issuer is given without the ID by which it knows the console; give both")
	case len(o.CA) > 0 && !x509.NewCertPool().AppendCertsFromPEM(o.CA):
		return errors.New("the CA bundle of the issuer has no certificate; give a PEM file")
	}
	return nil
}

// provider is an OpenID Connect provider. What it publishes about itself is read when the first user logs in.
type provider struct {
	OIDC
	clock  clock.PassiveClock
	client *http.Client
	sealer *sealer

	mu    sync.Mutex
	known *oidc.Provider
}

func newProvider(o OIDC, c clock.PassiveClock) (*provider, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(o.CA) > 0 {
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(o.CA)
	}
	s, err := newSealer(c)
	return &provider{OIDC: o, clock: c, client: &http.Client{Transport: transport, Timeout: verificationTime}, sealer: s}, err
}

// host is what users know the provider by.
func (p *provider) host() string {
	u, err := url.Parse(p.Issuer)
	if err != nil {
		return p.Issuer
	}
	return u.Host
}

// context makes the libraries reach the provider as the options say.
func (p *provider) context(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}

// discover is what the provider publishes about itself.
func (p *provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		return p.known, nil
	}
	found, err := oidc.NewProvider(p.context(context.WithoutCancel(ctx)), p.Issuer) // which reads keys with this context later
	if err != nil {
		return nil, &statusError{http.StatusBadGateway, "The provider " + p.host() + " cannot be used: " + plain(err), "try again; an administrator checks --console-oidc-issuer and --console-oidc-ca-file of the manager"}
	}
	if at, err := url.Parse(found.Endpoint().AuthURL); err != nil || at.Scheme != "https" {
		return nil, &statusError{http.StatusBadGateway, "The provider " + p.host() + " has no page to log in at that is reached by https", "tell an administrator: authorization_endpoint of the provider has to begin with https://"}
	}
	p.known = found
	return found, nil
}

// endpoint is where tokens are, and how the client proves who it is there. Trying both ways would send each code twice.
func (p *provider) endpoint(found *oidc.Provider) oauth2.Endpoint {
	var published struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	endpoint := found.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if err := found.Claims(&published); p.Secret == nil || err == nil && len(published.Methods) > 0 && !slices.Contains(published.Methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return endpoint
}

// exchange is how codes of the provider become tokens, for a console that browsers know by a host.
func (p *provider) exchange(found *oidc.Provider, host string) (*oauth2.Config, error) {
	c := &oauth2.Config{ClientID: p.ClientID, Endpoint: p.endpoint(found), RedirectURL: "https://" + host + callbackPath, Scopes: []string{oidc.ScopeOpenID}}
	for _, scope := range p.Scopes {
		if !slices.Contains(c.Scopes, scope) {
			c.Scopes = append(c.Scopes, scope)
		}
	}
	if p.Secret == nil {
		return c, nil
	}
	var err error
	if c.ClientSecret, err = p.Secret(); err != nil {
		return nil, &statusError{http.StatusInternalServerError, "The console cannot read its secret at the provider: " + plain(err), "tell an administrator: --console-oidc-client-secret-file of the manager names it"}
	}
	return c, nil
}

// verify checks an ID token: signed by the provider with an algorithm of asymmetric keys, for this console, and not expired.
func (p *provider) verify(ctx context.Context, found *oidc.Provider, token *oauth2.Token) (string, *oidc.IDToken, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok || !usable(raw) {
		return "", nil, &statusError{http.StatusBadGateway, "The provider " + p.host() + " has sent no ID token", "tell an administrator: the client of the console there has to be one of OpenID Connect"}
	}
	verified, err := found.Verifier(&oidc.Config{ClientID: p.ClientID, Now: p.clock.Now}).Verify(p.context(ctx), raw)
	if err != nil {
		return "", nil, &statusError{http.StatusUnauthorized, "The ID token of the provider " + p.host() + " is not accepted: " + plain(err), "log in once more; if it fails again, an administrator compares issuer and client ID of the provider with those of the console"}
	}
	return raw, verified, nil
}

// beginOIDC sends a browser to the provider.
func (a *ClusterAccess) beginOIDC(w http.ResponseWriter, r *http.Request) {
	page := entryPage{To: local(r.URL.Query().Get(toField))}
	if !a.attempts.allow(r.RemoteAddr) {
		a.busy(w, page)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), verificationTime)
	defer cancel()
	found, err := a.oidc.discover(ctx)
	var exchange *oauth2.Config
	if err == nil {
		exchange, err = a.oidc.exchange(found, r.Host)
	}
	if err != nil {
		a.refused(w, r, page, err, "")
		return
	}
	login := pending{State: word(), Nonce: word(), Verifier: oauth2.GenerateVerifier(), Host: r.Host, To: page.To}
	http.SetCookie(w, a.stateCookie(r, a.oidc.sealer.seal(login), int(loginTime/time.Second)))
	http.Redirect(w, r, exchange.AuthCodeURL(login.State, oidc.Nonce(login.Nonce), oauth2.S256ChallengeOption(login.Verifier)), http.StatusSeeOther)
}

// finishOIDC lets in who comes back from the provider.
func (a *ClusterAccess) finishOIDC(w http.ResponseWriter, r *http.Request) {
	if !a.attempts.allow(r.RemoteAddr) {
		a.busy(w, entryPage{})
		return
	}
	var login pending
	cookie, err := r.Cookie(a.stateName(r))
	if err == nil {
		login, err = a.oidc.sealer.open(cookie.Value)
	}
	http.SetCookie(w, a.stateCookie(r, "", -1)) // it works once
	state := r.URL.Query().Get("state")
	if err != nil || login.Host != r.Host || subtle.ConstantTimeCompare([]byte(state), []byte(login.State)) != 1 || !a.oidc.sealer.use(login) {
		a.refused(w, r, entryPage{}, &statusError{http.StatusBadRequest, "This login was not begun here, or it has taken too long, or it is finished", "begin it once more"}, "")
		return
	}
	page := entryPage{To: local(login.To)}
	ctx, cancel := context.WithTimeout(r.Context(), 2*verificationTime)
	defer cancel()
	made, err := a.oidc.finish(ctx, r.URL.Query(), login)
	var user *User
	if err == nil {
		user, err = a.user(ctx, made)
	}
	if err != nil {
		a.refused(w, r, page, err, "tell an administrator: the API server has to be told of the provider, by --oidc-issuer-url and --oidc-client-id or by its AuthenticationConfiguration")
		return
	}
	if (door{a.console}).letIn(w, r, user) {
		a.entered(w, page.To)
	}
}

// finish makes a credential of what the provider answers.
func (p *provider) finish(ctx context.Context, answer url.Values, login pending) (*credential, error) {
	if code := answer.Get("error"); code != "" {
		text := "The provider " + p.host() + " has refused the login: " + safetext.Line(strings.TrimSpace(code+" "+answer.Get("error_description")), maxComplaint)
		return nil, &statusError{http.StatusUnauthorized, text, "try again, or as another user; if it fails again, ask the administrator of the provider"}
	}
	if issuer := answer.Get("iss"); issuer != "" && issuer != p.Issuer {
		return nil, &statusError{http.StatusUnauthorized, "The answer is of another provider than " + p.host(), "begin the login once more"}
	}
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	exchange, err := p.exchange(found, login.Host)
	if err != nil {
		return nil, err
	}
	token, err := exchange.Exchange(p.context(ctx), answer.Get("code"), oauth2.VerifierOption(login.Verifier))
	if err != nil {
		return nil, p.failed(err)
	}
	raw, verified, err := p.verify(ctx, found, token)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(login.Nonce)) != 1 {
		return nil, &statusError{http.StatusUnauthorized, "The ID token of the provider " + p.host() + " is of another login", "begin the login once more"}
	}
	made := &credential{clock: p.clock, held: issued{raw, verified.Expiry}}
	if token.RefreshToken != "" {
		made.renew = p.renewal(login.Host, verified.Subject, token.RefreshToken)
	}
	return made, nil
}

// failed is what the provider has said instead of tokens. Nothing that was sent to it is in the text.
func (p *provider) failed(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		text := fmt.Sprintf("The provider %s gives no tokens: %s", p.host(), safetext.Line(strings.TrimSpace(refused.ErrorCode+" "+refused.ErrorDescription), maxComplaint))
		if refused.ErrorCode == "" && refused.Response != nil {
			text = fmt.Sprintf("The provider %s gives no tokens: it answers %s", p.host(), refused.Response.Status)
		}
		return &statusError{http.StatusUnauthorized, text, "log in once more; if it fails again, an administrator compares client ID and secret of the console with those of the provider"}
	}
	return &statusError{http.StatusBadGateway, "The provider " + p.host() + " cannot be asked for tokens: " + plain(err), "try again"}
}

// renewal gets further tokens by refresh tokens, each of which may work once.
func (p *provider) renewal(host, subject, refresh string) func(ctx context.Context) (issued, error) {
	return func(ctx context.Context) (issued, error) {
		ctx, cancel := context.WithTimeout(ctx, verificationTime)
		defer cancel()
		found, err := p.discover(ctx)
		if err != nil {
			return issued{}, err
		}
		exchange, err := p.exchange(found, host)
		if err != nil {
			return issued{}, err
		}
		token, err := exchange.TokenSource(p.context(ctx), &oauth2.Token{RefreshToken: refresh}).Token()
		if err != nil {
			return issued{}, p.failed(err)
		}
		if token.RefreshToken != "" {
			refresh = token.RefreshToken
		}
		raw, verified, err := p.verify(ctx, found, token)
		if err != nil {
			return issued{}, err
		}
		if verified.Subject != subject {
			return issued{}, &statusError{http.StatusUnauthorized, "The provider " + p.host() + " has sent a token of another user", "log in once more"}
		}
		return issued{raw, verified.Expiry}, nil
	}
}

// maxComplaint is how much of what a provider says is repeated, in bytes.
const maxComplaint = 300

// plain is an error as text that can be shown.
func plain(err error) string { return safetext.Line(err.Error(), maxComplaint) }

func (a *ClusterAccess) stateName(r *http.Request) string { return a.console.cookie(r) + "-login" }

// stateCookie holds a login that has begun. It is Lax, because the browser comes back with it from the site of the provider.
func (a *ClusterAccess) stateCookie(r *http.Request, value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: a.stateName(r), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: a.console.guard.secure, SameSite: http.SameSiteLaxMode}
}

// word is a random text.
func word() string {
	raw := secret()
	return base64.RawURLEncoding.EncodeToString(raw[:])
}
