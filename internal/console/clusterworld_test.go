package console

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// fakeCluster is an API server that knows who has which token, and what they may watch. It has no objects.
type fakeCluster struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	tokens  map[string]string                                             // the user of each
	may     func(user string, a *authorizationv1.ResourceAttributes) bool // nil is everything
	refused bool                                                          // lists are answered with 401, as an API that is served beside the API server may do
	seen    []http.Header
	asked   int // how often who a token is of
}

func newFakeCluster(t *testing.T) *fakeCluster {
	c := &fakeCluster{t: t, tokens: map[string]string{}}
	c.Server = httptest.NewTLSServer(c)
	t.Cleanup(c.Close)
	return c
}

// config reaches the cluster, with credentials that no user may be lent.
func (c *fakeCluster) config() *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
	return &rest.Config{Host: c.URL, BearerToken: "token-of-the-manager", Username: "manager", Password: "password-of-the-manager", TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

func (c *fakeCluster) knows(token, user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens[token] = user
}

func (c *fakeCluster) forgets(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, token)
}

// serializers read what clients send, in any of its formats.
var serializers = clientgoscheme.Codecs

// resources are what discovery shows.
var resources = map[string][]string{
	"v1":                               {"namespaces/Namespace", "configmaps/ConfigMap"},
	"authentication.k8s.io/v1":         {"selfsubjectreviews/SelfSubjectReview"},
	"authorization.k8s.io/v1":          {"selfsubjectaccessreviews/SelfSubjectAccessReview"},
	"operators.coreos.com/v1":          {"operatorgroups/OperatorGroup"},
	"operators.coreos.com/v1alpha1":    {"subscriptions/Subscription", "installplans/InstallPlan", "clusterserviceversions/ClusterServiceVersion", "catalogsources/CatalogSource"},
	"olm.operatorframework.io/v1":      {"clusterextensions/ClusterExtension", "clustercatalogs/ClusterCatalog", "clusterobjectsets/ClusterObjectSet"},
	"packages.operators.coreos.com/v1": {"packagemanifests/PackageManifest"},
}

// ServeHTTP answers as an API server.
func (c *fakeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, r.Header.Clone())
	user := c.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	body, _ := io.ReadAll(r.Body)
	answer := func(status int, value any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(value)
	}
	switch path := r.URL.Path; {
	case user == "":
		answer(http.StatusUnauthorized, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Message: "Unauthorized", Reason: metav1.StatusReasonUnauthorized, Code: 401})
	case path == "/api":
		answer(200, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case path == "/apis":
		answer(200, groups())
	case path == "/api/v1" || strings.Count(path, "/") == 3 && strings.HasPrefix(path, "/apis/"):
		answer(200, listed(strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")))
	case strings.HasSuffix(path, "/selfsubjectreviews"):
		c.asked++
		answer(201, authenticationv1.SelfSubjectReview{TypeMeta: metav1.TypeMeta{Kind: "SelfSubjectReview", APIVersion: "authentication.k8s.io/v1"},
			Status: authenticationv1.SelfSubjectReviewStatus{UserInfo: authenticationv1.UserInfo{Username: user}}})
	case strings.HasSuffix(path, "/selfsubjectaccessreviews"):
		var review authorizationv1.SelfSubjectAccessReview
		if _, _, err := serializers.UniversalDeserializer().Decode(body, nil, &review); err != nil {
			c.t.Errorf("a review cannot be read: %v", err)
		}
		review.Status.Allowed = c.may == nil || review.Spec.ResourceAttributes != nil && c.may(user, review.Spec.ResourceAttributes)
		review.TypeMeta = metav1.TypeMeta{Kind: "SelfSubjectAccessReview", APIVersion: "authorization.k8s.io/v1"}
		answer(201, review)
	case c.refused:
		answer(http.StatusUnauthorized, metav1.Status{Status: "Failure", Message: "Unauthorized", Reason: metav1.StatusReasonUnauthorized, Code: 401})
	default:
		answer(200, map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": []any{}})
	}
}

func groups() metav1.APIGroupList {
	all := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for gv := range resources {
		group, version, ok := strings.Cut(gv, "/")
		if !ok {
			continue
		}
		known := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
		if i := slices.IndexFunc(all.Groups, func(g metav1.APIGroup) bool { return g.Name == group }); i >= 0 {
			all.Groups[i].Versions = append(all.Groups[i].Versions, known)
			continue
		}
		all.Groups = append(all.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{known}, PreferredVersion: known})
	}
	return all
}

func listed(gv string) metav1.APIResourceList {
	all := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv}
	for _, text := range resources[gv] {
		name, kind, _ := strings.Cut(text, "/")
		all.APIResources = append(all.APIResources, metav1.APIResource{Name: name, Kind: kind, Verbs: metav1.Verbs{"get", "list", "watch", "create"},
			Namespaced: !strings.Contains(gv, "olm.") && !strings.Contains(gv, "k8s.io") && name != "namespaces"})
	}
	return all
}

