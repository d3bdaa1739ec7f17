package bundleio

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"

	"fairlead.dev/fairlead/internal/content/image"
)

// Pushed is an image in a registry.
type Pushed struct {
	Ref    string `json:"ref"` // as it was asked for
	Digest string `json:"digest"`
	Image  string `json:"image"` // by digest
}

// CatalogTree pushes the files of a catalog as they are, as a catalog image with further labels.
func CatalogTree(ctx context.Context, tree fs.FS, ref string, labels map[string]string) (Pushed, error) {
	if _, err := fs.ReadDir(tree, "."); err != nil {
		return Pushed{}, fmt.Errorf("push catalog to %s: %w; name the directory of the catalog's files", ref, err)
	}
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, image.CatalogLabels())
	digest, err := image.Push(ctx, ref, below{"configs", tree}, all, image.PushOptions{})
	if err != nil {
		return Pushed{}, err
	}
	return Pushed{Ref: ref, Digest: digest, Image: image.Pin(ref, digest)}, nil
}

// below shows a tree as a directory of another, which holds nothing else, to the one who walks it.
type below struct {
	dir  string
	tree fs.FS
}

// Open implements fs.FS.
func (b below) Open(name string) (fs.File, error) {
	inner, err := b.inner("open", name)
	if err != nil {
		return nil, err
	}
	return b.tree.Open(inner)
}

// Stat implements fs.StatFS.
func (b below) Stat(name string) (fs.FileInfo, error) {
	inner, err := b.inner("stat", name)
	if err != nil {
		return nil, err
	}
	return fs.Stat(b.tree, inner)
}

// ReadDir implements fs.ReadDirFS.
func (b below) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		inner, err := b.inner("read", name)
		if err != nil {
			return nil, err
		}
		return fs.ReadDir(b.tree, inner)
	}
	info, err := fs.Stat(b.tree, ".")
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(named{info, b.dir})}, nil
}

// inner is the path in the tree. The root has none of its own: it stands for that of the tree, a directory as well.
func (b below) inner(op, name string) (string, error) {
	rest, ok := strings.CutPrefix(name+"/", b.dir+"/")
	switch {
	case name == ".":
		return ".", nil
	case !ok:
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return path.Clean(rest), nil
}

type named struct {
	fs.FileInfo
	name string
}

// Name implements fs.FileInfo.
func (n named) Name() string { return n.name }
