package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// serveOIDC is a console of a cluster that accepts the ID tokens of a provider.
func serveOIDC(t *testing.T) (*served, *fakeProvider) {
	t.Helper()
	p := newFakeProvider(t)
	s := serveCluster(t, p.options())
	p.clock = s.clock
	p.onToken = func(token string) { s.cluster.knows(token, "oidc:alice") }
	return s, p
}

// begin goes to the provider, and returns where it sends the browser back to.
func (b *browser) begin(p *fakeProvider, path string) (asked url.Values, back string) {
	b.s.t.Helper()
	begun := b.get(path)
	if begun.StatusCode != http.StatusSeeOther || !strings.HasPrefix(begun.Header.Get("Location"), p.URL+"/auth?") {
		b.s.t.Fatalf("the login begins with %d %s", begun.StatusCode, begun.body)
	}
	asked = must.Value(url.Parse(begun.Header.Get("Location")))(b.s.t).Query()
	return asked, b.authorize(p, begun.Header.Get("Location"))
}

// authorize logs in at the provider.
func (b *browser) authorize(p *fakeProvider, at string) (back string) {
	b.s.t.Helper()
	client := &http.Client{Transport: p.Client().Transport, CheckRedirect: b.CheckRedirect}
	there := must.Value(client.Get(at))(b.s.t)
	_ = there.Body.Close()
	location := must.Value(url.Parse(there.Header.Get("Location")))(b.s.t)
	must.Equal(b.s.t, "the browser is sent back to", "https://"+location.Host+location.Path, "https://"+b.s.host+callbackPath)
	return location.RequestURI()
}

// TestLoginByOIDC: the code flow with PKCE, state and nonce; the user's own ID token goes to the API server.
func TestLoginByOIDC(t *testing.T) {
	s, p := serveOIDC(t)
	b := s.browser()
	page := b.get("/login?to=/catalog")
	must.Contain(t, "the page to log in at", page.body, "Log in with "+strings.TrimPrefix(p.URL, "https://"), `href="/login/oidc?to=%2Fcatalog"`)
	asked, back := b.begin(p, "/login/oidc?to=/catalog")
	for name, want := range map[string]string{"response_type": "code", "client_id": clientID, "code_challenge_method": "S256", "redirect_uri": "https://" + s.host + callbackPath, "scope": "openid offline_access"} {
		must.Equal(t, name, asked.Get(name), want)
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(asked.Get(name)) < 40 {
			t.Errorf("%s is %q", name, asked.Get(name))
		}
	}
	in := b.get(back)
	must.Equal(t, "the answer", in.StatusCode, http.StatusOK)
	must.Contain(t, "goes on by a page of its own", in.body, `http-equiv="refresh" content="0;url=/catalog"`, `href="/catalog"`)
	if c := in.cookie(""); c == nil || c.SameSite != http.SameSiteStrictMode || !c.HttpOnly || !c.Secure {
		t.Errorf("the cookie is %v", c)
	}
	if c := in.cookie("-login"); c == nil || c.MaxAge >= 0 {
		t.Errorf("the state is left: %v", c)
	}
	must.Contain(t, "the user", b.get("/installed").body, ">oidc:alice<")
	s.cluster.mu.Lock()
	last := s.cluster.seen[len(s.cluster.seen)-1].Get("Authorization")
	s.cluster.mu.Unlock()
	must.Equal(t, "the API server sees the ID token", last, "Bearer "+p.tokens[0])
	for name, secret := range map[string]string{"ID token": p.tokens[0], "secret of the client": clientSecret, "code": "code-0", "access token": "access-token"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log has the %s: %s", name, s.log)
		}
	}
}

