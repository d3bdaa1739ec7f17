package packageserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/packageserver/manifest"

	"github.com/klauspost/compress/s2"
)

// document is a package of a catalog's content, ready to be sent. The same content served by two catalogs has the same documents, so
// nothing in it names a catalog.
type document struct {
	name   string
	labels map[string]string
	// sum identifies labels and status.
	sum [sha256.Size]byte
	// size is that of the unpacked tail.
	size int
	// packed is the compressed tail, by a method that is quick to undo; nil where the cache has no room for it.
	packed []byte
}

// statusHead is how a status begins that names no catalog. The rest of it, from the next field on, is the tail of a document.
const statusHead = `{"catalogSource":"","catalogSourceDisplayName":"","catalogSourcePublisher":"","catalogSourceNamespace":"",`

// newDocument describes a package; it is nil when nothing of it can be shown.
func newDocument(x *catalog.Index, name string) (*document, error) {
	p, ok := manifest.Convert(x, name)
	if !ok {
		return nil, nil
	}
	tail, err := tailOf(p.Status)
	if err != nil {
		return nil, fmt.Errorf("write package %s of catalog %s: %w", name, x.Digest(), err)
	}
	d := &document{name: name, labels: p.Labels, size: len(tail)}
	labels, err := json.Marshal(p.Labels)
	if err != nil {
		return nil, fmt.Errorf("write the labels of package %s of catalog %s: %w", name, x.Digest(), err)
	}
	d.sum = sha256.Sum256(append(labels, tail...))
	d.packed = bytes.Clone(s2.EncodeBetter(nil, tail)) // what it returns has room for the tail as it is
	return d, nil
}

func tailOf(status packagesv1.PackageManifestStatus) ([]byte, error) {
	text, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	tail, ok := bytes.CutPrefix(text, []byte(statusHead))
	if !ok {
		return nil, fmt.Errorf("the status begins with %.120s", text)
	}
	return tail, nil
}

// tail is the JSON of the status from behind the fields that name the catalog; it may use into.
func (d *document) tail(x *catalog.Index, into []byte) ([]byte, error) {
	if d.packed != nil {
		tail, err := s2.Decode(into[:0], d.packed)
		if err != nil {
			return nil, fmt.Errorf("unpack package %s of catalog %s: %w", d.name, x.Digest(), err)
		}
		return tail, nil
	}
	p, ok := manifest.Convert(x, d.name)
	if !ok {
		return nil, fmt.Errorf("read package %s of catalog %s: it cannot be read any more", d.name, x.Digest())
	}
	return tailOf(p.Status)
}

// status is the whole status, without the names of the catalog.
func (d *document) status(x *catalog.Index) (packagesv1.PackageManifestStatus, error) {
	var status packagesv1.PackageManifestStatus
	tail, err := d.tail(x, make([]byte, 0, d.size))
	if err != nil {
		return status, err
	}
	if err := json.Unmarshal(append([]byte{'{'}, tail...), &status); err != nil {
		return status, fmt.Errorf("read package %s of catalog %s: %w", d.name, x.Digest(), err)
	}
	return status, nil
}
