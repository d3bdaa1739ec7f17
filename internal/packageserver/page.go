package packageserver

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
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
