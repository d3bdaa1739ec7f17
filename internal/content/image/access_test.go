package image

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// members lets only requests of some users through, all with the same password.
func members(users ...string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		name, password, _ := r.BasicAuth()
		if slices.Contains(users, name) && password == "pw" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		refuse(http.StatusUnauthorized, "UNAUTHORIZED", "who are you?")(w, r)
	}
}

// as are the credentials of a user of a registry.
func as(r *testRegistry, user string) PullOptions {
	return PullOptions{Auth: Auth{[][]byte{auths(r.host, user)}}}
}

func pullKind(t *testing.T, s *Store, ref string, o PullOptions) Kind {
	t.Helper()
	img, err := s.Pull(context.Background(), ref, o)
	if err != nil {
		if KindOf(err) == "" {
			t.Errorf("pull %s: %v", ref, err)
		}
		return KindOf(err)
	}
	if err := img.Close(); err != nil {
		t.Error(err)
	}
	return ""
}

// TestADigestIsNoKey: what one tenant has pulled is served to another one only if the registry lets that one read it.
func TestADigestIsNoKey(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.fill(t, Config{}, "test/image:v1", "private")
	r.fault(members("owner", "friend"))
	s := openStore(t, Config{})
	pinned := r.host + "/test/image@" + d
	if kind := pullKind(t, s, pinned, as(r, "owner")); kind != "" {
		t.Fatalf("the owner: %s", kind)
	}
	r.seen()
	for name, o := range map[string]PullOptions{"nobody": {}, "a stranger": as(r, "stranger"), "a login elsewhere": {Auth: Auth{[][]byte{auths("quay.io", "owner")}}}} {
		if kind := pullKind(t, s, pinned, o); kind != Unauthorized {
			t.Errorf("%s reads a private image by its digest: %q", name, kind)
		}
	}
	r.seen()
	if kind := pullKind(t, s, pinned, as(r, "friend")); kind != "" {
		t.Errorf("who has access as well: %s", kind)
	}
	if got, want := r.seen(), []string{"HEAD /v2/test/image/manifests/" + d}; !slices.Equal(got, want) {
		t.Errorf("a friend's pull asked for %q, want %q", got, want)
	}
	for _, user := range []string{"owner", "friend"} {
		if kind := pullKind(t, s, pinned, as(r, user)); kind != "" || len(r.seen()) > 0 {
			t.Errorf("%s again: %q, or the registry was asked", user, kind)
		}
	}
	r.Close()
	again, err := Open(string(s.dir), Config{}) // after a restart
	must.NoError(t, err)
	for user, want := range map[string]Kind{"owner": "", "friend": "", "stranger": Unavailable, "newcomer": Unavailable} {
		if kind := pullKind(t, again, pinned, as(r, user)); kind != want {
			t.Errorf("%s while the registry is gone: %q, want %q", user, kind, want)
		}
	}
}

// TestARegistryCannotClaimADigest: who runs a registry may answer with any digest. What another repository delivered is not served for
// that.
func TestARegistryCannotClaimADigest(t *testing.T) {
	t.Parallel()
	victim, attacker := newTestRegistry(t), newTestRegistry(t)
	d := victim.fill(t, Config{}, "test/image:v1", "private")
	victim.fault(members("owner"))
	s := openStore(t, Config{})
	if kind := pullKind(t, s, victim.host+"/test/image:v1", as(victim, "owner")); kind != "" {
		t.Fatal(kind)
	}
	attacker.fault(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/manifests/") && r.Method == http.MethodHead {
			w.Header().Set("Docker-Content-Digest", d)
			return
		}
		next.ServeHTTP(w, r)
	})
	for _, ref := range []string{"/evil/image:v1", "/evil/image@" + d} {
		if kind := pullKind(t, s, attacker.host+ref, PullOptions{}); kind != NotFound {
			t.Errorf("%s: %q, want %s", ref, kind, NotFound)
		}
	}
}

// TestPublicContentIsForAll: what needs no credentials needs no question either, whoever asks, and whatever their secrets are.
func TestPublicContentIsForAll(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.fill(t, Config{}, "test/image:v1", "public")
	s := openStore(t, Config{})
	if kind := pullKind(t, s, r.host+"/test/image:v1", PullOptions{}); kind != "" {
		t.Fatal(kind)
	}
	r.Close()
	for name, o := range map[string]PullOptions{"nobody": {}, "somebody": as(r, "somebody")} {
		if kind := pullKind(t, s, r.host+"/test/image@"+d, o); kind != "" {
			t.Errorf("%s: %q", name, kind)
		}
	}
}

// TestAccessIsRememberedWithinBounds: whose credentials change all the time do not fill the store, and what is remembered goes with the
// image.
func TestAccessIsRememberedWithinBounds(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.fill(t, Config{}, "test/image:v1", "private")
	var users []string
	for i := range maxGrants + 10 {
		users = append(users, "user"+strings.Repeat("x", i))
	}
	r.fault(members(users...))
	s := openStore(t, Config{})
	pinned := r.host + "/test/image@" + d
	for _, user := range users {
		if kind := pullKind(t, s, pinned, as(r, user)); kind != "" {
			t.Fatal(kind)
		}
	}
	dirs := readDirNames(t, filepath.Join(string(s.dir), accessDir))
	if len(dirs) != 1 {
		t.Fatalf("directories %q", dirs)
	}
	if names := readDirNames(t, filepath.Join(string(s.dir), accessDir, dirs[0])); len(names) > maxGrants {
		t.Errorf("%d grants are remembered, want at most %d", len(names), maxGrants)
	}
	r.seen()
	if kind := pullKind(t, s, pinned, as(r, users[len(users)-1])); kind != "" || len(r.seen()) > 0 {
		t.Errorf("the last one is not remembered: %q", kind)
	}
	old := time.Now().Add(-2 * orphanAge)
	must.NoError(t, os.Chtimes(filepath.Join(string(s.dir), imagesDir, dirs[0]), old, old))
	must.Value(s.GC(context.Background(), nil, 0))(t)
	if names := readDirNames(t, filepath.Join(string(s.dir), accessDir)); len(names) > 0 {
		t.Errorf("what is remembered of images that are gone: %q", names)
	}
}
