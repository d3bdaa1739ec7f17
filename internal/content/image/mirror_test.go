package image

import (
	"context"
	"fmt"
	"testing"
)

// TestMirrorOptions: what each mirror is for, and how it may be reached.
func TestMirrorOptions(t *testing.T) {
	t.Parallel()
	mirror, source := newTestRegistry(t), newTestRegistry(t)
	secured, _ := newTLSRegistry(t) // its CA is not known
	d := mirror.fill(t, Config{}, "org/image:v1", "content")
	source.fill(t, Config{}, "org/image:v1", "content")
	secured.fill(t, Config{Insecure: []string{secured.host}}, "org/image:v1", "content")
	tests := map[string]struct {
		options   string // of the mirror
		tag       bool   // whether the mirror is asked for a tag
		digest    bool   // and for a digest
		toSecured bool
	}{
		"all":                             {"", true, true, false},
		"pull-from-mirror = all":          {`pull-from-mirror = "all"`, true, true, false},
		"pull-from-mirror = digest-only":  {`pull-from-mirror = "digest-only"`, false, true, false},
		"pull-from-mirror = tag-only":     {`pull-from-mirror = "tag-only"`, true, false, false},
		"an unknown CA":                   {"", false, false, true},
		"an unknown CA, insecure = true":  {"insecure = true", true, true, true},
		"an unknown CA, insecure = false": {"insecure = false", false, false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			to := mirror
			if tt.toSecured {
				to = secured
			}
			conf := registriesConf(t, "[[registry]]\nlocation = %q\n[[registry.mirror]]\nlocation = %q\n%s\n", source.host, to.host, tt.options)
			for ref, wanted := range map[string]bool{"/org/image:v1": tt.tag, "/org/image@" + d: tt.digest} {
				to.seen()
				_, files := pullFiles(t, openStore(t, Config{RegistriesConf: conf}), source.host+ref, PullOptions{})
				// A tag that the source was asked for is a digest from then on.
				got := to.seen()
				asked := len(got) > 0
				if ref == "/org/image:v1" {
					asked = len(got) > 0 && got[0] == "HEAD /v2/org/image/manifests/v1"
				}
				if files["a"] != "content" || asked != wanted {
					t.Errorf("%s: files %v, requests to the mirror %q, want some: %v", ref, files, got, wanted)
				}
			}
		})
	}
}

// TestMirrorsInOrder asks one mirror after the other, and the source at last.
func TestMirrorsInOrder(t *testing.T) {
	t.Parallel()
	source := newTestRegistry(t)
	source.fill(t, Config{}, "org/image:v1", "from the source")
	conf := fmt.Sprintf("[[registry]]\nlocation = %q\n", source.host)
	var mirrors []*testRegistry
	for range 3 {
		m := newTestRegistry(t)
		mirrors = append(mirrors, m)
		conf += fmt.Sprintf("[[registry.mirror]]\nlocation = %q\n", m.host+"/mirror")
	}
	mirrors[2].fill(t, Config{}, "mirror/org/image:v1", "from the last mirror")
	s := openStore(t, Config{RegistriesConf: registriesConf(t, "%s", conf)})
	source.seen()
	if _, files := pullFiles(t, s, source.host+"/org/image:v1", PullOptions{}); files["a"] != "from the last mirror" {
		t.Errorf("files %v", files)
	}
	for i, m := range mirrors {
		if len(m.seen()) == 0 {
			t.Errorf("mirror %d was not asked", i)
		}
	}
	if got := source.seen(); len(got) != 0 {
		t.Errorf("the source was asked %q", got)
	}
	mirrors[2].fault(onPath("/", plain(503, "closed")))
	if _, err := s.Digest(context.Background(), source.host+"/org/image:v1", Auth{}); err != nil {
		t.Errorf("with the mirrors closed: %v", err)
	}
}