// TestStateOfALogin survives the way to the provider, in a cookie that is Lax, for one use by the browser that began.
func TestStateOfALogin(t *testing.T) {
	s, p := serveOIDC(t)
	const refused = "This login was not begun here"
	b := s.browser()
	begun := b.get(oidcPath)
	cookie := begun.cookie("-login")
	if cookie == nil || cookie.SameSite != http.SameSiteLaxMode || !cookie.HttpOnly || !cookie.Secure || cookie.Path != "/" || cookie.MaxAge != 600 || !strings.HasPrefix(cookie.Name, "__Host-") {
		t.Fatalf("the cookie is %v", cookie)
	}
	state := must.Value(url.Parse(begun.Header.Get("Location")))(t).Query().Get("state")
	if strings.Contains(cookie.Value, state) {
		t.Error("the state can be read in the cookie")
	}
	back := b.authorize(p, begun.Header.Get("Location"))
	kept := cookie.Name + "=" + cookie.Value
	reject := func(what, path, cookies string) {
		t.Helper()
		s.clock.SetTime(s.clock.Now().Add(attemptEvery))
		got := s.browser().do("GET", path, "", "Cookie", cookies)
		if got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, refused) || got.cookie("") != nil {
			t.Errorf("%s: %d %s", what, got.StatusCode, got.body)
		}
	}
	reject("another browser", back, "")
	reject("another state", strings.Replace(back, "state="+state, "state=other", 1), kept)
	reject("no state", strings.Replace(back, "state="+state, "state=", 1), kept)
	reject("a cookie that was changed", back, cookie.Name+"="+cookie.Value[:len(cookie.Value)-4]+"AAAA")
	reject("an error without a state", callbackPath+"?error=access_denied&error_description=call+0900", kept)
	_, other := s.browser().begin(p, oidcPath)
	reject("the login of another browser", other, kept)
	must.Equal(t, "the browser that began", b.do("GET", back, "", "Cookie", kept).StatusCode, http.StatusOK)
	reject("a second use", back, kept)

	late := s.browser()
	_, back = late.begin(p, oidcPath)
	s.clock.SetTime(s.clock.Now().Add(loginTime))
	must.Equal(t, "a login that took too long", late.get(back).StatusCode, http.StatusBadRequest)
	must.Equal(t, "sessions", len(s.console.sessions.all), 1)
}

// TestFaultsOfProviders: what is not a token of this login, for this console, by this provider, lets no one in, and the page says what is wrong.
func TestFaultsOfProviders(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(*fakeProvider)
		back  func(string) string
		want  string
	}{
		"another audience":    {fault: func(p *fakeProvider) { p.claims["aud"] = "other" }, want: "audience"},
		"another issuer":      {fault: func(p *fakeProvider) { p.claims["iss"] = "https://evil.example.com" }, want: "issued by a different provider"},
		"another nonce":       {fault: func(p *fakeProvider) { p.claims["nonce"] = "other" }, want: "of another login"},
		"no nonce":            {fault: func(p *fakeProvider) { p.claims["nonce"] = "" }, want: "of another login"},
		"expired":             {fault: func(p *fakeProvider) { p.lifetime = -time.Minute }, want: "expired"},
		"no signature":        {fault: func(p *fakeProvider) { p.alg = "none" }, want: "not accepted"},
		"a symmetric key":     {fault: func(p *fakeProvider) { p.alg = "HS256" }, want: "not accepted"},
		"another key":         {fault: func(p *fakeProvider) { p.key = newFakeProvider(p.t).key }, want: "not accepted"},
		"refused":             {fault: func(p *fakeProvider) { p.refuse = "access_denied" }, want: "access_denied no &lt;b&gt;luck&lt;/b&gt;"},
		"the secret is wrong": {fault: func(p *fakeProvider) { p.away = true }, want: "invalid_client"},
		"a code that is used": {fault: func(p *fakeProvider) { clear(p.codes) }, want: "invalid_grant"},
		"another code":        {back: func(path string) string { return strings.Replace(path, "code=code-0", "code=code-9", 1) }, want: "invalid_grant"},
		"another provider":    {back: func(path string) string { return path + "&iss=https%3A%2F%2Fevil.example.com" }, want: "of another provider"},
		"not of the cluster":  {fault: func(p *fakeProvider) { p.onToken = nil }, want: "The API server does not accept the token"},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := serveOIDC(t)
			b := s.browser()
			if p.refuse = ""; name == "refused" {
				test.fault(p)
			}
			_, back := b.begin(p, oidcPath)
			if test.fault != nil {
				p.mu.Lock()
				test.fault(p)
				p.mu.Unlock()
			}
			if test.back != nil {
				back = test.back(back)
			}
			got := b.get(back)
			if got.StatusCode < 400 || !strings.Contains(got.body, test.want) || !strings.Contains(got.body, "What to do") {
				t.Errorf("%d, want %q: %s", got.StatusCode, test.want, got.body)
			}
			if got.cookie("") != nil || len(s.console.sessions.all) != 0 {
				t.Errorf("there is a session: %v", got.Cookies())
			}
			for _, token := range p.tokens {
				if strings.Contains(got.body+s.log.String(), token) {
					t.Error("the token is printed")
				}
			}
		})
	}
}

