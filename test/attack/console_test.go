package attack

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/console"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// marker is in what the victim has, and in no address that mallory asks for.
const marker = "only-for-the-victim"

// site is the console that the manager serves, as its users reach it.
type site struct {
	w       *world
	address string
	trusted *x509.CertPool
	log     *sharedLog
	store   string // what the manager keeps on disk
	stop    func()
}

// sharedLog is what the manager logs, down to the least.
type sharedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *sharedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *sharedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// console runs the manager with a console, and with the rights of the manifests: what it may not do fails the test.
func (w *world) console() *site {
	w.t.Helper()
	s := &site{w: w, address: harness.FreeAddress(w.t), trusted: x509.NewCertPool(), log: &sharedLog{}, store: w.t.(*testing.T).TempDir()}
	s.stop = w.run(func(o *manager.Options) {
		o.Console, o.StoreDir = manager.Console{Enabled: true, Address: s.address}, s.store
		o.Log = logr.FromSlogHandler(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.Level(-10)}))
	})
	must.Eventually(w.t, "the CA bundle of the console", func() error {
		var ca corev1.ConfigMap
		if !harness.Read(w.t, w, olm, "outside-pod-"+manager.ServingCA, &ca) || !s.trusted.AppendCertsFromPEM([]byte(ca.Data["ca.crt"])) {
			return fmt.Errorf("it has %v", ca.Data)
		}
		return nil
	})
	return s
}

// visitor is a browser, or a program.
type visitor struct {
	*http.Client
	s *site
}

func (s *site) visitor() *visitor {
	jar := must.Value(cookiejar.New(nil))(s.w.t)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.trusted}}
	s.w.t.(*testing.T).Cleanup(transport.CloseIdleConnections)
	return &visitor{&http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, s}
}

// ask sends a request; headers are names and values in turn, and an empty value removes one.
func (v *visitor) ask(method, path, body string, headers ...string) (*http.Response, string) {
	t := v.s.w.t
	t.Helper()
	r := must.Value(http.NewRequestWithContext(context.Background(), method, "https://"+v.s.address+path, strings.NewReader(body)))(t)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://"+v.s.address)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	answer, err := v.Do(r)
	must.NoErrorf(t, err, "%s %s", method, path)
	defer answer.Body.Close()
	return answer, string(must.Value(io.ReadAll(answer.Body))(t))
}

func (v *visitor) logIn(token string) (*http.Response, string) {
	v.s.w.t.Helper()
	return v.ask(http.MethodPost, "/login", url.Values{"token": {token}}.Encode())
}

// tenant makes a service account that may edit its namespace, and returns its token.
func (w *world) tenant(namespace string) string {
	w.t.Helper()
	harness.Create(w.t, w, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dev"}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dev"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "dev"}}})
	request := &authenticationv1.TokenRequest{}
	must.NoError(w.t, w.SubResource("token").Create(w.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dev"}}, request))
	return request.Status.Token
}

// subscription is one that says marker, and asks for nothing that exists.
func subscription(namespace, name, text string) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: &v1alpha1.SubscriptionSpec{Package: text, Channel: text, CatalogSource: text, CatalogSourceNamespace: namespace}}
}

// TestConsole: the console that the manager serves in a cluster shows and does what its user may, and its manager lends nothing.
func TestConsole(t *testing.T) {
	w := newWorld(t)
	s := w.console()
	victim, mine := w.namespace("attack-console-victim"), w.namespace("attack-console-mine")
	harness.Create(t, w, subscription(victim, "theirs", marker), subscription(mine, "mine", "of-mallory"),
		&v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: victim, Name: "catalog"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "127.0.0.1:1/" + marker + ":v1", DisplayName: marker}})
	stolen, token := w.tenant(victim), w.tenant(mine)
	mallory := s.visitor()
	in, page := mallory.logIn(token)
	if in.StatusCode != http.StatusSeeOther {
		t.Fatalf("the login is answered with %d %s", in.StatusCode, page)
	}
	_, page = mallory.ask("GET", "/installed", "")
	must.Contain(t, "what mallory may see", page, "of-mallory", "system:serviceaccount:"+mine+":dev")

	_, page = s.visitor().ask("GET", "/api/installed?namespace="+victim, "", "Authorization", "Bearer "+stolen)
	must.Contain(t, "what the victim may see", page, marker)

	t.Run("objects of another tenant", func(t *testing.T) { s.otherTenants(t, mallory, token, victim) })
	t.Run("streams of another tenant", func(t *testing.T) { s.otherStreams(t, mallory, victim, mine) })
	t.Run("requests of other sites", func(t *testing.T) { s.otherSites(t, token) })
	t.Run("what is no page", func(t *testing.T) { s.noPages(t, mallory) })
	t.Run("a cookie after its session", func(t *testing.T) { s.afterwards(t, token) })
	t.Run("tokens that are guessed", func(t *testing.T) { s.guesses(t) })
	t.Run("an account that is deleted", func(t *testing.T) { s.deleted(t, stolen, victim) })
	open := must.Value(http.NewRequestWithContext(context.Background(), "GET", "https://"+s.address+"/live", nil))(t)
	stream := must.Value(mallory.Do(open))(t)
	defer stream.Body.Close()
	must.Equal(t, "a stream", stream.StatusCode, http.StatusOK)
	begun := time.Now()
	s.stop()
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the manager took %s to end", took)
	}
	for name, secret := range map[string]string{"a token": token, "another token": stolen} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log has %s", name)
		}
		must.NoError(t, filepath.WalkDir(s.store, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s has %s", path, name)
			}
			return err
		}))
	}
	must.Contain(t, "the log", s.log.String(), "a session begins", "a login failed")
}

