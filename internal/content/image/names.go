package image

import (
	"path"
	"strings"
	"unicode/utf8"
)

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

// keepable tells whether the name can be one in an fs.FS.
func (n entryName) keepable() bool { return n.path != "." && utf8.ValidString(n.path) }