// served is a console of a cluster, at an address of TLS.
type served struct {
	t       *testing.T
	cluster *fakeCluster
	console *Console
	server  *httptest.Server
	clock   *clocktesting.FakePassiveClock
	log     *bytes.Buffer
	host    string
}

// lockedBuffer is a log that several write.
type lockedBuffer struct {
	mu sync.Mutex
	to *bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.to.Write(p)
}

func serveCluster(t *testing.T, o *OIDC) *served {
	t.Helper()
	s := &served{t: t, cluster: newFakeCluster(t), clock: clocktesting.NewFakePassiveClock(time.Now()), log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(&lockedBuffer{to: s.log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	access := must.Value(NewClusterAccess(ClusterOptions{Config: s.cluster.config(), OIDC: o, Log: log, Clock: s.clock}))(t)
	s.server = httptest.NewUnstartedServer(nil)
	s.host = s.server.Listener.Addr().String()
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	library := must.Value(preview.OpenLibrary(t.Context(), &bundleio.Renderer{}))(t)
	t.Cleanup(func() { must.NoError(t, library.Close()) })
	changes := NewCacheChanges(true)
	s.console = must.Value(New(Options{Access: access, Hosts: []string{s.host}, Idle: 30 * time.Minute, Whole: 12 * time.Hour, Changes: changes.Follow, Log: log, Clock: s.clock, TLS: &tls.Config{}, Library: library}))(t)
	s.server.Config.Handler = s.console.Handler()
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	return s
}

// browser is a client that keeps cookies and follows no redirects.
type browser struct {
	*http.Client
	s *served
}

func (s *served) browser() *browser {
	jar := must.Value(cookiejar.New(nil))(s.t)
	return &browser{&http.Client{Jar: jar, Transport: s.server.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, s}
}

// answer is what came of a request.
type answer struct {
	*http.Response
	body string
}

func (b *browser) do(method, path, form string, headers ...string) answer {
	b.s.t.Helper()
	r := must.Value(http.NewRequestWithContext(b.s.t.Context(), method, "https://"+b.s.host+path, strings.NewReader(form)))(b.s.t)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://"+b.s.host)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	response := must.Value(b.Do(r))(b.s.t)
	defer response.Body.Close()
	body := must.Value(io.ReadAll(response.Body))(b.s.t)
	return answer{response, string(body)}
}

func (b *browser) get(path string) answer { return b.do(http.MethodGet, path, "") }

// logIn pastes a token.
func (b *browser) logIn(token string) answer {
	return b.do(http.MethodPost, loginPath, url.Values{tokenField: {token}, toField: {"/installed"}}.Encode())
}

// cookie is the one of the session, or with "-login" that of a login that has begun.
func (a answer) cookie(name string) *http.Cookie {
	for _, c := range a.Cookies() {
		if strings.HasSuffix(c.Name, "-login") == (name != "") && strings.Contains(c.Name, "fairlead-console") {
			return c
		}
	}
	return nil
}

var formField = regexp.MustCompile(`name="form" value="([^"]+)"`)

// form is what the forms of a page carry.
func (a answer) form(t *testing.T) string {
	t.Helper()
	found := formField.FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("the page has no form: %d %s", a.StatusCode, a.body)
	}
	return found[1]
}

// fakeProvider is an OpenID Connect provider whose faults tests choose.
type fakeProvider struct {
	*httptest.Server
	t     *testing.T
	key   *rsa.PrivateKey // that tokens are signed with
	shown *rsa.PrivateKey // that is published
	clock *clocktesting.FakePassiveClock

	mu       sync.Mutex
	codes    map[string]url.Values // what was asked for with each
	claims   map[string]any        // that go before those that are right
	alg      string                // empty is RS256
	refuse   string                // the error of the page to log in at
	refresh  string                // the refresh token that works; empty is none
	tokens   []string              // that were given out
	subject  string
	lifetime time.Duration
	onToken  func(token string)
	away     bool
}

const (
	clientID     = "fairlead"
	clientSecret = "secret-of-the-client"
)

func newFakeProvider(t *testing.T) *fakeProvider {
	p := &fakeProvider{t: t, key: must.Value(rsa.GenerateKey(rand.Reader, 2048))(t), codes: map[string]url.Values{}, claims: map[string]any{}, subject: "alice", lifetime: time.Hour}
	p.shown = p.key
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.configuration)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /auth", p.auth)
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewTLSServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *fakeProvider) options() *OIDC {
	return &OIDC{Issuer: p.URL, ClientID: clientID, Secret: func() (string, error) { return clientSecret, nil }, Scopes: []string{"openid", "offline_access"},
		CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})}
}