// otherTenants asks for every page, with the names of what the victim has.
func (s *site) otherTenants(t *testing.T, mallory *visitor, token, victim string) {
	access := must.Value(console.NewClusterAccess(console.ClusterOptions{Config: s.w.admin, Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{}}))(t)
	paths := console.Paths(must.Value(console.New(console.Options{Access: access, Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{}}))(t))
	placeholder := regexp.MustCompile(`\{[a-z]+(\.\.\.)?\}`)
	for _, path := range paths {
		for _, kind := range []string{"Subscription", "ClusterServiceVersion", "InstallPlan", "CatalogSource"} {
			name := map[string]string{"CatalogSource": "catalog"}[kind]
			if name == "" {
				name = "theirs"
			}
			at := placeholder.ReplaceAllStringFunc(path, func(p string) string {
				switch strings.Trim(p, "{}.") {
				case "kind":
					return kind
				case "namespace":
					return victim
				}
				return name
			})
			query := url.Values{"namespace": {victim}, "name": {name}, "kind": {kind}, "catalog": {victim + "/catalog"}, "package": {"theirs"}, "subscription": {"theirs"}}
			headers := []string{}
			program := s.visitor() // without a cookie
			for who, v := range map[string]*visitor{"in a session": mallory, "as a program": program} {
				if v == program {
					if !strings.HasPrefix(at, "/api/") {
						continue
					}
					headers = []string{"Authorization", "Bearer " + token}
				}
				answer, body := v.ask("GET", at+"?"+query.Encode(), "", headers...)
				if strings.Contains(body, marker) {
					t.Errorf("%s, %s shows what the victim has: %d %s", who, at, answer.StatusCode, body)
				}
			}
		}
	}
	answer, body := mallory.ask("GET", "/installed?namespace="+victim, "")
	must.Equal(t, "the namespace of the victim", answer.StatusCode, http.StatusForbidden)
	must.Contain(t, "why", body, "forbidden", "ask an administrator of the cluster for that right")
	answer, _ = mallory.ask("GET", "/api/installed?namespace="+victim, "")
	must.Equal(t, "as JSON", answer.StatusCode, http.StatusForbidden)
}

// otherStreams follows the namespace of the victim, and everything.
func (s *site) otherStreams(t *testing.T, mallory *visitor, victim, mine string) {
	told := make(chan string, 100)
	for _, namespace := range []string{victim, mine, ""} {
		r := must.Value(http.NewRequestWithContext(t.Context(), "GET", "https://"+s.address+"/live?namespace="+namespace, nil))(t)
		stream := must.Value(mallory.Do(r))(t)
		must.Equal(t, "the stream", stream.StatusCode, http.StatusOK)
		go func() {
			defer stream.Body.Close()
			for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "event:") {
					told <- namespace
				}
			}
		}()
	}
	n := 0
	change := func(namespace string) {
		n++
		harness.Create(t, s.w, subscription(namespace, fmt.Sprint("change-", n), "of-mallory"))
	}
	must.Eventually(t, "mallory to be told of their own changes", func() error { // the rights of a stream are asked for when it begins
		change(mine)
		select {
		case <-told:
			return nil
		case <-time.After(2 * time.Second):
			return fmt.Errorf("nothing after %d changes", n)
		}
	})
	time.Sleep(3 * time.Second) // until nothing of that is left
	for len(told) > 0 {
		<-told
	}
	change(victim)
	select {
	case namespace := <-told:
		t.Errorf("the stream of %q tells of a change of the victim", namespace)
	case <-time.After(3 * time.Second):
	}
}

