package packageserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// snapshot is everything that is shown, as it is at one time. It never changes, so whatever is answered from it fits together and is what
// its revision stands for.
type snapshot struct {
	revision uint64
	print    uint64   // identifies what is shown, see fingerprint
	sources  []source // in order of namespace and name
	// alone are the namespaces that do without global catalogs; every value is true.
	alone map[string]bool
}

// source is a catalog that has content.
type source struct {
	*v1alpha1.CatalogSource
	digest string
	index  *catalog.Index // nil in a snapshot of the past, which must not keep files open
	docs   []*document    // in order of their names
}

func newSnapshot(sources []source, alone map[string]bool) *snapshot {
	s := &snapshot{sources: sources, alone: alone}
	// Identify what is shown. It is the same in every process that shows the same.
	type shown struct {
		Namespace, Name, UID, Digest, Display, Publisher string
		Created                                          int64
		Priority, Shown                                  int
		Labels                                           map[string]string
		Pinned                                           []string `json:",omitempty"`
	}
	h := fnv.New64a()
	write := json.NewEncoder(h) // of plain values to a hash: neither can fail
	for i := range s.sources {
		o := &s.sources[i]
		var pinned []string
		for _, d := range o.docs {
			if d.pinned != nil { // it is not what the content of the catalog says
				pinned = append(pinned, fmt.Sprintf("%s %x", d.name, d.sum))
			}
		}
		_ = write.Encode(shown{Namespace: o.Namespace, Name: o.Name, UID: string(o.UID), Digest: o.digest, Display: o.Spec.DisplayName,
			Publisher: o.Spec.Publisher, Created: o.CreationTimestamp.Unix(), Priority: o.Spec.Priority, Shown: len(o.docs), Labels: o.Labels, Pinned: pinned})
	}
	_ = write.Encode(slices.Sorted(maps.Keys(s.alone)))
	s.print = h.Sum64()
	return s
}

// past is what is kept of a snapshot that is no longer the present: enough to say what has changed since.
func (s *snapshot) past() *snapshot {
	old := *s
	old.sources = slices.Clone(s.sources)
	for i := range old.sources {
		old.sources[i].index = nil
	}
	return &old
}

// seen are the catalogs that a namespace sees: its own and, unless it does without, the global ones. No namespace sees all.
func (s *snapshot) seen(namespace, global string) []*source {
	var found []*source
	for i := range s.sources {
		from := s.sources[i].Namespace
		if namespace == "" || from == namespace || from == global && !s.alone[namespace] {
			found = append(found, &s.sources[i])
		}
	}
	return found
}

// offers are the packages that a namespace sees, in order.
func (s *snapshot) offers(namespace, global string) []offer {
	seen, n := s.seen(namespace, global), 0
	for _, from := range seen {
		n += len(from.docs)
	}
	all := make([]offer, 0, n)
	for _, from := range seen {
		for _, d := range from.docs {
			all = append(all, offer{namespace: cmp.Or(namespace, from.Namespace), source: from, doc: d})
		}
	}
	slices.SortFunc(all, func(a, b offer) int { return a.compare(&b) })
	return all
}

// find is the first package of a name that a namespace sees.
func (s *snapshot) find(namespace, global, name string) (offer, bool) {
	var first offer
	for _, from := range s.seen(namespace, global) {
		at, ok := slices.BinarySearchFunc(from.docs, name, func(d *document, name string) int { return cmp.Compare(d.name, name) })
		if !ok {
			continue
		}
		o := offer{namespace: cmp.Or(namespace, from.Namespace), source: from, doc: from.docs[at]}
		if first.doc == nil || o.compare(&first) < 0 {
			first = o
		}
	}
	return first, first.doc != nil
}
