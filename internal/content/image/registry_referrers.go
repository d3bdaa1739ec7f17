package image

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// referrers adds the Referrers API to a registry: it notes which manifests that
// are pushed name another as their subject.
type referrers struct {
	inner http.Handler

	mu sync.RWMutex
	// of has the referrers of each subject, by repository and digest.
	of map[string][]v1.Descriptor
}

// ServeHTTP implements http.Handler.
func (r *referrers) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	rest, ok := strings.CutPrefix(req.URL.Path, "/v2/")
	repository, digest, found := strings.Cut(rest, "/referrers/")
	if subject, ok := repository+"@"+digest, ok && found; ok && req.Method == http.MethodGet {
		artifactType := req.URL.Query().Get("artifactType")
		r.mu.RLock()
		found := slices.Clone(r.of[subject])
		r.mu.RUnlock()
		w.Header().Set("Content-Type", string(types.OCIImageIndex))
		if artifactType != "" {
			found = slices.DeleteFunc(found, func(d v1.Descriptor) bool { return d.ArtifactType != artifactType })
			w.Header().Set("OCI-Filters-Applied", "artifactType")
		}
		if found == nil {
			found = []v1.Descriptor{}
		}
		_ = json.NewEncoder(w).Encode(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: found}) // the client has gone otherwise
		return
	}
	at, ok := manifestAt(req.URL.Path)
	switch {
	case ok && req.Method == http.MethodPut:
		r.put(w, req, at)
	case ok && req.Method == http.MethodDelete:
		r.forget(at)
		r.inner.ServeHTTP(w, req)
	default:
		r.inner.ServeHTTP(w, req)
	}
}

func (r *referrers) put(w http.ResponseWriter, req *http.Request, at manifestFile) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxManifest))
	if err != nil {
		http.Error(w, "read manifest: "+err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	var m struct {
		ArtifactType string            `json:"artifactType"`
		Config       v1.Descriptor     `json:"config"`
		Subject      *v1.Descriptor    `json:"subject"`
		Annotations  map[string]string `json:"annotations"`
	}
	answer := &heldAnswer{header: http.Header{}, status: http.StatusOK}
	r.inner.ServeHTTP(answer, req)
	if answer.status == http.StatusCreated && json.Unmarshal(body, &m) == nil && m.Subject != nil {
		hash, size, err := v1.SHA256(bytes.NewReader(body))
		if err != nil {
			http.Error(w, "hash manifest: "+err.Error(), http.StatusInternalServerError)
			return
		}
		r.add(at.Repository+"@"+m.Subject.Digest.String(), v1.Descriptor{
			MediaType: types.MediaType(req.Header.Get("Content-Type")), Digest: hash, Size: size,
			ArtifactType: cmp.Or(m.ArtifactType, string(m.Config.MediaType)), Annotations: m.Annotations,
		})
		answer.header.Set("OCI-Subject", m.Subject.Digest.String())
	}
	answer.send(w)
}

func (r *referrers) add(subject string, d v1.Descriptor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := func(each v1.Descriptor) bool { return each.Digest == d.Digest }
	if r.of == nil {
		r.of = map[string][]v1.Descriptor{}
	}
	r.of[subject] = append(slices.DeleteFunc(r.of[subject], same), d)
}

// forget drops a manifest that is deleted by its digest.
func (r *referrers) forget(at manifestFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for subject := range r.of {
		if strings.HasPrefix(subject, at.Repository+"@") {
			r.of[subject] = slices.DeleteFunc(r.of[subject], func(d v1.Descriptor) bool { return d.Digest.String() == at.Target })
		}
	}
}