// otherSites lets a page of another site, and a name that was bound to this address, ask.
func (s *site) otherSites(t *testing.T, token string) {
	form := url.Values{"token": {token}}.Encode()
	for name, headers := range map[string][]string{
		"no origin":              {"Origin", ""},
		"another origin":         {"Origin", "https://evil.example.com"},
		"the origin null":        {"Origin", "null"},
		"another site of a name": {"Sec-Fetch-Site", "same-site"},
	} {
		answer, _ := s.visitor().ask("POST", "/login", form, headers...)
		must.Equal(t, name, answer.StatusCode, http.StatusForbidden)
	}
	conn := must.Value(tls.Dial("tcp", s.address, &tls.Config{RootCAs: s.trusted}))(t)
	defer conn.Close()
	must.Value(io.WriteString(conn, "GET /login HTTP/1.1\r\nHost: rebound.example.com\r\nConnection: close\r\n\r\n"))(t)
	answer := must.Value(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	must.Equal(t, "another host", answer.StatusCode, http.StatusMisdirectedRequest)
	must.NoError(t, answer.Body.Close())
}

// noPages asks for files, with headers and bodies that are too large, and without TLS.
func (s *site) noPages(t *testing.T, mallory *visitor) {
	for _, path := range []string{"/static/../../../../etc/passwd", "/static/%2e%2e/%2e%2e/etc/passwd", "/static/..%2f..%2fetc%2fpasswd", "/static/../templates/layout.html", "/static//etc/passwd", "/static/", "/etc/passwd", "/debug/pprof/"} {
		answer, body := mallory.ask("GET", path, "")
		if answer.StatusCode == http.StatusOK || strings.Contains(body, "root:") || strings.Contains(body, "{{") {
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
	}
	answer, _ := s.visitor().ask("GET", "/login?to=%0d%0aSet-Cookie:%20a=b", "")
	must.Equal(t, "cookies by a redirect", len(answer.Cookies()), 0)
	answer, _ = s.visitor().ask("GET", "/login", "", "X-Large", strings.Repeat("x", 64<<10))
	must.Equal(t, "large headers", answer.StatusCode, http.StatusRequestHeaderFieldsTooLarge)
	answer, _ = s.visitor().ask("POST", "/login", "token="+strings.Repeat("x", 3<<20))
	must.Equal(t, "a large body", answer.StatusCode, http.StatusBadRequest)
	conn := must.Value(net.Dial("tcp", s.address))(t)
	defer conn.Close()
	must.Value(io.WriteString(conn, "GET /login HTTP/1.1\r\nHost: "+s.address+"\r\n\r\n"))(t)
	if plain, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && plain.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: %d", plain.StatusCode)
	}
}

// afterwards uses the cookie of a session that its user has left.
func (s *site) afterwards(t *testing.T, token string) {
	v := s.visitor()
	in, _ := v.logIn(token)
	_, page := v.ask("GET", "/installed", "")
	form := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(page)
	if len(in.Cookies()) != 1 || form == nil {
		t.Fatalf("cookies %v, form %v", in.Cookies(), form)
	}
	stolen := in.Cookies()[0].Name + "=" + in.Cookies()[0].Value
	answer, _ := s.visitor().ask("GET", "/installed", "", "Cookie", stolen)
	must.Equal(t, "the cookie before", answer.StatusCode, http.StatusOK)
	answer, _ = v.ask("POST", "/logout", url.Values{"form": {form[1]}}.Encode())
	must.Equal(t, "logging out", answer.Header.Get("Location"), "/login")
	answer, _ = s.visitor().ask("GET", "/installed", "", "Cookie", stolen)
	must.Equal(t, "the cookie afterwards", answer.Header.Get("Location"), "/login?to=%2Finstalled")
	answer, _ = s.visitor().ask("GET", "/api/installed", "", "Cookie", stolen)
	must.Equal(t, "and for a program", answer.StatusCode, http.StatusUnauthorized)
}

// deleted uses the session of an account that does not exist any more.
func (s *site) deleted(t *testing.T, token, namespace string) {
	var v *visitor
	must.Eventually(t, "to be let in after many attempts", func() error {
		v = s.visitor()
		if in, page := v.logIn(token); in.StatusCode != http.StatusSeeOther {
			time.Sleep(time.Second)
			return fmt.Errorf("%d %s", in.StatusCode, page)
		}
		return nil
	})
	must.NoError(t, s.w.Delete(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dev"}}))
	must.Eventually(t, "the session to end", func() error {
		if answer, _ := v.ask("GET", "/installed", ""); answer.StatusCode != http.StatusSeeOther {
			time.Sleep(100 * time.Millisecond)
			return fmt.Errorf("it is answered with %d", answer.StatusCode)
		}
		return nil
	})
}

// guesses tries many tokens.
func (s *site) guesses(t *testing.T) {
	counts := map[int]int{}
	for i := range 30 {
		answer, _ := s.visitor().logIn(fmt.Sprint("guess-", i))
		counts[answer.StatusCode]++
	}
	if counts[http.StatusTooManyRequests] < 15 || counts[http.StatusUnauthorized]+counts[http.StatusTooManyRequests] != 30 {
		t.Errorf("answers %v", counts)
	}
}
