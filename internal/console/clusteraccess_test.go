package console

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func object(namespace, version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "object", ResourceVersion: version}}
}

func encode(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return encode(sum[:])
}

// TestLoginByToken: a token lets in whose it is, its session acts with it alone, and ends when the user logs out.
func TestLoginByToken(t *testing.T) {
	s := serveCluster(t, nil)
	s.cluster.knows("token-of-alice", "alice")
	b := s.browser()
	first := b.get("/catalog?q=kafka")
	must.Equal(t, "a page before", first.StatusCode, http.StatusSeeOther)
	must.Equal(t, "leads to", first.Header.Get("Location"), "/login?to=%2Fcatalog%3Fq%3Dkafka")
	page := b.get(first.Header.Get("Location"))
	must.Contain(t, "the page to log in at", page.body, `name="token" type="password"`, `name="to" value="/catalog?q=kafka"`, "kubectl create token")
	wrong := b.logIn("token-of-mallory")
	must.Equal(t, "a token that is unknown", wrong.StatusCode, http.StatusUnauthorized)
	must.Contain(t, "its page", wrong.body, "The API server does not accept the token", "kubectl create token")
	for name, token := range map[string]string{"nothing": "", "two words": "a b", "a header": "a\r\nX-Injected: yes", "too long": strings.Repeat("a", maxToken+1)} {
		if got := b.logIn(token); got.StatusCode != http.StatusUnauthorized || got.cookie("") != nil {
			t.Errorf("%s: %d", name, got.StatusCode)
		}
	}
	in := b.logIn("token-of-alice")
	must.Equal(t, "the right one", in.StatusCode, http.StatusSeeOther)
	must.Equal(t, "leads to", in.Header.Get("Location"), "/installed")
	cookie := in.cookie("")
	if cookie == nil || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" || !strings.HasPrefix(cookie.Name, "__Host-") {
		t.Fatalf("the cookie is %v", cookie)
	}
	shown := b.get("/installed")
	must.Equal(t, "a page of the session", shown.StatusCode, http.StatusOK)
	must.Contain(t, "its user", shown.body, ">alice<", `action="/logout"`)
	out := b.do(http.MethodPost, logoutPath, url.Values{formKey: {shown.form(t)}}.Encode())
	must.Equal(t, "logging out", out.Header.Get("Location"), loginPath)
	after := b.do(http.MethodGet, "/installed", "", "Cookie", cookie.Name+"="+cookie.Value)
	must.Equal(t, "the cookie afterwards", after.StatusCode, http.StatusSeeOther)
	must.Equal(t, "sessions", len(s.console.sessions.all), 0)
}

// TestNothingOfTheManagerIsLent: requests for users have their token, and nothing by which the manager proves who it is.
func TestNothingOfTheManagerIsLent(t *testing.T) {
	s := serveCluster(t, nil)
	s.cluster.knows("token-of-alice", "alice")
	s.cluster.knows("token-of-the-manager", "manager")
	lent := s.cluster.config()
	lent.ExecProvider, lent.AuthProvider, lent.Impersonate.UserName, lent.BearerTokenFile = nil, nil, "root", "/var/run/secrets/token"
	lent.TLSClientConfig.CertData, lent.TLSClientConfig.KeyData, lent.TLSClientConfig.CertFile = []byte("cert"), []byte("key"), "/cert"
	lent.WrapTransport = func(http.RoundTripper) http.RoundTripper { t.Error("the transport of the manager is used"); return nil }
	config := must.Value(NewClusterAccess(ClusterOptions{Config: lent, Log: s.console.Log, Clock: s.clock}))(t).config
	if config.BearerToken+config.BearerTokenFile+config.Username+config.Password+config.Impersonate.UserName+config.CertFile+config.KeyFile+string(config.CertData)+string(config.KeyData) != "" ||
		config.WrapTransport != nil || config.AuthProvider != nil || config.ExecProvider != nil || config.Transport != nil {
		t.Errorf("the configuration of users is %#v", config)
	}
	must.Equal(t, "the address", config.Host, lent.Host)
	b := s.browser()
	b.logIn("token-of-alice")
	b.get("/installed")
	b.get("/catalog")
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	for _, header := range s.cluster.seen {
		if got := header.Get("Authorization"); got != "Bearer token-of-alice" || header.Get("Impersonate-User") != "" {
			t.Errorf("a request as %q", got)
		}
	}
	if len(s.cluster.seen) < 5 {
		t.Errorf("%d requests", len(s.cluster.seen))
	}
}

