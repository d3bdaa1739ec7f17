package image

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/opencontainers/go-digest"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.fill(t, Config{}, "test/image:v1", "content")
	withoutDigest := func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.Method == http.MethodHead && strings.Contains(req.URL.Path, "/manifests/") {
			return // 200 without Docker-Content-Digest
		}
		next.ServeHTTP(w, req)
	}
	withoutHead := func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, req)
	}
	const head, get = "HEAD /v2/test/image/manifests/v1", "GET /v2/test/image/manifests/v1"
	tests := map[string]struct {
		ref      string
		answer   func(http.ResponseWriter, *http.Request, http.Handler)
		requests []string
	}{
		"tag":                      {"/test/image:v1", nil, []string{head}},
		"digest":                   {"/test/image@" + d, nil, nil},
		"registry without digests": {"/test/image:v1", withoutDigest, []string{head, get}},
		"registry without HEAD":    {"/test/image:v1", withoutHead, []string{head, get}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r.fault(tt.answer)
			r.seen()
			got, err := openStore(t, Config{}).Digest(context.Background(), r.host+tt.ref, Auth{})
			if got != d || err != nil {
				t.Errorf("got %s, %v, want %s", got, err, d)
			}
			must.Equal(t, "requests", r.seen(), tt.requests)
		})
	}
}

func TestExists(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.fill(t, Config{}, "test/image:v1", "content")
	for ref, kind := range map[string]Kind{
		r.host + "/test/image:v1":                                  "",
		r.host + "/test/image@" + d:                                "",
		r.host + "/test/image@" + digest.FromString("no").String(): NotFound,
		r.host + "/test/image:v2":                                  NotFound,
		r.host + "/test/other:v1":                                  NotFound,
		"https://" + r.host + "/test/image:v1":                     InvalidReference,
	} {
		if err := openStore(t, Config{}).Exists(context.Background(), ref, Auth{}); KindOf(err) != kind {
			t.Errorf("Exists(%s): %v, want kind %q", ref, err, kind)
		}
	}
}
