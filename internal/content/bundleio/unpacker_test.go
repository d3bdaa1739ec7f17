package bundleio

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	clocktesting "k8s.io/utils/clock/testing"
)

// fakeRegistry is a registry on loopback with a bundle in it, that can be made to fail.
type fakeRegistry struct {
	ref      string
	failing  atomic.Bool
	requests atomic.Int64
}

func newRegistry(t *testing.T) *fakeRegistry {
	t.Helper()
	r := &fakeRegistry{}
	handler := image.NewRegistry("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.requests.Add(1)
		if r.failing.Load() {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		handler.ServeHTTP(w, request)
	}))
	t.Cleanup(server.Close)
	tree := must.Value(fs.Sub(examples.Bundles, "bundles/greeter-operator/1.0.0"))(t)
	r.ref = strings.TrimPrefix(server.URL, "http://") + "/greeter:v1"
	must.Value(image.Push(t.Context(), r.ref, tree, image.BundleLabels("greeter-operator", []string{"stable"}, "stable"), image.PushOptions{}))(t)
	return r
}

// daytime is a clock whose time of day is that of the test, while waits are real.
type daytime struct{ *clocktesting.FakeClock }

func (daytime) After(d time.Duration) <-chan time.Time { return time.After(d) }

func newUnpacker(t *testing.T) (*Unpacker, *clocktesting.FakeClock, *atomic.Int64) {
	t.Helper()
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	clock := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
	var news atomic.Int64
	u := NewUnpacker(store, daytime{clock}, func() { news.Add(1) })
	u.jitter = func() float64 { return 0 }
	return u, clock, &news
}

