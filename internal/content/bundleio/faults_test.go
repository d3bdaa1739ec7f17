package bundleio

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// knownWithin is how soon the cause of a failure has to be known.
const knownWithin = 10 * time.Second

// troubled puts a front before a registry that answers requests for manifests and blobs in its own way while it is in trouble.
func troubled(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, pass http.Handler)) (ref string, trouble *atomic.Bool) {
	t.Helper()
	r := newRegistry(t)
	host, path, _ := strings.Cut(r.ref, "/")
	behind := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { forward(w, q, host) })
	trouble = &atomic.Bool{}
	trouble.Store(true)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if trouble.Load() && (strings.Contains(q.URL.Path, "/manifests/") || strings.Contains(q.URL.Path, "/blobs/")) {
			answer(w, q, behind)
			return
		}
		behind.ServeHTTP(w, q)
	}))
	t.Cleanup(front.Close)
	return strings.TrimPrefix(front.URL, "http://") + "/" + path, trouble
}

func forward(w http.ResponseWriter, q *http.Request, host string) {
	out := q.Clone(q.Context())
	out.URL.Scheme, out.URL.Host, out.RequestURI, out.Host = "http", host, "", host
	response, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	for key, values := range response.Header {
		w.Header()[key] = values
	}
	w.WriteHeader(response.StatusCode)
	body := make([]byte, 1<<20)
	for {
		n, err := response.Body.Read(body)
		_, _ = w.Write(body[:n])
		if err != nil {
			return
		}
	}
}