// TestSessionsEndWithTheirToken: when it expires, and when the API server does not accept it any more; an API beside it that refuses ends none.
func TestSessionsEndWithTheirToken(t *testing.T) {
	s := serveCluster(t, nil)
	p := &fakeProvider{t: t, key: newFakeProvider(t).key, clock: s.clock, subject: "alice", lifetime: 10 * time.Minute, Server: s.server}
	expiring := p.issue("")
	s.cluster.knows(expiring, "system:serviceaccount:team:alice")
	s.cluster.knows("revoked", "bob")
	b := s.browser()
	b.logIn(expiring)
	must.Equal(t, "a page", b.get("/installed").StatusCode, http.StatusOK)
	for _, one := range s.console.sessions.all {
		must.Equal(t, "the namespace of a service account", one.user.Namespace, "team")
	}
	s.clock.SetTime(s.clock.Now().Add(9 * time.Minute))
	must.Equal(t, "a page before it expires", b.get("/installed").StatusCode, http.StatusOK)
	s.clock.SetTime(s.clock.Now().Add(2 * time.Minute))
	must.Equal(t, "a page afterwards", b.get("/installed").StatusCode, http.StatusSeeOther)
	must.Equal(t, "sessions", len(s.console.sessions.all), 0)

	b.logIn("revoked")
	s.cluster.mu.Lock()
	s.cluster.refused = true
	s.cluster.mu.Unlock()
	must.Equal(t, "an API that refuses", b.get("/installed").StatusCode, http.StatusUnauthorized)
	must.Equal(t, "the session goes on", b.get("/nothing").StatusCode, http.StatusNotFound)
	s.cluster.forgets("revoked")
	b.get("/installed")
	must.Equal(t, "a token that was revoked", b.get("/installed").StatusCode, http.StatusSeeOther)
	must.Equal(t, "sessions", len(s.console.sessions.all), 0)
}

// TestPrograms read below /api with a token, and nowhere else.
func TestPrograms(t *testing.T) {
	s := serveCluster(t, nil)
	s.cluster.knows("token-of-alice", "alice")
	const token = "Bearer token-of-alice"
	b := s.browser()
	got := b.do("GET", "/api/installed", "", "Authorization", token)
	must.Equal(t, "a value", got.StatusCode, http.StatusOK)
	if got.cookie("") != nil || len(s.console.sessions.all) != 0 {
		t.Errorf("there is a session: %v", got.Cookies())
	}
	b.do("GET", "/api/installed", "", "Authorization", token)
	must.Equal(t, "the API server is asked who it is", s.cluster.asked, 1)
	s.clock.SetTime(s.clock.Now().Add(2 * programFresh))
	b.do("GET", "/api/installed", "", "Authorization", token)
	must.Equal(t, "and after a while once more", s.cluster.asked, 2)
	for name, test := range map[string]struct {
		method, path, token string
		want                int
	}{
		"a page":         {"GET", "/installed", token, http.StatusSeeOther},
		"a stream":       {"GET", "/live", token, http.StatusUnauthorized},
		"no token":       {"GET", "/api/installed", "", http.StatusUnauthorized},
		"another token":  {"GET", "/api/installed", "Bearer token-of-mallory", http.StatusUnauthorized},
		"another scheme": {"GET", "/api/installed", "Basic YTpi", http.StatusUnauthorized},
		"a write":        {"POST", "/api/installed", token, http.StatusMethodNotAllowed},
		"logging out":    {"POST", "/logout", token, http.StatusUnauthorized},
	} {
		if got := b.do(test.method, test.path, "", "Authorization", test.token); got.StatusCode != test.want || got.cookie("") != nil {
			t.Errorf("%s: %d, %s", name, got.StatusCode, got.body)
		}
	}
	refused := b.do("GET", "/api/installed", "", "Authorization", "Bearer no")
	must.Contain(t, "what to do", refused.body, `"error"`, `"remedy"`, "still valid")
	must.Contain(t, "how", refused.Header.Get("WWW-Authenticate"), "Bearer")
	s.clock.SetTime(s.clock.Now().Add(time.Hour)) // attempts are bounded
	for i := range 2 * maxPrograms {
		s.clock.SetTime(s.clock.Now().Add(attemptEvery))
		s.cluster.knows(fmt.Sprint("token-", i), "many")
		must.Equal(t, "one of many", b.do("GET", "/api/installed", "", "Authorization", fmt.Sprint("Bearer token-", i)).StatusCode, http.StatusOK)
	}
	must.Equal(t, "those that are kept", s.console.cluster.programs.Len(), maxPrograms)
}

