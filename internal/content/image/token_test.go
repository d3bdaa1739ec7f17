package image

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// byIdentity lets only requests with a token through, which it gives to who
// shows an identity token.
func byIdentity(identity string) func(http.ResponseWriter, *http.Request, http.Handler) {
	const token = "a-token"
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch {
		case r.URL.Path == "/token" && r.Method == http.MethodPost && r.FormValue("grant_type") == "refresh_token" && r.FormValue("refresh_token") == identity:
			fmt.Fprintf(w, `{"access_token":%q,"token":%q,"expires_in":300}`, token, token)
		case r.URL.Path == "/token":
			refuse(http.StatusUnauthorized, "UNAUTHORIZED", "no token for you")(w, r)
		case r.Header.Get("Authorization") == "Bearer "+token:
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="test",scope="repository:test/image:pull,push"`, r.Host))
			refuse(http.StatusUnauthorized, "UNAUTHORIZED", "token needed")(w, r)
		}
	}
}

func TestIdentityTokens(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fill(t, Config{}, "test/image:v1", "content")
	r.fault(byIdentity("identity"))
	config := func(token string) []byte {
		user := base64.StdEncoding.EncodeToString([]byte("00000000-0000-0000-0000-000000000000:"))
		return []byte(fmt.Sprintf(`{"auths":{%q:{"auth":%q,"identitytoken":%q}}}`, r.host, user, token))
	}
	file := filepath.Join(t.TempDir(), "auth.json")
	writeFile(t, file, config("identity"))
	tests := map[string]struct {
		cfg  Config
		auth Auth
		kind Kind
	}{
		"pull secret":   {Config{}, Auth{[][]byte{config("identity")}}, ""},
		"auth file":     {Config{AuthFile: file}, Auth{}, ""},
		"another token": {Config{}, Auth{[][]byte{config("other")}}, Unauthorized},
		"none":          {Config{}, Auth{}, Unauthorized},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := openStore(t, tt.cfg).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{Auth: tt.auth})
			if KindOf(err) != tt.kind {
				t.Errorf("Pull: %v, want kind %q", err, tt.kind)
			}
			files, _ := Files(nil)
			if _, err := Push(context.Background(), r.host+"/test/image:pushed", files, nil, PushOptions{Auth: tt.auth, Config: tt.cfg}); KindOf(err) != tt.kind {
				t.Errorf("Push: %v, want kind %q", err, tt.kind)
			}
		})
	}
}

// TestRedirectsKeepSecrets: a registry may keep its blobs elsewhere, and that
// place does not get to see the credentials.
func TestRedirectsKeepSecrets(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.fill(t, Config{}, "test/image:v1", "content")
	var shown, hops atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "" {
			shown.Add(1)
		}
		http.Redirect(w, req, r.URL+"/elsewhere"+req.URL.Path, http.StatusFound)
	}))
	defer elsewhere.Close()
	guard := basic("user")
	r.fault(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if path, ok := strings.CutPrefix(req.URL.Path, "/elsewhere"); ok {
			req.URL.Path = path
			next.ServeHTTP(w, req)
			return
		}
		guard(w, req, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if strings.Contains(req.URL.Path, "/blobs/") {
				hops.Add(1)
				http.Redirect(w, req, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)+req.URL.Path+"?signature=x", http.StatusTemporaryRedirect)
				return
			}
			next.ServeHTTP(w, req)
		}))
	})
	secret := Auth{[][]byte{auths(r.host, "user")}}
	_, files := pullFiles(t, openStore(t, Config{}), r.host+"/test/image@"+d, PullOptions{Auth: secret})
	if files["a"] != "content" || hops.Load() == 0 {
		t.Errorf("files %v after %d redirects", files, hops.Load())
	}
	if n := shown.Load(); n != 0 {
		t.Errorf("credentials were shown to another host %d times", n)
	}
	// Without an end, it is the registry's trouble.
	r.fault(onPath("/blobs/", func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, req.URL.Path+"x", http.StatusFound)
	}))
	_, err := openStore(t, Config{}).Pull(context.Background(), r.host+"/test/image@"+d, PullOptions{Auth: secret})
	if KindOf(err) != Unavailable || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("error %v, want %s", err, Unavailable)
	}
}
