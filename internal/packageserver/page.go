package packageserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
)

// mark is where the next page of a list begins: behind a package of a catalog. It is found again by name, so that pages go on where they
// were when catalogs changed in between.
type mark struct {
	Revision  uint64 `json:"rv"`
	Namespace string `json:"ns"`
	Name      string `json:"n"`
	// Place is how many packages of the same name in the same namespace were sent already.
	Place int `json:"p"`
}

// page is a part of a list.
type page struct {
	offers    []offer
	revision  uint64 // of the first page
	next      string // token; empty on the last page
	remaining int64
}

// paginate cuts the page out of a list that a request asks for.
func paginate(offers []offer, o *internalversion.ListOptions, now uint64) (page, error) {
	p := page{offers: offers, revision: now}
	if o == nil {
		return p, nil
	}
	if o.Continue != "" {
		var m mark
		data, err := base64.RawURLEncoding.DecodeString(o.Continue)
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil {
			return page{}, apierrors.NewBadRequest(fmt.Sprintf("the continue token is not one that this API has given: %v", err))
		}
		at, _ := slices.BinarySearchFunc(offers, m, func(o offer, m mark) int {
			return cmp.Or(cmp.Compare(o.namespace, m.Namespace), cmp.Compare(o.doc.name, m.Name))
		})
		for place := 0; at < len(offers) && place < m.Place && offers[at].namespace == m.Namespace && offers[at].doc.name == m.Name; place++ {
			at++
		}
		p.offers, p.revision = offers[at:], m.Revision
	}
	if o.Limit <= 0 || int64(len(p.offers)) <= o.Limit {
		return p, nil
	}
	p.remaining = int64(len(p.offers)) - o.Limit
	p.offers = p.offers[:o.Limit]
	last := &p.offers[o.Limit-1]
	m := mark{Revision: p.revision, Namespace: last.namespace, Name: last.doc.name}
	sent := offers[:len(offers)-int(p.remaining)]
	for i := len(sent) - 1; i >= 0 && sent[i].key() == last.key(); i-- {
		m.Place++
	}
	data, err := json.Marshal(m)
	p.next = base64.RawURLEncoding.EncodeToString(data)
	return p, err
}

var _ rest.TableConvertor = &storage{}

// columns are those of kubectl get.
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the package"},
	{Name: "Catalog", Type: "string", Description: "Name for people of the catalog that offers the package"},
	{Name: "Age", Type: "date", Description: "Time since the catalog was created"},
}

// ConvertToTable makes the rows that kubectl shows.
func (s *storage) ConvertToTable(_ context.Context, object runtime.Object, options runtime.Object) (*metav1.Table, error) {
	var t metav1.Table
	o, _ := options.(*metav1.TableOptions)
	if o == nil || !o.NoHeaders {
		t.ColumnDefinitions = columns
	}
	whole := o != nil && o.IncludeObject == metav1.IncludeObject
	switch object := object.(type) {
	case *list:
		t.ListMeta = object.ListMeta
		items := object.PackageManifestList
		if whole {
			var err error
			if items, err = object.whole(); err != nil {
				return nil, err
			}
		}
		for i := range items.Items {
			t.Rows = append(t.Rows, row(&items.Items[i], object.offers[i].source.Spec.DisplayName))
		}
	case *packagesv1.PackageManifest:
		t.ResourceVersion = object.ResourceVersion
		t.Rows = append(t.Rows, row(object, object.Status.CatalogSourceDisplayName))
	default:
		return nil, fmt.Errorf("make a table of %T: it is no PackageManifest", object)
	}
	return &t, nil
}

func row(m *packagesv1.PackageManifest, catalog string) metav1.TableRow {
	age := "<unknown>"
	if !m.CreationTimestamp.IsZero() {
		age = duration.HumanDuration(time.Since(m.CreationTimestamp.Time)) // by the real clock, as other API servers do
	}
	return metav1.TableRow{Cells: []any{m.Name, catalog, age}, Object: runtime.RawExtension{Object: m}}
}
