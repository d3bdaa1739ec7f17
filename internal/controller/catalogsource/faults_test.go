package catalogsource

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
)

// broken is a registry on loopback with something wrong, as long as the test wants it.
type broken struct {
	t     *testing.T
	inner http.Handler
	host  string

	mu    sync.Mutex
	fault func(next http.Handler, w http.ResponseWriter, r *http.Request)
	seen  []string
}

func newBroken(t *testing.T) *broken {
	t.Helper()
	b := &broken{t: t, inner: image.NewRegistry("")}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.host = strings.TrimPrefix(server.URL, "http://")
	return b
}

func (b *broken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	fault := b.fault
	b.seen = append(b.seen, r.Method+" "+r.URL.Path)
	b.mu.Unlock()
	if fault == nil {
		b.inner.ServeHTTP(w, r)
		return
	}
	fault(b.inner, w, r)
}

func (b *broken) set(fault func(next http.Handler, w http.ResponseWriter, r *http.Request)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault, b.seen = fault, nil
}

// requests are those since the fault was set.
func (b *broken) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.seen...)
}

func (b *broken) push(content string) string {
	b.t.Helper()
	ref := b.host + "/cat:latest"
	if _, err := image.Push(b.t.Context(), ref, fstest.MapFS{"configs/catalog.json": {Data: []byte(content)}}, image.CatalogLabels(), image.PushOptions{}); err != nil {
		b.t.Fatal(err)
	}
	return ref
}

// real is a world whose catalog is in a registry.
func real(t *testing.T, b *broken) *world {
	t.Helper()
	spec := grpc(time.Minute)
	spec.Image = b.push(good)
	w := newWorld(t, source(spec))
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	w.c.images = images{reader: catalogstore.ImageReader{Images: store, Indexes: w.indexes}, secrets: w.Server}
	return w
}

func answers(code int, header, value string) func(http.Handler, http.ResponseWriter, *http.Request) {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.WriteHeader(code)
	}
}

// blobs changes the answers about blobs only.
func blobs(do func(w http.ResponseWriter, content []byte)) func(http.Handler, http.ResponseWriter, *http.Request) {
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/blobs/") || r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		w.Header().Set("Content-Length", strconv.Itoa(recorded.Body.Len()))
		do(w, recorded.Body.Bytes())
	}
}

// TestRegistriesWithFaults: the cause is reported within ten seconds in the words of the registry, whether or not there was content before;
// what was served before stays; and once the fault is gone the catalog is served without anybody's doing.
func TestRegistriesWithFaults(t *testing.T) {
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	for name, test := range map[string]struct {
		fault func(next http.Handler, w http.ResponseWriter, r *http.Request)
		want  string
	}{
		"401":       {answers(http.StatusUnauthorized, "WWW-Authenticate", `Basic realm="x"`), "credentials"},
		"404":       {answers(http.StatusNotFound, "", ""), "NotFound: "},
		"429":       {answers(http.StatusTooManyRequests, "Retry-After", "1"), "429"},
		"500":       {answers(http.StatusInternalServerError, "", ""), "500"},
		"says none": {func(_ http.Handler, _ http.ResponseWriter, r *http.Request) { wait(r, ended) }, "silent"},
		"breaks off": {blobs(func(w http.ResponseWriter, content []byte) {
			_, _ = w.Write(content[:len(content)/2])
		}), "Unavailable: unexpected EOF"},
		"stops in the middle": {func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			blobs(func(w http.ResponseWriter, content []byte) {
				_, _ = w.Write(content[:1])
				w.(http.Flusher).Flush()
				wait(r, ended)
			})(next, w, r)
		}, "silent"},
		"wrong digest": {blobs(func(w http.ResponseWriter, content []byte) {
			_, _ = w.Write(bytes.Repeat([]byte("x"), len(content)))
		}), "DigestMismatch: the registry sent other content"},
		"wrong architecture": {otherPlatform, "NoPlatform: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBroken(t)
			w := real(t, b)
			b.set(test.fault)
			begun := time.Now()
			result, s := w.reconcile()
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it took %s to tell", took)
			}
			if s.Status.Reason != "RegistryServerError" || readyReason(s) != "False RegistryServerError" || !strings.Contains(s.Status.Message, test.want) || s.Status.GRPCConnectionState.LastObservedState != "TRANSIENT_FAILURE" {
				t.Errorf("status %+v, want %s", s.Status, test.want)
			}
			if result.RequeueAfter <= 0 || result.RequeueAfter > catalogstore.LongestRetry {
				t.Errorf("tried again after %s", result.RequeueAfter)
			}
			b.set(nil)
			w.Clock.Step(result.RequeueAfter)
			if _, s = w.reconcile(); readyReason(s) != "True Serving" || s.Status.Message != "" {
				t.Fatalf("once it works: %+v", s.Status)
			}
			b.push(good + strings.ReplaceAll(good, `"a"`, `"b"`))
			b.set(test.fault)
			w.Clock.Step(2 * time.Minute)
			if _, s = w.reconcile(); readyReason(s) != "True ServingLastGoodContent" || !strings.Contains(s.Status.Message, test.want) || len(w.packages()) != 1 {
				t.Errorf("with content from before: %+v, packages %v", s.Status, w.packages())
			}
			b.set(nil)
			w.Clock.Step(catalogstore.LongestRetry)
			if _, s = w.reconcile(); readyReason(s) != "True Serving" || len(w.packages()) != 2 {
				t.Errorf("once it works again: %+v, packages %v", s.Status, w.packages())
			}
		})
	}
}

