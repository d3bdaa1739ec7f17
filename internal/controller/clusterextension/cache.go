package clusterextension

import (
	"slices"
	"sync"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// maxContents is how many contents are kept that were rendered and could not be written yet. One may have 20 MB; others are rendered again.
const maxContents = 8

// contents are what was rendered and could not be written yet, by the names of extensions: the latest few.
type contents struct {
	mu    sync.Mutex
	names []string // the oldest first
	by    map[string]*content
}

// Load returns what is kept for an extension.
func (k *contents) Load(name string) (*content, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	made, ok := k.by[name]
	return made, ok
}

// Store keeps the content of an extension, in the place of that which was used longest ago where there are too many.
func (k *contents) Store(name string, made *content) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(name)
	if len(k.names) == maxContents {
		k.drop(k.names[0])
	}
	if k.by == nil {
		k.by = map[string]*content{}
	}
	k.names, k.by[name] = append(k.names, name), made
}

// Delete drops the content of an extension.
func (k *contents) Delete(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(name)
}

func (k *contents) drop(name string) {
	if i := slices.Index(k.names, name); i >= 0 {
		k.names = slices.Delete(k.names, i, i+1)
		delete(k.by, name)
	}
}

// propertyNotes are the properties of the bundles of active revisions, by the names of those.
type propertyNotes struct {
	mu sync.Mutex
	by map[string]readProperties
}

// readProperties are properties and the text that they were read from.
type readProperties struct {
	text       string
	properties []catalog.Property
}

func (n *propertyNotes) load(revision, text string) ([]catalog.Property, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, ok := n.by[revision]
	return known.properties, ok && known.text == text
}

func (n *propertyNotes) store(revision, text string, properties []catalog.Property) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.by == nil {
		n.by = map[string]readProperties{}
	}
	n.by[revision] = readProperties{text: text, properties: properties}
}

// keep drops what is known of revisions that are not active any more. The revisions are all that there are.
func (n *propertyNotes) keep(all []olmv1.ClusterObjectSet) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.by) == 0 {
		return
	}
	stay := map[string]bool{}
	for i := range all {
		if revision.Active(&all[i]) {
			stay[all[i].Name] = true
		}
	}
	if len(n.by) <= len(stay) {
		return // nearly always: then there is nothing to look for
	}
	for name := range n.by {
		if !stay[name] {
			delete(n.by, name)
		}
	}
}
