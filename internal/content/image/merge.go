package image

import (
	"path"
	"strings"
)

// extent is where the content of a file lies in a pack.
type extent struct {
	Offset int64 `json:"o"`
	Size   int64 `json:"s"`
}

// node is a name in the merged image: a directory, a kept file, or a symbolic
// link. Names that are not kept have no node.
type node struct {
	children map[string]*node // of a directory, nil otherwise
	target   string           // of a symbolic link, "" otherwise
	content  extent           // of a file
	layer    int              // that brought it
	pruned   int              // directory: no node below is from a layer under this one
}

// merger applies the entries of layers, bottom layer first, to one tree. It
// holds names and extents only.
type merger struct {
	root  *node
	layer int // being applied, from 1
}

func newMerger() *merger {
	return &merger{root: &node{children: map[string]*node{}}}
}

// put sets the file or link at p, in place of whatever is there. It returns
// how many directories that took.
func (m *merger) put(p string, n *node) (created int) {
	m.clear(p, false)
	dir := m.root
	names := strings.Split(p, "/")
	for _, name := range names[:len(names)-1] {
		next := dir.children[name]
		if next == nil {
			next = &node{children: map[string]*node{}, layer: m.layer, pruned: m.layer}
			dir.children[name] = next
			created++
		}
		dir = next
	}
	n.layer = m.layer
	dir.children[names[len(names)-1]] = n
	return created
}

// clear makes way for an entry at p: what it replaces goes, and so does a file
// or link that stands where p needs a directory. A directory entry does not
// replace a directory.
func (m *merger) clear(p string, isDir bool) {
	dir := m.root
	names := strings.Split(p, "/")
	for i, name := range names {
		next := dir.children[name]
		if next == nil {
			return
		}
		last := i == len(names)-1
		if next.children == nil || last && !isDir {
			delete(dir.children, name)
			return
		}
		dir = next
	}
}

// whiteout removes p as far as it comes from lower layers.
func (m *merger) whiteout(p string) {
	dir := m.find(path.Dir(p))
	if dir == nil || dir.children == nil {
		return
	}
	name := path.Base(p)
	switch n := dir.children[name]; {
	case n == nil:
	case n.children != nil:
		m.prune(n)
	case n.layer < m.layer:
		delete(dir.children, name)
	}
}

// prune removes what lower layers brought below dir. Doing so twice in one
// layer costs nothing, so that a layer of whiteouts stays cheap.
func (m *merger) prune(dir *node) {
	if dir.pruned == m.layer {
		return
	}
	dir.pruned = m.layer
	for name, n := range dir.children {
		switch {
		case n.children != nil:
			m.prune(n)
			if len(n.children) == 0 {
				delete(dir.children, name)
			}
		case n.layer < m.layer:
			delete(dir.children, name)
		}
	}
}

// find returns the node at p, without following links.
func (m *merger) find(p string) *node {
	n := m.root
	if p == "." {
		return n
	}
	for _, name := range strings.Split(p, "/") {
		if n = n.children[name]; n == nil {
			return nil
		}
	}
	return n
}

// maxHops bounds the links followed to resolve one.
const maxHops = 10

// resolve follows the link at p to a kept file. Targets are taken within the
// image: an absolute one starts at its root, and nothing is above the root.
func (m *merger) resolve(p string) (extent, bool) {
	pending := strings.Split(p, "/")
	at := []*node{m.root} // the directory reached, and those above it
	for hops := 0; len(pending) > 0; {
		name := pending[0]
		pending = pending[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = at[:max(len(at)-1, 1)]
			continue
		}
		n := at[len(at)-1].children[name]
		switch {
		case n == nil:
			return extent{}, false
		case n.children != nil:
			at = append(at, n)
		case n.target == "":
			return n.content, len(pending) == 0
		default:
			if hops++; hops > maxHops {
				return extent{}, false
			}
			if strings.HasPrefix(n.target, "/") {
				at = at[:1]
			}
			pending = append(strings.Split(n.target, "/"), pending...)
		}
	}
	return extent{}, false
}

func (n *node) walk(prefix string, visit func(p string, n *node) error) error {
	for name, child := range n.children {
		p := prefix + name
		if child.children == nil {
			if err := visit(p, child); err != nil {
				return err
			}
		} else if err := child.walk(p+"/", visit); err != nil {
			return err
		}
	}
	return nil
}
