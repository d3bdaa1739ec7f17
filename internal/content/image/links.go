package image

import (
	"archive/tar"
	"strings"
)

// link applies a link. A hard link is another name for what its target is now;
// it is dropped when that was not kept. Symbolic links are resolved at the end.
func (x *extraction) link(name entryName, header *tar.Header) error {
	ok, err := x.keep(name)
	if err != nil || !ok {
		return err
	}
	if len(header.Linkname) > x.budget.limits.PathLength {
		return exceeded("PathLength", x.budget.limits.PathLength, "its link %q has a target of %d bytes", name.path, len(header.Linkname))
	}
	if header.Typeflag == tar.TypeSymlink {
		if header.Linkname == "" {
			x.merge.clear(name.path, false)
			return nil
		}
		return x.put(name, &node{target: header.Linkname})
	}
	target, err := parseName(header.Linkname)
	if err != nil {
		return err
	}
	n := x.merge.find(target.path)
	if n == nil || n.children != nil {
		x.merge.clear(name.path, false)
		return nil
	}
	if err := x.budget.takeContent(name.path, n.content.Size); err != nil {
		return err
	}
	return x.put(name, &node{content: n.content, target: n.target})
}

// files returns the merged image: the kept files, and the links to them as
// files of their own.
func (x *extraction) files() (map[string]extent, error) {
	files := map[string]extent{}
	err := x.merge.walk(func(p string, n *node) error {
		content, ok := n.content, true
		if n.target != "" {
			if content, ok = x.merge.resolve(p); ok {
				if err := x.budget.takeContent(p, content.Size); err != nil {
					return err
				}
			}
		}
		if ok {
			files[strings.Clone(p)] = content
		}
		return nil
	})
	return files, err
}
