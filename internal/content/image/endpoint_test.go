package image

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/opencontainers/go-digest"
)

// registriesConf writes a registries.conf and returns its path.
func registriesConf(t testing.TB, format string, args ...any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registries.conf")
	writeFile(t, path, fmt.Appendf(nil, format, args...))
	return path
}

func TestMirrors(t *testing.T) {
	t.Parallel()
	mirror, source := newTestRegistry(t), newTestRegistry(t)
	d := mirror.fill(t, Config{}, "copies/image:v1", "content")
	source.fill(t, Config{}, "org/image:v1", "content")
	source.fill(t, Config{}, "org/unmirrored:v1", "content")
	conf := registriesConf(t, `
[[registry]]
location = %q
[[registry.mirror]]
location = %q
`, source.host+"/org", mirror.host+"/copies")

	tests := map[string]struct {
		ref             string
		mirror, source  int // requests
		mirrorIsBlocked bool
	}{
		"a tag from the mirror":                 {"/org/image:v1", 4, 0, false},
		"a digest from the mirror":              {"/org/image@" + d, 3, 0, false},
		"from the source, not in the mirror":    {"/org/unmirrored:v1", 3, 4, false}, // HEAD, and GET for words; GET by digest
		"from the source, the mirror is broken": {"/org/image:v1", 2, 4, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.mirrorIsBlocked {
				mirror.fault(onPath("/manifests/", plain(500, "broken")))
				defer mirror.fault(nil)
			}
			mirror.seen()
			source.seen()
			image, files := pullFiles(t, openStore(t, Config{RegistriesConf: conf}), source.host+tt.ref, PullOptions{})
			if files["a"] != "content" || !strings.HasPrefix(image.Pinned, source.host+"/org/") {
				t.Errorf("image %s with %v", image.Pinned, files)
			}
			if m, s := mirror.seen(), source.seen(); len(m) != tt.mirror || len(s) != tt.source {
				t.Errorf("mirror got %q, want %d; source got %q, want %d", m, tt.mirror, s, tt.source)
			}
		})
	}
	t.Run("nowhere", func(t *testing.T) {
		_, err := openStore(t, Config{RegistriesConf: conf}).Pull(context.Background(), source.host+"/org/missing:v1", PullOptions{})
		want := fmt.Sprintf("mirror %s: the registry says NAME_UNKNOWN: Unknown name; source: the registry says NAME_UNKNOWN: Unknown name", mirror.host)
		if KindOf(err) != NotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s with %q", err, NotFound, want)
		}
	})
}

func TestMirrorsByDigestServeTagsOfTheSource(t *testing.T) {
	t.Parallel()
	mirror, source := newTestRegistry(t), newTestRegistry(t)
	d := mirror.fill(t, Config{}, "org/image:other", "content")
	source.fill(t, Config{}, "org/image:v1", "content")
	conf := registriesConf(t, `
[[registry]]
location = %q
mirror-by-digest-only = true
[[registry.mirror]]
location = %q
`, source.host, mirror.host)
	mirror.seen()
	source.seen()
	pullFiles(t, openStore(t, Config{RegistriesConf: conf}), source.host+"/org/image:v1", PullOptions{})
	must.Equal(t, "requests to the source", source.seen(), []string{"HEAD /v2/org/image/manifests/v1"})
	if got := mirror.seen(); len(got) != 3 || got[0] != "GET /v2/org/image/manifests/"+d {
		t.Errorf("requests to the mirror: %q", got)
	}
}

func TestRegistriesConf(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fill(t, Config{}, "test/image:v1", "content")
	tests := map[string]struct{ conf, reason string }{
		"blocked":         {fmt.Sprintf("[[registry]]\nlocation = %q\nblocked = true\n", r.host), "registries.conf blocks " + r.host},
		"broken":          {"[[registry]\n", "registries.conf cannot be used"},
		"namespace proxy": {fmt.Sprintf("[[registry]]\nlocation = %q\nnamespace-proxy = \"quay.io\"\n", r.host), "namespace-proxy"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, Config{RegistriesConf: registriesConf(t, "%s", tt.conf)})
			_, err := s.Pull(context.Background(), r.host+"/test/image:v1", PullOptions{})
			if KindOf(err) != Unauthorized || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %v, want %s with %q", err, Unauthorized, tt.reason)
			}
		})
	}
	t.Run("an edit holds at once", func(t *testing.T) {
		conf := registriesConf(t, "[[registry]]\nlocation = %q\nblocked = true\n", r.host)
		s := openStore(t, Config{RegistriesConf: conf})
		if _, err := s.Digest(context.Background(), r.host+"/test/image:v1", Auth{}); KindOf(err) != Unauthorized {
			t.Errorf("blocked: %v", err)
		}
		writeFile(t, conf, nil)
		if _, err := s.Digest(context.Background(), r.host+"/test/image:v1", Auth{}); err != nil {
			t.Errorf("no longer blocked: %v", err)
		}
	})
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "localhost:5000": true, "127.0.0.1": true, "127.0.0.1:5000": true, "127.1.2.3:5000": true,
		"[::1]:5000": true, "[::1]": true,
		"quay.io": false, "localhost.evil.example": false, "127.0.0.1.evil.example:5000": false, "10.0.0.1:5000": false, "0.0.0.0:5000": false,
	} {
		if got := isLoopback(host); got != want {
			t.Errorf("isLoopback(%s) = %v, want %v", host, got, want)
		}
	}
}

func TestParseReference(t *testing.T) {
	t.Parallel()
	d := digest.FromString("").String()
	tests := map[string]struct{ want, reason string }{
		"quay.io/org/app:v1":          {"quay.io/org/app:v1", ""},
		"quay.io/org/app":             {"quay.io/org/app:latest", ""},
		"quay.io/org/app@" + d:        {"quay.io/org/app@" + d, ""},
		"quay.io/org/app:v1@" + d:     {"quay.io/org/app@" + d, ""},
		"busybox":                     {"docker.io/library/busybox:latest", ""},
		"localhost:5000/app":          {"localhost:5000/app:latest", ""},
		"":                            {"", "invalid reference format"},
		"quay.io/Org/app":             {"", "lowercase"},
		"quay.io/org/app:":            {"", "invalid reference format"},
		"quay.io/org/app@sha256:1234": {"", "invalid"},
		"docker://quay.io/org/app":    {"", "leave the scheme out"},
		"quay.io/org/app:v1 ":         {"", "invalid reference format"},
	}
	for ref, tt := range tests {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			named, err := parseReference(ref)
			if tt.reason != "" {
				if KindOf(err) != InvalidReference || !strings.Contains(err.Error(), tt.reason) {
					t.Errorf("error %v, want %s with %q", err, InvalidReference, tt.reason)
				}
				return
			}
			if err != nil || named.String() != tt.want {
				t.Errorf("got %v, %v, want %s", named, err, tt.want)
			}
		})
	}
}

// TestNoConfigurationAtAll pulls in a process without home and configuration.
func TestNoConfigurationAtAll(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fill(t, Config{}, "test/image:v1", "content")
	cmd, out := child(t, openStore(t, Config{}), r.host+"/test/image:v1", "HOME=", "XDG_CONFIG_HOME=", "XDG_RUNTIME_DIR=", "DOCKER_CONFIG=", "TMPDIR="+os.TempDir())
	if err := cmd.Wait(); err != nil || out.String() != "content" {
		t.Errorf("pull: %v, %s", err, out)
	}
}
