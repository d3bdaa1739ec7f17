package image

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// basic lets only requests with the user's password through.
func basic(user string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if name, password, _ := r.BasicAuth(); name == user && password == "pw" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		refuse(http.StatusUnauthorized, "UNAUTHORIZED", "who are you?")(w, r)
	}
}

// bearer lets only requests with a token through, which it gives to the user.
func bearer(user string) func(http.ResponseWriter, *http.Request, http.Handler) {
	const token = "a-token"
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		name, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/token" && name == user && password == "pw":
			fmt.Fprintf(w, `{"token":%q,"expires_in":300}`, token)
		case r.URL.Path == "/token":
			refuse(http.StatusUnauthorized, "UNAUTHORIZED", "no token for you")(w, r)
		case r.Header.Get("Authorization") == "Bearer "+token:
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="test",scope="repository:test/image:pull"`, r.Host))
			refuse(http.StatusUnauthorized, "UNAUTHORIZED", "token needed")(w, r)
		}
	}
}

func TestCredentialsReachTheRegistry(t *testing.T) {
	t.Parallel()
	schemes := map[string]func(string) func(http.ResponseWriter, *http.Request, http.Handler){"Basic": basic, "Bearer": bearer}
	for scheme, guard := range schemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t)
			r.fill(t, Config{}, "test/image:v1", "content")
			r.fault(guard("user"))
			file := filepath.Join(t.TempDir(), "auth.json")
			writeFile(t, file, auths(r.host, "user"))
			tests := map[string]struct {
				cfg  Config
				auth Auth
				kind Kind
			}{
				"none":                              {Config{}, Auth{}, Unauthorized},
				"pull secret":                       {Config{}, Auth{[][]byte{auths(r.host, "user")}}, ""},
				"pull secret of the repository":     {Config{}, Auth{[][]byte{auths(r.host+"/test", "user", r.host, "other")}}, ""},
				"wrong pull secret":                 {Config{}, Auth{[][]byte{auths(r.host, "other")}}, Unauthorized},
				"pull secret for another host":      {Config{}, Auth{[][]byte{auths("quay.io", "user")}}, Unauthorized},
				"auth file":                         {Config{AuthFile: file}, Auth{}, ""},
				"auth file, secret of another host": {Config{AuthFile: file}, Auth{[][]byte{auths("quay.io", "other")}}, ""},
				"pull secret before auth file":      {Config{AuthFile: file}, Auth{[][]byte{auths(r.host, "other")}}, Unauthorized},
				"anonymous, auth file":              {Config{AuthFile: file, Anonymous: true}, Auth{}, Unauthorized},
				"anonymous, pull secret":            {Config{AuthFile: file, Anonymous: true}, Auth{[][]byte{auths(r.host, "user")}}, ""},
				"auth file that is not there":       {Config{AuthFile: file + ".missing"}, Auth{}, Unauthorized},
				"broken pull secret":                {Config{}, Auth{[][]byte{[]byte("{")}}, Unauthorized},
			}
			for name, tt := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := openStore(t, tt.cfg)
					ref := r.host + "/test/image:v1"
					_, err := s.Pull(context.Background(), ref, PullOptions{Auth: tt.auth})
					if KindOf(err) != tt.kind {
						t.Errorf("Pull: %v, want kind %q", err, tt.kind)
					}
					if err != nil && strings.Contains(err.Error(), "pw") {
						t.Errorf("the error has the password: %v", err)
					}
					if _, err := s.Digest(context.Background(), ref, tt.auth); KindOf(err) != tt.kind {
						t.Errorf("Digest: %v, want kind %q", err, tt.kind)
					}
					files, _ := Files(nil)
					if _, err := Push(context.Background(), r.host+"/test/image:pushed", files, nil, PushOptions{Auth: tt.auth, Config: tt.cfg}); KindOf(err) != tt.kind {
						t.Errorf("Push: %v, want kind %q", err, tt.kind)
					}
				})
			}
		})
	}
}

func TestSecretsGoToTheirOwnMirror(t *testing.T) {
	t.Parallel()
	mirror, source := newTestRegistry(t), newTestRegistry(t)
	mirror.fill(t, Config{}, "test/image:v1", "content")
	mirror.fault(basic("mirror-user"))
	source.fault(basic("source-user"))
	conf := registriesConf(t, "[[registry]]\nlocation = %q\n[[registry.mirror]]\nlocation = %q\n", source.host, mirror.host)
	both := Auth{[][]byte{auths(mirror.host, "mirror-user", source.host, "source-user")}}
	if _, files := pullFiles(t, openStore(t, Config{RegistriesConf: conf}), source.host+"/test/image:v1", PullOptions{Auth: both}); files["a"] != "content" {
		t.Errorf("files %v", files)
	}
	only := Auth{[][]byte{auths(source.host, "source-user")}}
	_, err := openStore(t, Config{RegistriesConf: conf}).Pull(context.Background(), source.host+"/test/image:v1", PullOptions{Auth: only})
	if KindOf(err) != NotFound || !strings.Contains(err.Error(), "mirror "+mirror.host+": ") || !strings.Contains(err.Error(), "who are you?") {
		t.Errorf("error %v, want the mirror to refuse and the source not to have it", err)
	}
}
