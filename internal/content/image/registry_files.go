package image

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"

	"github.com/opencontainers/go-digest"
)

// manifestFile is a manifest with where it was pushed to.
type manifestFile struct {
	Repository string `json:"repository"`
	Target     string `json:"target"` // tag or digest
	MediaType  string `json:"mediaType"`
	Content    []byte `json:"content"`
}

// manifestFiles keeps the manifests of a registry, one file for each tag and
// each digest of a repository.
type manifestFiles struct{ dir string }

// path does not depend on what a client calls its repository.
func (m *manifestFiles) path(f manifestFile) string {
	return filepath.Join(m.dir, digest.FromString(f.Repository+"\n"+f.Target).Encoded())
}

// put keeps a manifest under its target and under its digest.
func (m *manifestFiles) put(f manifestFile, digest string) error {
	for _, target := range []string{digest, f.Target} {
		f.Target = target
		data, err := json.Marshal(f)
		if err != nil {
			return err
		}
		path := m.path(f)
		if err := os.WriteFile(path+".new", data, 0o600); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

// replay pushes what is kept to a registry. An index is accepted only after
// the manifests that it names, so what is refused is tried again as long as
// something else is accepted. Indexes of deleted manifests stay out.
func (m *manifestFiles) replay(to http.Handler) error {
	// Read what is kept. A file that a crash of the machine has damaged is as good as not pushed.
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	var pending []manifestFile
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(m.dir, entry.Name()))
		if err != nil {
			return err
		}
		var f manifestFile
		if json.Unmarshal(data, &f) == nil && filepath.Base(m.path(f)) == entry.Name() {
			pending = append(pending, f)
		}
	}
	for {
		var refused []manifestFile
		for _, f := range pending {
			if !f.push(to) {
				refused = append(refused, f)
			}
		}
		if len(refused) == 0 || len(refused) == len(pending) {
			return nil
		}
		pending = refused
	}
}

// push tells whether the registry accepts the manifest.
func (f manifestFile) push(to http.Handler) bool {
	req, err := http.NewRequest(http.MethodPut, "/v2/"+f.Repository+"/manifests/"+f.Target, bytes.NewReader(f.Content))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", f.MediaType)
	answer := &heldAnswer{header: http.Header{}}
	to.ServeHTTP(answer, req)
	return answer.status == http.StatusCreated
}
