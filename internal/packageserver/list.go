package packageserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// list is a PackageManifestList whose items have no status yet: where only their metadata is asked for, as for tables, nothing else is
// unpacked. As JSON it is written straight from the documents, one at a time, because taking megabytes of text apart only to put them
// together again is most of the work of a list.
type list struct {
	*packagesv1.PackageManifestList
	offers []offer
}

var _ runtime.CacheableObject = &list{}

func newList(p page) *list {
	revision := revisionText(p.revision)
	l := &list{offers: p.offers, PackageManifestList: &packagesv1.PackageManifestList{
		TypeMeta: typeMeta(packagesv1.PackageManifestKind + "List"),
		ListMeta: metav1.ListMeta{ResourceVersion: revision, Continue: p.next},
		Items:    make([]packagesv1.PackageManifest, len(p.offers)),
	}}
	if p.next != "" {
		l.RemainingItemCount = &p.remaining
	}
	for i := range p.offers {
		l.Items[i] = packagesv1.PackageManifest{TypeMeta: typeMeta(packagesv1.PackageManifestKind), ObjectMeta: p.offers[i].meta(revision)}
	}
	return l
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: packagesv1.GroupVersion.String(), Kind: kind}
}

// whole is the list with everything in it.
func (l *list) whole() (*packagesv1.PackageManifestList, error) {
	all := l.PackageManifestList.DeepCopy()
	for i := range l.offers {
		status, err := l.offers[i].doc.status(l.offers[i].index)
		if err != nil {
			return nil, err
		}
		all.Items[i].Status = l.offers[i].named(status)
	}
	return all, nil
}

// GetObject returns the list with its metadata only.
func (l *list) GetObject() runtime.Object { return l.PackageManifestList }

// DeepCopyObject copies what may be changed.
func (l *list) DeepCopyObject() runtime.Object {
	return &list{PackageManifestList: l.PackageManifestList.DeepCopy(), offers: l.offers}
}

// CacheEncode writes the list. Any format but JSON, and JSON for people, is left to the API machinery.
func (l *list) CacheEncode(id runtime.Identifier, encode func(runtime.Object, io.Writer) error, w io.Writer) error {
	if id == jsonIdentifier {
		return l.writeJSON(w)
	}
	all, err := l.whole()
	if err != nil {
		return err
	}
	return encode(all, w)
}

func (l *list) writeJSON(w io.Writer) error {
	head, err := json.Marshal(&packagesv1.PackageManifestList{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta, Items: []packagesv1.PackageManifest{}})
	if err != nil {
		return err
	}
	buffers := &writeBuffers{out: bytes.TrimSuffix(head, []byte("]}"))}
	for i := range l.offers {
		if i > 0 {
			buffers.out = append(buffers.out, ',')
		}
		if err := buffers.add(&l.Items[i], &l.offers[i]); err != nil {
			return err
		}
		if len(buffers.out) >= flushAt {
			if _, err := w.Write(buffers.out); err != nil {
				return err
			}
			buffers.out = buffers.out[:0]
		}
	}
	_, err = w.Write(append(buffers.out, "]}\n"...))
	return err
}

// flushAt is how much is collected before it is written. The API machinery compresses only what begins with a large write.
const flushAt = 256 << 10

// writeBuffers are used again for each item.
type writeBuffers struct {
	out  []byte
	tail []byte
}

// listed is a PackageManifest as far as it is not in its document.
type listed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   packagesv1.PackageManifestSpec `json:"spec,omitempty"`
	Status catalogNames                   `json:"status"`
}

// catalogNames are the first fields of a status.
type catalogNames struct {
	CatalogSource            string `json:"catalogSource"`
	CatalogSourceDisplayName string `json:"catalogSourceDisplayName"`
	CatalogSourcePublisher   string `json:"catalogSourcePublisher"`
	CatalogSourceNamespace   string `json:"catalogSourceNamespace"`
}

// add writes an item: its metadata and the names of the catalog, and the rest of its status from the document.
func (b *writeBuffers) add(item *packagesv1.PackageManifest, o *offer) error {
	s := o.source
	head, err := json.Marshal(listed{TypeMeta: item.TypeMeta, ObjectMeta: item.ObjectMeta,
		Status: catalogNames{s.Name, s.Spec.DisplayName, s.Spec.Publisher, s.Namespace}})
	if err != nil {
		return fmt.Errorf("write PackageManifest %s: %w", item.Name, err)
	}
	if b.tail, err = o.doc.tail(o.index, b.tail); err != nil {
		return fmt.Errorf("write PackageManifest %s: %w", item.Name, err)
	}
	b.out = append(b.out, bytes.TrimSuffix(head, []byte("}}"))...)
	b.out = append(b.out, ',')
	b.out = append(b.out, b.tail...)
	b.out = append(b.out, '}')
	return nil
}
