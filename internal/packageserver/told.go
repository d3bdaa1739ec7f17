package packageserver

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// told is what a client of a watch knows.
type told map[types.NamespacedName]item

// item is a package, with what identifies all that is said of it.
type item struct {
	offer
	sum [sha256.Size]byte
}

// remember takes the first of the packages with the same name.
func remember(offers []offer) (told, error) {
	t := make(told, len(offers))
	for _, o := range offers {
		key := types.NamespacedName{Namespace: o.namespace, Name: o.doc.name}
		if _, known := t[key]; known {
			continue
		}
		sum, err := o.sum()
		if err != nil {
			return nil, err
		}
		t[key] = item{offer: o, sum: sum}
	}
	return t, nil
}

// sum identifies all that is said of a package.
func (o *offer) sum() ([sha256.Size]byte, error) {
	text, err := json.Marshal(struct {
		Meta, Display, Publisher any
	}{o.meta(""), o.source.Spec.DisplayName, o.source.Spec.Publisher})
	return sha256.Sum256(append(text, o.doc.sum[:]...)), err
}

// change is what a client is told.
type change struct {
	kind watch.EventType
	item item
}

// changes lead from what was told to what is to be known: first what is gone, then what is new or different, each in order.
func (t told) changes(to told) []change {
	var gone, other []change
	for key, item := range t {
		if _, stays := to[key]; !stays {
			gone = append(gone, change{watch.Deleted, item})
		}
	}
	for key, item := range to {
		before, known := t[key]
		switch {
		case !known:
			other = append(other, change{watch.Added, item})
		case before.sum != item.sum:
			other = append(other, change{watch.Modified, item})
		}
	}
	inOrder := func(a, b change) int { return a.item.compare(&b.item.offer) }
	slices.SortFunc(gone, inOrder)
	slices.SortFunc(other, inOrder)
	return slices.Concat(gone, other)
}
