package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// maxManifest bounds a manifest that is pushed to NewRegistry's handler.
const maxManifest = 4 * mib

// NewRegistry returns an OCI registry to serve on loopback, for tests and for
// the embedded cluster. It lists referrers and has no access control. What is pushed is kept in dir
// and found there again after a restart; with an empty dir it is kept in memory.
// A handler whose dir cannot be used answers every request with the reason.
func NewRegistry(dir string) http.Handler {
	quiet := registry.Logger(log.New(io.Discard, "", 0))
	if dir == "" {
		return &manifestRegistry{inner: registry.New(quiet)}
	}
	blobs := filepath.Join(dir, "blobs")
	kept := &manifestFiles{dir: filepath.Join(dir, "manifests")}
	err := errors.Join(os.MkdirAll(blobs, 0o700), os.MkdirAll(kept.dir, 0o700))
	r := &manifestRegistry{inner: registry.New(quiet, registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)))}
	if err == nil {
		err = kept.replay(r)
	}
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, fmt.Sprintf("open registry directory %s: %v", dir, err), http.StatusInternalServerError)
		})
	}
	r.kept = kept
	return r
}

// manifestRegistry adds the Referrers API to a registry: it notes which manifests
// that are pushed name another as their subject. It keeps the manifests that the
// handler behind it holds in memory.
type manifestRegistry struct {
	inner http.Handler

	changing sync.Mutex     // a manifest changes in memory and on disk in the same order
	kept     *manifestFiles // nil where nothing is kept on disk

	mu sync.RWMutex
	// of has the referrers of each subject, by repository and digest.
	of map[string][]v1.Descriptor
}

// ServeHTTP implements http.Handler.
func (r *manifestRegistry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	rest, ok := strings.CutPrefix(req.URL.Path, "/v2/")
	repository, digest, found := strings.Cut(rest, "/referrers/")
	if ok && found && req.Method == http.MethodGet {
		r.list(w, repository+"@"+digest, req.URL.Query().Get("artifactType"))
		return
	}
	at, ok := manifestAt(req.URL.Path)
	if !ok || req.Method != http.MethodPut && req.Method != http.MethodDelete {
		r.inner.ServeHTTP(w, req)
		return
	}
	at.MediaType = req.Header.Get("Content-Type")
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxManifest))
	if err != nil {
		http.Error(w, fmt.Sprintf("read manifest: %v", err), http.StatusRequestEntityTooLarge)
		return
	}
	at.Content = body
	req.Body = io.NopCloser(bytes.NewReader(body))

	r.changing.Lock()
	defer r.changing.Unlock()
	if req.Method == http.MethodDelete {
		r.forget(at)
	}
	answer := &heldAnswer{header: http.Header{}, status: http.StatusOK}
	r.inner.ServeHTTP(answer, req)
	switch {
	case answer.status == http.StatusCreated && req.Method == http.MethodPut:
		if err := r.note(at, answer.header); err != nil {
			http.Error(w, "hash manifest: "+err.Error(), http.StatusInternalServerError)
			return
		}
		if r.kept != nil {
			err = r.kept.put(at, answer.header.Get("Docker-Content-Digest"))
		}
	case answer.status == http.StatusAccepted && r.kept != nil:
		if err = os.Remove(r.kept.path(at)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("keep manifest: %v", err), http.StatusInternalServerError)
		return
	}
	for name, values := range answer.header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body.Bytes()) // the client has gone otherwise
}

// manifestAt parses /v2/<repository>/manifests/<tag or digest>.
func manifestAt(path string) (manifestFile, bool) {
	rest, ok := strings.CutPrefix(path, "/v2/")
	i := strings.LastIndex(rest, "/manifests/")
	if !ok || i < 0 {
		return manifestFile{}, false
	}
	target := rest[i+len("/manifests/"):]
	return manifestFile{Repository: rest[:i], Target: target}, target != "" && !strings.Contains(target, "/")
}

// heldAnswer holds an answer back until the manifest is on disk.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *heldAnswer) Header() http.Header         { return a.header }
func (a *heldAnswer) WriteHeader(status int)      { a.status = status }
func (a *heldAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }
