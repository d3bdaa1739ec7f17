package image

import (
	"archive/tar"
	"path"
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
		return x.budget.takeFiles(x.merge.put(name.path, &node{target: header.Linkname}))
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
	return x.budget.takeFiles(x.merge.put(name.path, &node{content: n.content, target: n.target}))
}

// files returns the merged image: the kept files, and the links to them as
// files of their own.
func (x *extraction) files() (map[string]extent, error) {
	files := map[string]extent{}
	// Call visit for every file and link, in no particular order
	err := x.merge.root.walk("", func(p string, n *node) error {
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

const (
	whiteoutPrefix = ".wh."
	whiteoutOpaque = ".wh..wh..opq"
	whiteoutMeta   = ".wh..wh." // bookkeeping of a storage driver
)

// entryName is the name of a layer entry, made relative to the image's root.
type entryName struct {
	path     string // clean; "." for the root
	absolute bool   // it was written with a leading slash
}

// parseName cleans the name of a layer entry. Names that climb are refused:
// no tool writes them, and there is nothing good they could mean.
func parseName(name string) (entryName, error) {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return entryName{}, problem(InvalidImage, "a layer holds the name %q, which leads out of the image", steady(name))
		}
	}
	clean := path.Clean("/" + name)[1:]
	if clean == "" {
		clean = "."
	}
	return entryName{path: clean, absolute: strings.HasPrefix(name, "/")}, nil
}

// whiteoutTarget returns what a whiteout entry removes: a path, or everything
// below it. The third result tells whether the entry is a whiteout at all.
func (n entryName) whiteoutTarget() (target string, opaque, ok bool) {
	dir, base := path.Dir(n.path), path.Base(n.path)
	switch {
	case base == whiteoutOpaque:
		return dir, true, true
	case strings.HasPrefix(base, whiteoutMeta):
		return "", false, true
	case strings.HasPrefix(base, whiteoutPrefix):
		hidden := strings.TrimPrefix(base, whiteoutPrefix)
		if hidden == "" || hidden == "." || hidden == ".." {
			return "", false, true
		}
		return path.Join(dir, hidden), false, true
	}
	return "", false, false
}