// TestAttempts: who tries too often has to wait, and so do all when many try.
func TestAttempts(t *testing.T) {
	s := serveCluster(t, nil)
	b := s.browser()
	last := 0
	for range 2 * attemptsOfOne {
		last = b.logIn("guess").StatusCode
	}
	must.Equal(t, "after many", last, http.StatusTooManyRequests)
	must.Equal(t, "the API server was asked no more often", s.cluster.asked <= attemptsOfOne, true)
	if got := b.do("GET", "/api/installed", "", "Authorization", "Bearer guess"); got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
		t.Errorf("a program: %d", got.StatusCode)
	}
	a := newAttempts(s.clock)
	allowed := 0
	for i := range 10_000 {
		if a.allow(fmt.Sprintf("192.0.%d.%d:1", i/250, i%250)) {
			allowed++
		}
	}
	must.Equal(t, "of many addresses", allowed, attemptsOfAll)
	must.Equal(t, "addresses that are kept", a.addresses.Len(), knownAddresses)
	a, allowed = newAttempts(s.clock), 0
	for i := range 100 {
		if a.allow(fmt.Sprintf("[2001:db8::%x]:1", i)) {
			allowed++
		}
	}
	must.Equal(t, "of one network of IPv6", allowed, attemptsOfOne)
}

// TestSessionsAreTheirOwn: a session begins with a cookie that no one has chosen, its predecessor ends, and forms of another session are refused.
func TestSessionsAreTheirOwn(t *testing.T) {
	s := serveCluster(t, nil)
	s.cluster.knows("token-of-alice", "alice")
	s.cluster.knows("token-of-mallory", "mallory")
	mallory := s.browser()
	planted := mallory.logIn("token-of-mallory").cookie("")
	form := mallory.get("/installed").form(t)

	alice := s.browser()
	in := alice.do(http.MethodPost, loginPath, url.Values{tokenField: {"token-of-alice"}}.Encode(), "Cookie", planted.Name+"="+planted.Value)
	if got := in.cookie(""); got == nil || got.Value == planted.Value {
		t.Fatalf("the session of alice has the cookie %v", got)
	}
	must.Equal(t, "the session that was planted", mallory.get("/installed").StatusCode, http.StatusSeeOther)
	got := alice.do(http.MethodPost, logoutPath, url.Values{formKey: {form}}.Encode())
	must.Equal(t, "a form of another session", got.StatusCode, http.StatusForbidden)
	must.Equal(t, "the session goes on", alice.get("/installed").StatusCode, http.StatusOK)
	for range 2 * maxOfUser {
		s.clock.SetTime(s.clock.Now().Add(attemptEvery))
		s.browser().logIn("token-of-alice")
	}
	must.Equal(t, "sessions of one user", len(s.console.sessions.all), maxOfUser)
}

// TestCrossSite: a page of another site can neither log in nor log out.
func TestCrossSite(t *testing.T) {
	s := serveCluster(t, nil)
	s.cluster.knows("token-of-alice", "alice")
	form := url.Values{tokenField: {"token-of-alice"}}.Encode()
	for name, headers := range map[string][]string{
		"no origin":         {"Origin", ""},
		"another origin":    {"Origin", "https://evil.example.com"},
		"null":              {"Origin", "null"},
		"plain HTTP":        {"Origin", "http://" + s.host},
		"what browsers say": {"Sec-Fetch-Site", "cross-site"},
	} {
		if got := s.browser().do(http.MethodPost, loginPath, form, headers...); got.StatusCode != http.StatusForbidden || got.cookie("") != nil {
			t.Errorf("%s: %d", name, got.StatusCode)
		}
	}
	r := must.Value(http.NewRequest("GET", "https://"+s.host+"/login", nil))(t)
	r.Host = "rebound.example.com"
	rebound := must.Value(s.browser().Do(r))(t)
	_ = rebound.Body.Close()
	must.Equal(t, "another host", rebound.StatusCode, http.StatusMisdirectedRequest)
}

// TestNoOpenRedirects: a login leads to a page of the console.
func TestNoOpenRedirects(t *testing.T) {
	s := serveCluster(t, nil)
	s.cluster.knows("token-of-alice", "alice")
	for _, to := range []string{"https://evil.example.com/", "//evil.example.com", `/\evil.example.com`, "\t//evil.example.com", "javascript:alert(1)", "/a\r\nSet-Cookie: x=y", "/\t/evil.example.com"} {
		s.clock.SetTime(s.clock.Now().Add(time.Minute))
		got := s.browser().do(http.MethodPost, loginPath, url.Values{tokenField: {"token-of-alice"}, toField: {to}}.Encode())
		if at := got.Header.Get("Location"); at != "/" || len(got.Cookies()) != 1 {
			t.Errorf("%q leads to %q", to, at)
		}
	}
}