// TestProviderThatIsAway: the page says so, and the next login tries again.
func TestProviderThatIsAway(t *testing.T) {
	s, p := serveOIDC(t)
	handler := p.Config.Handler
	p.Config.Handler = http.NotFoundHandler()
	got := s.browser().get(oidcPath)
	must.Equal(t, "while it is away", got.StatusCode, http.StatusBadGateway)
	must.Contain(t, "what to do", got.body, "404 Not Found", "--console-oidc-issuer")
	p.Config.Handler = handler
	must.Equal(t, "and then", s.browser().get(oidcPath).StatusCode, http.StatusSeeOther)
}

// TestSessionsOfOIDC are renewed by the refresh token while the provider does so, and end with the ID token otherwise.
func TestSessionsOfOIDC(t *testing.T) {
	s, p := serveOIDC(t)
	p.refresh, p.lifetime = "refresh-token", 10*time.Minute
	b := s.browser()
	_, back := b.begin(p, oidcPath)
	b.get(back)
	for i := range 3 {
		s.clock.SetTime(s.clock.Now().Add(9*time.Minute + 45*time.Second))
		must.Equal(t, "a page", b.get("/installed").StatusCode, http.StatusOK)
		must.Equal(t, "ID tokens", len(p.tokens), i+2)
	}
	s.clock.SetTime(s.clock.Now().Add(20 * time.Minute)) // also after it has expired
	must.Equal(t, "a page", b.get("/installed").StatusCode, http.StatusOK)
	if strings.Contains(s.log.String(), "refresh-token") {
		t.Errorf("the log has the refresh token: %s", s.log)
	}
	p.mu.Lock()
	p.subject = "mallory" // the provider sends the token of another user
	p.mu.Unlock()
	s.clock.SetTime(s.clock.Now().Add(11 * time.Minute))
	must.Equal(t, "the token of another user", b.get("/installed").StatusCode, http.StatusSeeOther)
	must.Contain(t, "why", s.log.String(), "a token of another user")

	p.subject, p.refresh = "alice", ""
	b = s.browser()
	_, back = b.begin(p, oidcPath)
	b.get(back)
	must.Equal(t, "without a refresh token", b.get("/installed").StatusCode, http.StatusOK)
	s.clock.SetTime(s.clock.Now().Add(11 * time.Minute))
	must.Equal(t, "once the token has expired", b.get("/installed").StatusCode, http.StatusSeeOther)
	must.Equal(t, "sessions", len(s.console.sessions.all), 0)
}

// TestOIDCOptions: what can never work is refused.
func TestOIDCOptions(t *testing.T) {
	for name, test := range map[string]struct {
		o    OIDC
		want string
	}{
		"plain HTTP":     {OIDC{Issuer: "http://dex.example.com", ClientID: "c"}, "https://"},
		"no URL":         {OIDC{Issuer: "dex.example.com", ClientID: "c"}, "https://"},
		"a query":        {OIDC{Issuer: "https://dex.example.com?x", ClientID: "c"}, "no query"},
		"no client":      {OIDC{Issuer: "https://dex.example.com"}, "give both"},
		"a CA of no use": {OIDC{Issuer: "https://dex.example.com", ClientID: "c", CA: []byte("no")}, "PEM"},
		"what can work":  {OIDC{Issuer: "https://dex.example.com/dex", ClientID: "c"}, ""},
	} {
		err := test.o.Check()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
