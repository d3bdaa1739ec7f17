package packageserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// list is a PackageManifestList whose items have no status yet: where only their metadata is asked for, as for tables, nothing else is
// unpacked. As JSON it is written straight from the documents, one at a time, because taking megabytes of text apart only to put them
// together again is most of the work of a list.
type list struct {
	*packagesv1.PackageManifestList
	offers []offer
	answer *answer // nil when it cannot be compressed
}

var _ runtime.CacheableObject = &list{}

func newList(p page, a *answer) *list {
	revision := revisionText(p.revision)
	l := &list{offers: p.offers, answer: a, PackageManifestList: &packagesv1.PackageManifestList{
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
		status, err := l.offers[i].status()
		if err != nil {
			return nil, err
		}
		all.Items[i].Status = status
	}
	return all, nil
}

// GetObject returns the list with its metadata only.
func (l *list) GetObject() runtime.Object { return l.PackageManifestList }

// DeepCopyObject copies what may be changed.
func (l *list) DeepCopyObject() runtime.Object {
	return &list{PackageManifestList: l.PackageManifestList.DeepCopy(), offers: l.offers, answer: l.answer}
}

// CacheEncode writes the list. Any format but JSON, and JSON for people, is left to the API machinery.
func (l *list) CacheEncode(id runtime.Identifier, encode func(runtime.Object, io.Writer) error, w io.Writer) error {
	if id != jsonIdentifier {
		all, err := l.whole()
		if err != nil {
			return err
		}
		return encode(all, w)
	}
	size := 0 // about that of the list as JSON
	for i := range l.offers {
		size += l.offers[i].doc.size
	}
	if l.answer == nil || size <= compressAt {
		return l.write(&form{w: w})
	}
	l.answer.compressed = true
	err := l.write(&form{w: w, first: firstWrite, zipped: true, stream: stream{out: slices.Clone(gzipHead)}})
	l.answer.compressed = err == nil // what is said of an error is not compressed
	return err
}

// write writes the list: what is its own, and from each document the rest of the item.
func (l *list) write(to *form) error {
	head, err := json.Marshal(&packagesv1.PackageManifestList{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta, Items: []packagesv1.PackageManifest{}})
	if err != nil {
		return err
	}
	text := bytes.TrimSuffix(head, []byte("]}"))
	for i := range l.offers {
		if i > 0 {
			text = append(text, '}', ',')
		}
		// The item up to where its document continues: its metadata and the names of the catalog.
		item, from := &l.Items[i], l.offers[i].source
		head, err := json.Marshal(listed{TypeMeta: item.TypeMeta, ObjectMeta: item.ObjectMeta,
			Status: catalogNames{from.Name, from.Spec.DisplayName, from.Spec.Publisher, from.Namespace}})
		if err != nil {
			return fmt.Errorf("write PackageManifest %s: %w", item.Name, err)
		}
		text = append(append(text, bytes.TrimSuffix(head, []byte("}}"))...), ',')
		if err := to.literal(text); err != nil {
			return err
		}
		if err := to.document(&l.offers[i]); err != nil {
			return fmt.Errorf("write PackageManifest %s: %w", l.Items[i].Name, err)
		}
		text = text[:0]
	}
	if len(l.offers) > 0 {
		text = append(text, '}')
	}
	if err := to.literal(append(text, "]}\n"...)); err != nil {
		return err
	}
	return to.flush(true)
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

// Fields that objects can be selected by.
const (
	fieldName      = "metadata.name"
	fieldNamespace = "metadata.namespace"
)

// selection is what a request asks for.
type selection struct {
	labels labels.Selector
	fields fields.Selector
}

func selectionOf(o *internalversion.ListOptions) selection {
	s := selection{labels: labels.Everything(), fields: fields.Everything()}
	if o != nil && o.LabelSelector != nil {
		s.labels = o.LabelSelector
	}
	if o != nil && o.FieldSelector != nil {
		s.fields = o.FieldSelector
	}
	return s
}

func (s selection) of(offers []offer) []offer {
	return slices.DeleteFunc(offers, func(o offer) bool {
		return !s.fields.Matches(fields.Set{fieldName: o.doc.name, fieldNamespace: o.namespace}) ||
			!s.labels.Empty() && !s.labels.Matches(labels.Set(o.meta("").Labels))
	})
}
