package packageserver

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// told is what a client of a watch knows: of the packages with the same name in the same namespace, the one that comes first in lists.
type told map[types.NamespacedName]offer

// remember picks the first of the packages with the same name.
func remember(offers []offer) told {
	t := make(told, len(offers))
	for i := range offers {
		if _, known := t[offers[i].key()]; !known {
			t[offers[i].key()] = offers[i]
		}
	}
	return t
}

func (o *offer) key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.namespace, Name: o.doc.name}
}

// sum identifies all that is said of a package.
func (o *offer) sum() [sha256.Size]byte {
	text, _ := json.Marshal(struct { // which has nothing that cannot be written
		Meta, Display, Publisher any
	}{o.meta(""), o.source.Spec.DisplayName, o.source.Spec.Publisher})
	return sha256.Sum256(append(text, o.doc.sum[:]...))
}

// change is what a client is told.
type change struct {
	kind  watch.EventType
	offer offer
}

// changes lead from what was told to what is to be known: first what is gone, then what is new or different, each in order. What is in
// doubt is told of in any case.
func (t told) changes(to told, doubt map[types.NamespacedName]bool) []change {
	var gone, other []change
	for key, o := range t {
		if _, stays := to[key]; !stays {
			gone = append(gone, change{watch.Deleted, o})
		}
	}
	for key, o := range to {
		before, known := t[key]
		switch {
		case !known:
			other = append(other, change{watch.Added, o})
		case doubt[key] || (before.source.CatalogSource != o.source.CatalogSource || before.doc != o.doc) && before.sum() != o.sum():
			other = append(other, change{watch.Modified, o})
		}
	}
	inOrder := func(a, b change) int { return a.offer.compare(&b.offer) }
	slices.SortFunc(gone, inOrder)
	slices.SortFunc(other, inOrder)
	return slices.Concat(gone, other)
}
