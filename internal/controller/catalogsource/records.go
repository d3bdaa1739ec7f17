package catalogsource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"

	ctrl "sigs.k8s.io/controller-runtime"
)

// records say, in a file for each catalog, which content was served last, so that it is served again right after a start. They are a
// cache: what is lost or cannot be written is read from where it came from. An empty directory is for none.
type records struct {
	dir     string
	indexes *catalogstore.Cache
	// verifier verifies restored content before it is served; nil for a process without signature policies.
	verifier image.Images
}

// note is the content of a file.
type note struct {
	Namespace, Name string
	Spec            string
	From            string
	Image           string
	Digest          string
	Loaded          time.Time
	Complete        time.Time
	Answer          string
	Ran             ranImage
	NoCatalog       bool
	ConfigMap       *v1alpha1.ConfigMapResourceReference
}

// restoredPod stands for the pod that content was read from in an earlier run: it is read once more from the pod that serves now.
const restoredPod = "of an earlier run"

func (r records) path(ref catalog.Ref) string {
	sum := sha256.Sum256([]byte(ref.String()))
	return filepath.Join(r.dir, hex.EncodeToString(sum[:])+".json")
}

// save remembers what is served.
func (r records) save(ctx context.Context, ref catalog.Ref, known content) {
	if r.dir == "" {
		return
	}
	if err := r.write(ref, known); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "what this catalog serves is not remembered for the next start; make the store writable", "directory", r.dir)
	}
}

func (r records) write(ref catalog.Ref, known content) error {
	data, err := json.Marshal(note{Namespace: ref.Namespace, Name: ref.Name, Spec: known.spec, From: known.served, Image: known.image(), Digest: known.digest,
		Loaded: known.loaded, Complete: known.complete, Answer: known.answer, Ran: known.ran, NoCatalog: known.noCatalog, ConfigMap: known.configMap})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	written, err := os.CreateTemp(r.dir, "writing-")
	if err != nil {
		return err
	}
	defer os.Remove(written.Name()) // it is gone once it has its name
	if _, err = written.Write(data); err != nil {
		_ = written.Close() // the write has failed already
		return err
	}
	if err := written.Close(); err != nil {
		return err
	}
	return os.Rename(written.Name(), r.path(ref))
}

// restore adds to what is known the content that was served last, if it is what is asked for now and is still there.
func (r records) restore(ctx context.Context, ref catalog.Ref, known content) content {
	if r.dir == "" {
		return known
	}
	data, err := os.ReadFile(r.path(ref))
	if err != nil {
		return known
	}
	var was note
	if json.Unmarshal(data, &was) != nil || was.Spec != known.spec || was.Namespace != ref.Namespace || was.Name != ref.Name {
		return known
	}
	known.noCatalog = was.NoCatalog
	index, ok := r.indexes.Get(ctx, was.Digest)
	if !ok {
		index, ok = r.indexes.Earlier(ctx, was.Digest) // until the origin is read again, which may be down
		known.earlier = ok
	}
	if !ok {
		return known
	}
	known.index, known.digest, known.loaded, known.warnings = index, was.Digest, was.Loaded, unserved(index)
	known.served = was.From
	if from, isImage := strings.CutPrefix(was.From, imagePlace); isImage {
		known.signatures = image.Restored(r.verifier, cmp.Or(was.Image, from)) // older notes have no Image
		if was.Answer != "" {
			known.pod, known.ran = restoredPod, ranImage{Image: was.Ran.Image, Digest: was.Ran.Digest} // the policy of an earlier run counts for nothing
		}
	}
	known.answer, known.complete, known.configMap = was.Answer, was.Complete, was.ConfigMap
	return known
}
