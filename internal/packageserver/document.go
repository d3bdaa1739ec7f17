package packageserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"sync/atomic"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"

	"github.com/klauspost/compress/s2"
)

// document is a package of a catalog's content, without its text, which comes and goes. The same content served by two catalogs has the
// same documents, so nothing in it names a catalog.
type document struct {
	name   string
	labels map[string]string
	// sum identifies labels and status.
	sum [sha256.Size]byte
	// size and check are those of the unpacked tail.
	size  int
	check uint32
	pack  *pack
	held  atomic.Pointer[packed] // nil where the cache has no room for it
	// pinned is the text of a package that cannot be read as it is to be now. It cannot be made again, so it is no part of the cache. partial
	// is set when it is what could be read, and not what was known before.
	pinned  *packed
	partial bool
}

// packed is the tail of a document, ready to be sent in two ways.
type packed struct {
	quick    []byte // compressed by a method that is quick to undo
	deflated []byte // as a piece of a compressed answer, see gzip.go
}

func (p *packed) bytes() int { return len(p.quick) + len(p.deflated) }

// statusHead is how a status begins that names no catalog. The rest of it, from the next field on, is the tail of a document.
const statusHead = `{"catalogSource":"","catalogSourceDisplayName":"","catalogSourcePublisher":"","catalogSourceNamespace":"",`

// newDocument describes a package; it is nil when nothing of it can be shown. With an unreadVersion in the error it is what could be read.
func newDocument(x *catalog.Index, name string) (*document, *packed, error) {
	p, ok, unread := Convert(x, name)
	if !ok {
		return nil, nil, unread
	}
	text, err := json.Marshal(p.Status)
	tail, ok := bytes.CutPrefix(text, []byte(statusHead))
	if err == nil && !ok {
		err = fmt.Errorf("the status begins with %.120s", text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("write package %s of catalog %s: %w", name, x.Digest(), err)
	}
	labels, err := json.Marshal(p.Labels)
	if err != nil {
		return nil, nil, fmt.Errorf("write the labels of package %s of catalog %s: %w", name, x.Digest(), err)
	}
	d := &document{name: name, labels: p.Labels, size: len(tail), check: crc32.ChecksumIEEE(tail), sum: sha256.Sum256(append(labels, tail...))}
	quick := bytes.Clone(s2.EncodeBetter(nil, tail)) // what s2 returns has room for the tail as it is
	return d, &packed{quick: quick, deflated: deflate(tail)}, unread
}

// text is the tail of the document as it is kept, made again where there was no room for it.
func (o *offer) text() (*packed, error) {
	d := o.doc
	if d.pinned != nil {
		return d.pinned, nil
	}
	if p := d.held.Load(); p != nil {
		return p, nil
	}
	if o.source.index == nil {
		return nil, fmt.Errorf("read package %s of catalog %s: it is not served any more", d.name, o.source.digest)
	}
	again, p, err := newDocument(o.source.index, d.name)
	if err != nil {
		return nil, err
	}
	if again == nil || again.sum != d.sum {
		return nil, fmt.Errorf("read package %s of catalog %s: it cannot be read any more as it was; is its index damaged?", d.name, o.source.digest)
	}
	d.pack.cache.keep(d, p)
	return p, nil
}

// tail is the JSON of the status from behind the fields that name the catalog; it may use into.
func (o *offer) tail(into []byte) ([]byte, error) {
	p, err := o.text()
	if err != nil {
		return nil, err
	}
	tail, err := s2.Decode(into[:cap(into)], p.quick)
	if err != nil {
		return nil, fmt.Errorf("unpack package %s of catalog %s: %w", o.doc.name, o.source.digest, err)
	}
	return tail, nil
}

// status is the whole status.
func (o *offer) status() (packagesv1.PackageManifestStatus, error) {
	var status packagesv1.PackageManifestStatus
	tail, err := o.tail(make([]byte, 0, o.doc.size))
	if err != nil {
		return status, err
	}
	if err := json.Unmarshal(append([]byte{'{'}, tail...), &status); err != nil {
		return status, fmt.Errorf("read package %s of catalog %s: %w", o.doc.name, o.source.digest, err)
	}
	status.CatalogSource, status.CatalogSourceNamespace = o.source.Name, o.source.Namespace
	status.CatalogSourceDisplayName, status.CatalogSourcePublisher = o.source.Spec.DisplayName, o.source.Spec.Publisher
	return status, nil
}
