package clusterobjectset

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// memory is what is known of sets, so that what has not changed is not checked again. It may be lost at any time.
type memory struct {
	mu   sync.Mutex
	sets map[string]*notes
}

// notes are what is known of a set. Only the pass over the set uses them.
type notes struct {
	// about is what the notes depend on.
	about string
	// phases are the objects of the phases, in their order; nil when they were not read yet.
	phases [][]entry
	// secrets are the versions in which the objects were read.
	secrets map[types.NamespacedName]string
	// found are the names of the phases, where the content is lost and the objects were found in the cluster; nil where it is not.
	found []string
}

// entry is an object of a set.
type entry struct {
	ref rollout.Ref
	// version is the one in which the object was as desired and available; empty when it was not.
	version string
	// left says that a later revision keeps the object.
	left bool
	// unread is why it is not known whether the object has another owner; nil when it is.
	unread error
}

// of returns the notes about a set; empty ones when the set has changed.
func (m *memory) of(set *olmv1.ClusterObjectSet) *notes {
	text, err := json.Marshal([]any{set.UID, set.Generation, set.Labels, set.Annotations})
	if err != nil {
		panic("maps of strings always encode: " + err.Error())
	}
	about := string(text)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sets == nil {
		m.sets = map[string]*notes{}
	}
	if r := m.sets[set.Name]; r != nil && r.about == about {
		return r
	}
	r := &notes{about: about}
	m.sets[set.Name] = r
	return r
}

// learn remembers which objects there are, and where they were read from.
func (n *notes) learn(phases []revision.Phase, secrets map[types.NamespacedName]string) {
	n.phases = make([][]entry, len(phases))
	for i, p := range phases {
		n.phases[i] = make([]entry, len(p.Objects))
		for j, o := range p.Objects {
			n.phases[i][j].ref = rollout.RefOf(o.Unstructured)
		}
	}
	n.secrets, n.found = secrets, nil
}

// kinds are those of the objects.
func (n *notes) kinds() []schema.GroupVersionKind {
	all := map[schema.GroupVersionKind]bool{}
	for _, p := range n.phases {
		for _, e := range p {
			all[e.ref.GroupVersionKind] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	})
}

// check forgets what has changed since it was seen. It returns false when the content may have: then nothing is known.
func (n *notes) check(w watcher) bool {
	for name, version := range n.secrets {
		if now, known := w.secret(name); known && now != version {
			n.phases = nil
		}
	}
	if n.phases == nil {
		return false
	}
	for i := range n.phases {
		for j := range n.phases[i] {
			e := &n.phases[i][j]
			if now, known := w.version(e.ref); !known || now != e.version {
				e.version = ""
			}
		}
	}
	return true
}

// complete reports whether every object was as desired and available.
func (n *notes) complete() bool {
	return n.phases != nil && !slices.ContainsFunc(n.phases, func(p []entry) bool {
		return slices.ContainsFunc(p, func(e entry) bool { return e.version == "" })
	})
}