// wait keeps a request open until the client or the test is gone.
func wait(r *http.Request, ended <-chan struct{}) {
	select {
	case <-r.Context().Done():
	case <-ended:
	}
}

// otherPlatform offers the image for another platform only.
func otherPlatform(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.URL.Path, "/manifests/") {
		next.ServeHTTP(w, r)
		return
	}
	const kind = "application/vnd.oci.image.index.v1+json"
	text, _ := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": kind, "manifests": []any{map[string]any{
		"mediaType": "application/vnd.oci.image.manifest.v1+json", "size": 7, "digest": digestOne, "platform": map[string]any{"os": "windows", "architecture": "s390x"}}}})
	sum := sha256.Sum256(text)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Docker-Content-Digest", "sha256:"+hex.EncodeToString(sum[:]))
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(text)
	}
}

// TestAnUnchangedPollIsOneRequest, after one that finds out how the registry wants to be asked: no blob is read and nothing is written but when it took place.
func TestAnUnchangedPollIsOneRequest(t *testing.T) {
	b := newBroken(t)
	w := real(t, b)
	w.reconcile()
	w.Taken()
	for day := range 24 * 60 / 2 {
		b.set(nil)
		w.Clock.Step(2 * time.Minute)
		before := w.source()
		w.reconcile()
		after := w.source()
		if got := b.requests(); len(got) != 2 || got[0] != "GET /v2/" || got[1] != "HEAD /v2/cat/manifests/latest" {
			t.Fatalf("poll %d made the requests %v", day, got)
		}
		after.Status.LatestImageRegistryPoll, after.ResourceVersion = before.Status.LatestImageRegistryPoll, before.ResourceVersion
		if diff := cmp.Diff(before.Status, after.Status); diff != "" {
			t.Fatalf("poll %d wrote (-before +after):\n%s", day, diff)
		}
	}
	if all := len(w.Writes()); w.Count(reported) != 24*60/2 || all != 24*60/2 {
		t.Errorf("a day of polls made %d status writes, and %d in all", w.Count(reported), all)
	}
}

// TestTheSameTagHoldsOtherContent: also content that was there before.
func TestTheSameTagHoldsOtherContent(t *testing.T) {
	b := newBroken(t)
	w := real(t, b)
	w.reconcile()
	for _, content := range []string{strings.ReplaceAll(good, `"a"`, `"b"`), good, strings.ReplaceAll(good, `"a"`, `"c"`)} {
		b.push(content)
		w.Clock.Step(2 * time.Minute)
		w.reconcile()
		if got := w.packages(); len(got) != 1 || !strings.Contains(content, `"name":"`+got[0]+`"`) {
			t.Errorf("packages %v of %s", got, content[:40])
		}
	}
	// What is no catalog any more takes nothing away.
	b.push(`{"schema":"olm.package","name":"a"}`)
	w.Clock.Step(2 * time.Minute)
	if _, s := w.reconcile(); readyReason(s) != "True ServingLastGoodContent" || len(w.packages()) != 1 {
		t.Errorf("status %+v, packages %v", s.Status, w.packages())
	}
}

// TestAFlappingRegistry: the verdict follows, and there is one write for each change of it at most.
func TestAFlappingRegistry(t *testing.T) {
	b := newBroken(t)
	w := real(t, b)
	w.reconcile()
	for range 20 {
		for _, fault := range []func(http.Handler, http.ResponseWriter, *http.Request){answers(http.StatusBadGateway, "", ""), nil} {
			b.set(fault)
			w.Taken()
			w.Clock.Step(catalogstore.LongestRetry)
			_, s := w.reconcile()
			if want := map[bool]string{true: "True Serving", false: "True ServingLastGoodContent"}[fault == nil]; readyReason(s) != want || len(w.packages()) != 1 {
				t.Fatalf("status %+v, want %s", s.Status, want)
			}
			if w.reconcile(); w.Count(reported) != 1 {
				t.Fatalf("for one change the writes %v", w.Writes())
			}
		}
	}
}

// TestStatusWritesThatFail are made good by the next attempt, and nothing is read twice for it.
func TestStatusWritesThatFail(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "catalogsources"}, key.Name, nil)
	for name, fault := range map[string]error{"conflict": conflict, "server gone": apierrors.NewServiceUnavailable("down")} {
		t.Run(name, func(t *testing.T) {
			b := newBroken(t)
			w := real(t, b)
			w.refuse(true, fault)
			for range 3 {
				if _, err := w.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err == nil || !strings.Contains(err.Error(), "write the status of CatalogSource olm/cat") {
					t.Fatalf("got %v", err)
				}
			}
			w.Before = nil
			b.set(nil)
			if _, s := w.reconcile(); readyReason(s) != "True Serving" || len(b.requests()) != 0 {
				t.Errorf("status %+v, requests %v", s.Status, b.requests())
			}
		})
	}
}
