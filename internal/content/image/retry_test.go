package image

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestRetries: what may pass by itself is tried again, as often as is asked
// for; what will not is not.
func TestRetries(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		at      string // part of the path
		status  int
		times   int32 // that the registry answers so
		retries int
		kind    Kind
		takes   time.Duration // at least
	}{
		"503 once":              {"/manifests/", 503, 1, 1, "", firstPause},
		"500 twice":             {"/manifests/", 500, 2, 2, "", 3 * firstPause},
		"503 once, no retries":  {"/manifests/", 503, 1, 0, Unavailable, 0},
		"503 more than retries": {"/manifests/", 503, 100, 1, Unavailable, firstPause},
		"429 once":              {"/manifests/", 429, 1, 1, "", firstPause},
		"502 for a layer":       {"/blobs/", 502, 1, 1, "", firstPause},
		"404":                   {"/manifests/", 404, 100, 3, NotFound, 0},
		"403":                   {"/manifests/", 403, 100, 3, Unauthorized, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t)
			r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "1")))))
			var left atomic.Int32
			left.Store(tt.times)
			r.fault(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if strings.Contains(req.URL.Path, tt.at) && left.Add(-1) >= 0 {
					http.Error(w, "not now", tt.status)
					return
				}
				next.ServeHTTP(w, req)
			})
			start := time.Now()
			image, err := openStore(t, Config{Retries: tt.retries}).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{})
			if err == nil {
				defer image.Close()
			}
			if KindOf(err) != tt.kind || err == nil != (tt.kind == "") {
				t.Errorf("error %v, want kind %q", err, tt.kind)
			}
			if took := time.Since(start); took < tt.takes {
				t.Errorf("it took %v, want at least %v", took, tt.takes)
			}
			if asked := tt.times - left.Load(); tt.takes == 0 && asked > 2 { // HEAD, and GET for words
				t.Errorf("the registry was asked %d times", asked)
			}
		})
	}
}

func TestRetriesEndWithTheContext(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fault(onPath("/", plain(503, "not now")))
	ctx, cancel := context.WithTimeout(context.Background(), firstPause/2)
	defer cancel()
	start := time.Now()
	if _, err := openStore(t, Config{Retries: 100}).Digest(ctx, r.host+"/test/image:v1", Auth{}); KindOf(err) != Unavailable {
		t.Errorf("error %v, want what the registry said", err)
	}
	if took := time.Since(start); took > 2*firstPause {
		t.Errorf("it took %v", took)
	}
}