func TestFetchesAnImageOnceForAll(t *testing.T) {
	r := newRegistry(t)
	u, _, news := newUnpacker(t)
	request := Request{Name: "greeter-operator.v1.0.0", Image: r.ref}
	before := r.requests.Load()
	for range 5 {
		go u.Get(t.Context(), request, 0)
	}
	state := must.Value(u.Fetch(t.Context(), request))(t)
	if state.Bundle.Name != request.Name || !strings.Contains(state.Pinned, "@sha256:") || state.Bundle.Image != state.Pinned {
		t.Errorf("bundle %s from %q", state.Bundle.Name, state.Pinned)
	}
	fetched := r.requests.Load() - before
	if _, err := u.Fetch(t.Context(), request); err != nil || r.requests.Load()-before != fetched {
		t.Errorf("a second fetch asked the registry again: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); news.Load() == 0 && time.Now().Before(end); { // it comes after the answer
		time.Sleep(time.Millisecond)
	}
	must.Equal(t, "pieces of news about one bundle", news.Load(), 1)
}

func TestFailuresAreTriedAgainWithPauses(t *testing.T) {
	r := newRegistry(t)
	u, clock, _ := newUnpacker(t)
	request := Request{Name: "greeter-operator.v1.0.0", Image: r.ref}
	r.failing.Store(true)
	_, err := u.Fetch(t.Context(), request)
	if err == nil || !strings.Contains(err.Error(), "fetch bundle greeter-operator.v1.0.0") {
		t.Fatalf("a failing registry: %v", err)
	}
	asked := r.requests.Load()
	if s := u.Get(t.Context(), request, time.Second); s.Err == nil || !s.RetryAt.Equal(clock.Now().Add(firstPause)) || r.requests.Load() != asked {
		t.Errorf("before the pause is over: %+v, %d requests", s, r.requests.Load()-asked)
	}
	clock.Step(firstPause)
	if s := u.Get(t.Context(), request, 10*time.Second); s.Err == nil || !s.RetryAt.Equal(clock.Now().Add(2*firstPause)) {
		t.Errorf("the second pause: %+v", s)
	}
	r.failing.Store(false)
	clock.Step(2 * firstPause)
	if s, err := u.Fetch(t.Context(), request); err != nil || !s.Done() {
		t.Errorf("once the registry is back: %+v, %v", s, err)
	}
}

func TestPausesGrowAndEnd(t *testing.T) {
	u := &Unpacker{jitter: func() float64 { return 0 }}
	jittered := &Unpacker{jitter: func() float64 { return 1 }}
	last := time.Duration(0)
	for attempt := 1; attempt < 100; attempt++ {
		p := u.pause(errors.New("down"), attempt)
		if p < last || p < firstPause || p > longestPause {
			t.Fatalf("after attempt %d the pause is %s, before it was %s", attempt, p, last)
		}
		if most := jittered.pause(errors.New("down"), attempt); most != p+p/5 {
			t.Fatalf("after attempt %d the pause is at most %s, want a fifth more than %s", attempt, most, p)
		}
		last = p
	}
	must.Equal(t, "the pauses end", last, longestPause)
}

func TestWrongContentIsRefused(t *testing.T) {
	r := newRegistry(t)
	u, _, _ := newUnpacker(t)
	_, err := u.Fetch(t.Context(), Request{Name: "greeter-operator.v9.9.9", Image: r.ref})
	must.Fail(t, "an image that is another bundle", err, "holds ClusterServiceVersion greeter-operator.v1.0.0")
}

// TestTheCatalogNamesTheBundle: where the catalog alone says what a bundle is called, its ClusterServiceVersion may have another name, in an image and in
// the catalog; a client that goes by the name of that is refused it still.
func TestTheCatalogNamesTheBundle(t *testing.T) {
	r := newRegistry(t)
	u, _, _ := newUnpacker(t)
	inline := inlineRequest("a.v1.0.0")
	inline.Name = "other.v1.0.0"
	for name, request := range map[string]Request{"image": {Name: "greeter.v9.9.9", Image: r.ref}, "inline": inline} {
		accepting := request
		accepting.ByCatalog = true
		if s, err := u.Fetch(t.Context(), accepting); err != nil || !s.Done() || s.Bundle.Name == request.Name {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		_, err := u.Fetch(t.Context(), request)
		must.Fail(t, name, err, "holds ClusterServiceVersion")
	}
}

// inlineRequest asks for a bundle that its catalog holds itself.
func inlineRequest(name string) Request {
	csv := json.RawMessage(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"` + name +
		`"},"spec":{"displayName":"a","version":"1.0.0","install":{"strategy":"deployment","spec":{"deployments":[]}}}}`)
	return Request{Name: name, Content: "sha256:one", Manifests: func() ([]json.RawMessage, error) { return []json.RawMessage{csv}, nil }}
}

func TestManifestsOfTheCatalog(t *testing.T) {
	u, _, _ := newUnpacker(t)
	if s, err := u.Fetch(t.Context(), inlineRequest("a.v1.0.0")); err != nil || s.Pinned != "" || s.Bundle.Name != "a.v1.0.0" {
		t.Errorf("inline manifests: %+v, %v", s, err)
	}
	broken := Request{Name: "b.v1.0.0", Content: "sha256:one", Manifests: func() ([]json.RawMessage, error) { return nil, errors.New("gone") }}
	_, err := u.Fetch(t.Context(), broken)
	must.Fail(t, "Fetch", err, "read the manifests of bundle b.v1.0.0 from its catalog: gone")
}

func TestForgetsWhatNobodyAsksFor(t *testing.T) {
	r := newRegistry(t)
	u, clock, _ := newUnpacker(t)
	must.Value(u.Fetch(t.Context(), Request{Name: "greeter-operator.v1.0.0", Image: r.ref}))(t)
	clock.Step(2 * keepFor)
	u.Get(t.Context(), Request{Name: "other", Manifests: func() ([]json.RawMessage, error) { return nil, nil }}, 0)
	u.mu.Lock()
	defer u.mu.Unlock()
	must.Equal(t, "results are kept in memory", len(u.jobs), 1)
}
