package image

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// onPath answers requests whose path contains part, and lets others through.
func onPath(part string, answer http.HandlerFunc) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, part) {
			answer(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// refuse answers with a status and an error document.
func refuse(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"errors":[{"code":%q,"message":%q}]}`, code, message)
	}
}

func plain(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, status) }
}

func TestPullClassifiesFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		at        string // part of the path
		answer    http.HandlerFunc
		kind      Kind
		temporary bool
		reason    string
	}{
		"401 without a challenge": {"/manifests/", refuse(401, "UNAUTHORIZED", "authentication required"), Unauthorized, false, "UNAUTHORIZED: authentication required"},
		"403":                     {"/manifests/", refuse(403, "DENIED", "no pull for you"), Unauthorized, false, "DENIED: no pull for you"},
		"404 manifest":            {"/manifests/", refuse(404, "MANIFEST_UNKNOWN", "no such tag"), NotFound, false, "MANIFEST_UNKNOWN: no such tag"},
		"404 name":                {"/manifests/", refuse(404, "NAME_UNKNOWN", "no such repository"), NotFound, false, "NAME_UNKNOWN: no such repository"},
		"404 in plain text":       {"/manifests/", plain(404, "nothing here"), NotFound, false, "nothing here"},
		"404 in unknown words":    {"/manifests/", refuse(404, "ODD", "repository not found"), NotFound, false, "repository not found"},
		"404 layer":               {"/blobs/", refuse(404, "BLOB_UNKNOWN", "blob gone"), NotFound, false, "BLOB_UNKNOWN: blob gone"},
		"405":                     {"/manifests/", plain(405, "method not allowed"), Unavailable, true, "method not allowed"},
		"429":                     {"/manifests/", refuse(429, "TOOMANYREQUESTS", "slow down"), RateLimited, true, "429 Too Many Requests"},
		"429 for a layer":         {"/blobs/", refuse(429, "TOOMANYREQUESTS", "slow down"), RateLimited, true, "429 Too Many Requests"},
		"500":                     {"/manifests/", plain(500, "oops"), Unavailable, true, "500 Internal Server Error"},
		"503":                     {"/v2/", plain(503, "starting"), Unavailable, true, "503 Service Unavailable"},
		"hangs up":                {"/manifests/", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Unavailable, true, "EOF"},
		"not a manifest":          {"/manifests/", plain(200, "<html>"), InvalidImage, false, "not JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t)
			r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "1")))))
			s := openStore(t, Config{})
			r.fault(onPath(tt.at, tt.answer))
			start := time.Now()
			_, err := s.Pull(context.Background(), r.host+"/test/image:v1", PullOptions{})
			var e *Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Temporary() != tt.temporary || !strings.Contains(e.Reason, tt.reason) {
				t.Fatalf("error %v, want %s, temporary %v, with %q", err, tt.kind, tt.temporary, tt.reason)
			}
			if e.Op != "pull" || e.Ref != r.host+"/test/image:v1" || e.Advice == "" {
				t.Errorf("error %+v lacks operation, image or advice", e)
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("known after %s", d)
			}
			_, again := s.Pull(context.Background(), r.host+"/test/image:v1", PullOptions{})
			if again == nil || again.Error() != err.Error() {
				t.Errorf("the text flaps: %v, then %v", err, again)
			}
			if got := readDirNames(t, string(s.dir)+"/tmp"); len(got) != 0 {
				t.Errorf("left in tmp: %q", got)
			}
			r.fault(nil)
			if _, files := pullFiles(t, s, r.host+"/test/image:v1", PullOptions{}); files["a"] != "1" {
				t.Errorf("files %v after the fault is lifted", files)
			}
		})
	}
}

func TestPullReportsALongRetryAfterAtOnce(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.push(t, "test/image:v1", imageOf(t, nil))
	r.fault(onPath("/manifests/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(429)
	}))
	_, err := openStore(t, Config{}).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{Limits: Limits{Stall: 200 * time.Millisecond}})
	if KindOf(err) != RateLimited {
		t.Errorf("error %v, want %s", err, RateLimited)
	}
}

func TestPullFromNowhere(t *testing.T) {
	t.Parallel()
	closed := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	host := closed.Addr().String()
	closed.Close()
	silent := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer silent.Close()

	tests := map[string]struct {
		host, reason string
		stall        time.Duration
	}{
		"nobody listens": {host, "connection refused", 0},
		"nobody answers": {silent.Addr().String(), "stayed silent for 200ms", 200 * time.Millisecond},
		"no such host":   {"registry.invalid", "registry.invalid", 0},
		"takes too long": {silent.Addr().String(), "limit Duration", time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := PullOptions{Limits: Limits{Stall: tt.stall, Duration: time.Second}}
			_, err := openStore(t, Config{}).Pull(context.Background(), tt.host+"/test/image:v1", o)
			if KindOf(err) != Unavailable || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %v, want %s with %q", err, Unavailable, tt.reason)
			}
		})
	}
}

func TestPullOfDamagedContent(t *testing.T) {
	t.Parallel()
	layer := gzipOf(t, tarOf(t, file("a", strings.Repeat("content ", 1000))))
	send := func(body []byte, announced int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(announced))
			_, _ = w.Write(body)
		}
	}
	other := gzipOf(t, tarOf(t, file("a", "something else")))
	flipped := append([]byte{}, layer...)
	flipped[len(flipped)-5] ^= 1
	tests := map[string]struct {
		at     string
		answer http.HandlerFunc
		kind   Kind
	}{
		"other layer":     {"layer", send(other, len(other)), DigestMismatch},
		"one bit flipped": {"layer", send(flipped, len(flipped)), DigestMismatch},
		"no layer at all": {"layer", send(make([]byte, len(layer)), len(layer)), DigestMismatch},
		"longer layer":    {"layer", send(append(layer[:len(layer):len(layer)], "more"...), len(layer)+4), DigestMismatch},
		"truncated layer": {"layer", send(layer[:len(layer)/2], len(layer)), Unavailable},
		"shorter layer":   {"layer", send(layer[:len(layer)/2], len(layer)/2), DigestMismatch},
		"endless layer": {"layer", http.
			HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, err := w.Write(layer)
				for err == nil {
					_, err = w.Write(make([]byte, 1<<16))
				}
			}), DigestMismatch},
		"other configuration": {"config", send([]byte(`{}`), 2), DigestMismatch},
		"other manifest":      {"manifest", send([]byte(`{"schemaVersion":2}`), 19), DigestMismatch},
	}
	r := newTestRegistry(t)
	image := imageOf(t, nil, layer)
	d := r.push(t, "test/image:v1", image)
	manifest := must.Value(image.Manifest())(t)
	paths := map[string]string{
		"layer": manifest.Layers[0].Digest.String(), "config": manifest.Config.Digest.String(), "manifest": d,
	}
	s := openStore(t, Config{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r.fault(onPath(paths[tt.at], tt.answer))
			defer r.fault(nil)
			_, err := s.Pull(context.Background(), r.host+"/test/image@"+d, PullOptions{})
			if KindOf(err) != tt.kind {
				t.Errorf("error %v, want %s", err, tt.kind)
			}
			if got := readDirNames(t, string(s.dir)+"/images"); len(got) != 0 {
				t.Errorf("stored %q", got)
			}
			if got := readDirNames(t, string(s.dir)+"/tmp"); len(got) != 0 {
				t.Errorf("left in tmp: %q", got)
			}
		})
	}
	if _, files := pullFiles(t, s, r.host+"/test/image@"+d, PullOptions{}); len(files) != 1 {
		t.Errorf("files %v after the faults are lifted", files)
	}
}

func TestPullStops(t *testing.T) {
	t.Parallel()
	layer := gzipOf(t, tarOf(t, file("a", "1")))
	r := newTestRegistry(t)
	d := r.push(t, "test/image:v1", imageOf(t, nil, layer))
	release := make(chan struct{})
	defer close(release)
	r.fault(onPath("/blobs/", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(layer[:5])
		w.(http.Flusher).Flush()
		select {
		case <-release:
		case <-req.Context().Done():
		}
	}))
	t.Run("when cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		_, err := openStore(t, Config{}).Pull(ctx, r.host+"/test/image@"+d, PullOptions{})
		if !errors.Is(err, context.Canceled) || KindOf(err) != "" || !strings.Contains(err.Error(), "pull image "+r.host) {
			t.Errorf("error %v, want %v with the image", err, context.Canceled)
		}
	})
	t.Run("at the deadline of the caller", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_, err := openStore(t, Config{}).Pull(ctx, r.host+"/test/image@"+d, PullOptions{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
		}
	})
	t.Run("when the body stalls", func(t *testing.T) {
		_, err := openStore(t, Config{}).Pull(context.Background(), r.host+"/test/image@"+d, PullOptions{Limits: Limits{Stall: 150 * time.Millisecond}})
		if KindOf(err) != Unavailable || !strings.Contains(err.Error(), "stayed silent") {
			t.Errorf("error %v, want %s", err, Unavailable)
		}
	})
}