// says answers with an error of the registry protocol.
func says(status int, code, message string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"errors":[{"code":%q,"message":%q}]}`, code, message)
	}
}

// TestTroubleOfRegistries: the cause is known within ten seconds, and the bundle arrives by itself once the trouble is over.
func TestTroubleOfRegistries(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer func(http.ResponseWriter, *http.Request, http.Handler)
		says   string
		reason string
	}{
		"401":    {says(http.StatusUnauthorized, "UNAUTHORIZED", "this robot account was removed"), "Unauthorized", "Unauthorized"},
		"404":    {says(http.StatusNotFound, "MANIFEST_UNKNOWN", "manifest unknown to the mirror"), "manifest unknown", "NotFound"},
		"429":    {says(http.StatusTooManyRequests, "TOOMANYREQUESTS", "you have reached your pull limit"), "429", "RateLimited"},
		"500":    {says(http.StatusInternalServerError, "UNKNOWN", "the disk of the registry is full"), "500", "Unavailable"},
		"silent": {func(_ http.ResponseWriter, q *http.Request, _ http.Handler) { <-q.Context().Done() }, "stayed silent for 8s", "Unavailable"},
		"wrong content under a digest": {func(w http.ResponseWriter, q *http.Request, pass http.Handler) {
			if !strings.Contains(q.URL.Path, "/blobs/") {
				pass.ServeHTTP(w, q)
				return
			}
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write([]byte("{}"))
		}, "sha256:", "DigestMismatch"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref, trouble := troubled(t, test.answer)
			u, clock, news := newUnpacker(t)
			request := Request{Name: "greeter-operator.v1.0.0", Image: ref}
			start := time.Now()
			state := u.Get(t.Context(), request, knownWithin+5*time.Second)
			if took := time.Since(start); state.Err == nil || took > knownWithin {
				t.Fatalf("after %s the error is %v, want one within %s", took, state.Err, knownWithin)
			}
			if !strings.Contains(state.Err.Error(), test.says) || ReasonOf(state.Err) != test.reason {
				t.Errorf("error %q of reason %s; want one of reason %s that says %q", state.Err, ReasonOf(state.Err), test.reason, test.says)
			}
			trouble.Store(false)
			clock.Step(firstPause)
			if s, err := u.Fetch(t.Context(), request); err != nil || !s.Done() || s.Err != nil {
				t.Errorf("once the trouble is over: %+v, %v", s, err)
			}
			for end := time.Now().Add(knownWithin); news.Load() < 2 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if n := news.Load(); n < 2 || n > 3 { // a silent registry is told to be slow as well
				t.Errorf("%d pieces of news, want one of the failure and one of the bundle", n)
			}
		})
	}
}

// trickle lets a blob come one byte every 100 ms.
func trickle(w http.ResponseWriter, q *http.Request, pass http.Handler) {
	recorder := httptest.NewRecorder()
	pass.ServeHTTP(recorder, q)
	for key, values := range recorder.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(recorder.Code)
	if !strings.Contains(q.URL.Path, "/blobs/") {
		_, _ = w.Write(recorder.Body.Bytes())
		return
	}
	for _, b := range recorder.Body.Bytes() {
		if _, err := w.Write([]byte{b}); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		time.Sleep(100 * time.Millisecond)
	}
}

// TestSlowRegistry: within ten seconds it is told that the bundle is on its way, how far, and a slow one keeps no other bundle waiting.
// The deadline of the OperatorGroup ends the attempt and says so.
func TestSlowRegistry(t *testing.T) {
	t.Parallel()
	ref, _ := troubled(t, trickle)
	u, _, news := newUnpacker(t)
	u.slots = make(chan struct{}, 1)
	request := Request{Name: "greeter-operator.v1.0.0", Image: ref, Policy: Policy{Timeout: 9 * time.Second}}
	start := time.Now()
	u.Get(t.Context(), request, 0)
	for len(u.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	if s, err := u.Fetch(t.Context(), inlineRequest("a.v1.0.0")); err != nil || !s.Done() {
		t.Errorf("another bundle: %v", err)
	}
	state := u.Get(t.Context(), request, 0)
	if took := time.Since(start); took > knownWithin || news.Load() == 0 || !strings.HasSuffix(state.Slow, "after 5s") || state.Err != nil {
		t.Errorf("after %s: %d pieces of news, state %+v; want progress", took, news.Load(), state)
	}
	_, err := u.Fetch(t.Context(), request)
	if err == nil || ReasonOf(err) != "DeadlineExceeded" || !strings.Contains(err.Error(), "not done after 9s") || !strings.Contains(err.Error(), "bundle-unpack-timeout") {
		t.Errorf("when the time is up: %v", err)
	}
	if s := u.Get(t.Context(), request, 0); s.Slow != "" || s.Err == nil {
		t.Errorf("after the attempt: %+v", s)
	}
}

func TestMinRetryInterval(t *testing.T) {
	r := newRegistry(t)
	r.failing.Store(true)
	u, clock, _ := newUnpacker(t)
	request := Request{Name: "greeter-operator.v1.0.0", Image: r.ref, Policy: Policy{MinRetry: time.Hour}}
	if s := u.Get(t.Context(), request, knownWithin); s.Err == nil || !s.RetryAt.Equal(clock.Now().Add(time.Hour)) {
		t.Errorf("state %+v; want the next attempt in an hour", s)
	}
	r.failing.Store(false)
	request.MinRetry = 0 // a changed annotation is a changed request, which does not wait
	if s := u.Get(t.Context(), request, knownWithin); !s.Done() {
		t.Errorf("after the annotation was taken away: %+v", s)
	}
}

func TestPolicyOf(t *testing.T) {
	const timeout, retry = "operatorframework.io/bundle-unpack-timeout", "operatorframework.io/bundle-unpack-min-retry-interval"
	tests := map[string]struct {
		annotations map[string]string
		want        Policy
		limit       time.Duration
		err         string
	}{
		"none":               {nil, Policy{}, DefaultTimeout, ""},
		"both":               {map[string]string{timeout: "1m30s", retry: "5m"}, Policy{90 * time.Second, 5 * time.Minute}, 90 * time.Second, ""},
		"0 takes it away":    {map[string]string{timeout: "0"}, Policy{Timeout: -1}, forever, ""},
		"0s does so as well": {map[string]string{timeout: "0s"}, Policy{Timeout: -1}, forever, ""},
		"no unit":            {map[string]string{timeout: "10"}, Policy{}, 0, `annotation operatorframework.io/bundle-unpack-timeout of the OperatorGroup is "10"`},
		"negative":           {map[string]string{retry: "-1m"}, Policy{}, 0, `annotation operatorframework.io/bundle-unpack-min-retry-interval of the OperatorGroup is "-1m"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := PolicyOf(test.annotations)
			if test.err != "" {
				must.Fail(t, "PolicyOf", err, test.err)
				return
			}
			u := &Unpacker{}
			if limit := u.limit(Request{Policy: got}); err != nil || got != test.want || limit != test.limit {
				t.Errorf("%+v of %s, %v; want %+v of %s", got, limit, err, test.want, test.limit)
			}
			u.Timeout = time.Hour
			if limit := u.limit(Request{Policy: got}); (limit == time.Hour) != (test.limit == DefaultTimeout) {
				t.Errorf("with another default the limit is %s", limit)
			}
		})
	}
}

// TestReasons of errors that are no image's.
func TestReasons(t *testing.T) {
	u, _, _ := newUnpacker(t)
	r := newRegistry(t)
	_, err := u.Fetch(t.Context(), Request{Name: "other.v1.0.0", Image: r.ref})
	must.Equal(t, "a bundle of another name", ReasonOf(err), "InvalidBundle")
	_, err = u.Fetch(t.Context(), Request{Name: "a", Image: "Not A Reference"})
	must.Equal(t, "a reference that is none", ReasonOf(err), string(image.InvalidReference))
}
