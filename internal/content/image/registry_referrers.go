package image

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// list answers with the referrers of a subject.
func (r *manifestRegistry) list(w http.ResponseWriter, subject, artifactType string) {
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
}

// note remembers a pushed manifest as a referrer of the subject that it names,
// and says so in the header of the answer.
func (r *manifestRegistry) note(at manifestFile, header http.Header) error {
	var m struct {
		ArtifactType string            `json:"artifactType"`
		Config       v1.Descriptor     `json:"config"`
		Subject      *v1.Descriptor    `json:"subject"`
		Annotations  map[string]string `json:"annotations"`
	}
	if json.Unmarshal(at.Content, &m) != nil || m.Subject == nil {
		return nil
	}
	hash, size, err := v1.SHA256(bytes.NewReader(at.Content))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string][]v1.Descriptor{}
	}
	subject := at.Repository + "@" + m.Subject.Digest.String()
	others := slices.DeleteFunc(r.of[subject], func(each v1.Descriptor) bool { return each.Digest == hash })
	r.of[subject] = append(others, v1.Descriptor{
		MediaType: types.MediaType(at.MediaType), Digest: hash, Size: size,
		ArtifactType: cmp.Or(m.ArtifactType, string(m.Config.MediaType)), Annotations: m.Annotations,
	})
	header.Set("OCI-Subject", m.Subject.Digest.String())
	return nil
}

// forget drops a manifest that is deleted by its digest.
func (r *manifestRegistry) forget(at manifestFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for subject := range r.of {
		if strings.HasPrefix(subject, at.Repository+"@") {
			r.of[subject] = slices.DeleteFunc(r.of[subject], func(d v1.Descriptor) bool { return d.Digest.String() == at.Target })
		}
	}
}
