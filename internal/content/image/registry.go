package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/registry"
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
		return &referrers{inner: registry.New(quiet)}
	}
	blobs := filepath.Join(dir, "blobs")
	kept := &manifestFiles{dir: filepath.Join(dir, "manifests")}
	err := errors.Join(os.MkdirAll(blobs, 0o700), os.MkdirAll(kept.dir, 0o700))
	inner := &referrers{inner: registry.New(quiet, registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)))}
	if err == nil {
		err = kept.replay(inner)
	}
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, fmt.Sprintf("open registry directory %s: %v", dir, err), http.StatusInternalServerError)
		})
	}
	return &diskRegistry{inner: inner, kept: kept}
}

// diskRegistry keeps the manifests that the handler behind it holds in memory.
type diskRegistry struct {
	inner http.Handler
	mu    sync.Mutex // a manifest changes in memory and on disk in the same order
	kept  *manifestFiles
}

// ServeHTTP implements http.Handler.
func (r *diskRegistry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
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

	r.mu.Lock()
	defer r.mu.Unlock()
	answer := &heldAnswer{header: http.Header{}, status: http.StatusOK}
	r.inner.ServeHTTP(answer, req)
	switch answer.status {
	case http.StatusCreated:
		err = r.kept.put(at, answer.header.Get("Docker-Content-Digest"))
	case http.StatusAccepted:
		err = r.kept.delete(at)
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("keep manifest: %v", err), http.StatusInternalServerError)
		return
	}
	answer.send(w)
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

func (a *heldAnswer) send(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes()) // the client has gone otherwise
}