// TestNoTokenIsPrinted: whatever happens, and however much is logged.
func TestNoTokenIsPrinted(t *testing.T) {
	s := serveCluster(t, nil)
	const token = "token-that-no-one-sees"
	b := s.browser()
	b.logIn(token)
	b.do("GET", "/api/installed", "", "Authorization", "Bearer "+token)
	s.cluster.knows(token, "alice")
	in := b.logIn(token)
	form := b.get("/installed").form(t)
	b.do("GET", "/api/installed", "", "Authorization", "Bearer "+token)
	s.cluster.forgets(token)
	b.get("/installed")
	b.get("/installed")
	c := &credential{held: issued{token: token}}
	s.console.Log.Info("a mistake", "user", &User{credential: c}, "credential", c)
	for _, text := range []string{s.log.String(), fmt.Sprintf("%v %+v %#v", c, &User{credential: c}, c)} {
		for name, secret := range map[string]string{"token": token, "cookie": in.cookie("").Value, "form token": form} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s is printed: %s", name, text)
			}
		}
	}
	must.Contain(t, "the log", s.log.String(), "a login failed", "a session begins", "user=alice", "a session has ended")
}

// TestRenewal: a token is renewed before it expires, once for all requests, and one that cannot be renewed is used until then.
func TestRenewal(t *testing.T) {
	s := serveCluster(t, nil)
	renewed, failing := 0, false
	c := &credential{clock: s.clock, held: issued{"first", s.clock.Now().Add(time.Minute)}}
	c.renew = func(context.Context) (issued, error) {
		if failing {
			return issued{}, errors.New("the provider is away")
		}
		renewed++
		return issued{fmt.Sprint("renewed-", renewed), s.clock.Now().Add(time.Minute)}, nil
	}
	is := func(what, want string) {
		t.Helper()
		must.Equal(t, what, must.Value(c.current(t.Context()))(t), want)
	}
	pass := func(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }
	is("at first", "first")
	pass(40 * time.Second)
	is("before it expires", "renewed-1")
	is("and then", "renewed-1")
	failing = true
	pass(40 * time.Second)
	is("while it cannot be renewed", "renewed-1")
	must.Equal(t, "ended", c.ended(s.clock.Now()), false)
	pass(time.Minute)
	_, err := c.current(t.Context())
	must.Fail(t, "once it has expired", err, "your token has expired; log in again")
	must.Equal(t, "ended", c.ended(s.clock.Now()), true)
}

// TestCacheChanges: streams are told of changes where their users may watch, by one set of handlers, and never what has changed.
func TestCacheChanges(t *testing.T) {
	s := serveCluster(t, nil)
	s.cluster.knows("token-of-alice", "alice")
	s.cluster.may = func(_ string, a *authorizationv1.ResourceAttributes) bool {
		return a.Verb == "watch" && (a.Namespace == "team" && a.Resource != "installplans" || a.Resource == "clusterextensions")
	}
	changes := NewCacheChanges(true)
	user := must.Value(s.console.cluster.user(t.Context(), &credential{clock: s.clock, held: issued{token: "token-of-alice"}}))(t)
	for name, test := range map[string]struct {
		follows, kind, namespace string
		want                     bool
	}{
		"of the namespace":           {"team", "Subscription", "team", true},
		"of another namespace":       {"team", "Subscription", "other", false},
		"of a kind without right":    {"team", "InstallPlan", "team", false},
		"of no namespace":            {"team", "ClusterExtension", "", true},
		"of no namespace, forbidden": {"team", "ClusterCatalog", "", false},
		"of a forbidden namespace":   {"other", "Subscription", "other", false},
		"of all, which is forbidden": {"", "Subscription", "team", false},
	} {
		t.Run(name, func(t *testing.T) {
			told := 0
			f := &follower{namespace: test.follows, changed: func() { told++ }, may: changes.review(t.Context(), user, test.follows)}
			forget := changes.add(f)
			for _, kind := range watched {
				if kind.Kind == test.kind {
					changes.handler(kind).OnUpdate(object(test.namespace, "1"), object(test.namespace, "2"))
					changes.handler(kind).OnUpdate(object(test.namespace, "2"), object(test.namespace, "2")) // a check that finds nothing
					changes.handler(kind).OnAdd(object(test.namespace, "2"), true)                           // since before
				}
			}
			forget()
			must.Equal(t, "told", told, map[bool]int{true: 1}[test.want])
		})
	}
	must.Equal(t, "streams that are left", len(changes.all), 0)
}