func (p *fakeProvider) configuration(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256", "none", "HS256"}})
}

func (p *fakeProvider) keys(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.shown.Public(), KeyID: "one", Algorithm: "RS256", Use: "sig"}}})
}

// auth is the page where the user logs in, which is done at once.
func (p *fakeProvider) auth(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	back := url.Values{"state": {q.Get("state")}}
	if p.refuse != "" {
		back.Set("error", p.refuse)
		back.Set("error_description", "no <b>luck</b>")
	} else {
		code := fmt.Sprintf("code-%d", len(p.codes))
		p.codes[code] = q
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *fakeProvider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fail := func(code string) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "asked with " + r.PostFormValue("grant_type")})
	}
	id, secret, _ := r.BasicAuth()
	if p.away || id != clientID || secret != clientSecret {
		fail("invalid_client")
		return
	}
	var nonce string
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		asked := p.codes[r.PostFormValue("code")]
		delete(p.codes, r.PostFormValue("code"))
		if asked == nil || asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != challenge(r.PostFormValue("code_verifier")) || asked.Get("redirect_uri") != r.PostFormValue("redirect_uri") {
			fail("invalid_grant")
			return
		}
		nonce = asked.Get("nonce")
	case "refresh_token":
		if p.refresh == "" || r.PostFormValue("refresh_token") != p.refresh {
			fail("invalid_grant")
			return
		}
		p.refresh += "+"
	}
	token := p.issue(nonce)
	p.tokens = append(p.tokens, token)
	if p.onToken != nil {
		p.onToken(token)
	}
	answer := map[string]any{"access_token": "access-token", "token_type": "Bearer", "id_token": token}
	if p.refresh != "" {
		answer["refresh_token"] = p.refresh
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// issue is an ID token, with the faults that a test has chosen.
func (p *fakeProvider) issue(nonce string) string {
	now := p.clock.Now()
	claims := map[string]any{"iss": p.URL, "aud": clientID, "sub": p.subject, "nonce": nonce, "iat": now.Unix(), "exp": now.Add(p.lifetime).Unix(), "n": len(p.tokens)}
	for name, value := range p.claims {
		claims[name] = value
	}
	if p.alg == "none" {
		text := must.Value(json.Marshal(claims))(p.t)
		return encode([]byte(`{"alg":"none"}`)) + "." + encode(text) + "."
	}
	key := jose.SigningKey{Algorithm: jose.RS256, Key: p.key}
	if p.alg == "HS256" { // signed with what everyone knows
		key = jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("known-to-all", 4))}
	}
	signer := must.Value(jose.NewSigner(key, (&jose.SignerOptions{}).WithHeader("kid", "one")))(p.t)
	return must.Value(jwt.Signed(signer).Claims(claims).Serialize())(p.t)
}
