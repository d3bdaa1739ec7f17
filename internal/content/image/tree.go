package image

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// content is what a file of a tree holds.
type content struct {
	from io.ReaderAt
	extent
}

// tree is a read-only file system of regular files, made of names and places
// to read from. It is safe for concurrent use.
type tree struct {
	files map[string]content
	dirs  map[string][]fs.DirEntry // sorted by name
}

// Files returns an in-memory file system with the given contents by path, for
// Push. It refuses paths that fs.ValidPath refuses, and files that stand where
// another path needs a directory.
func Files(files map[string][]byte) (fs.FS, error) {
	contents := make(map[string]content, len(files))
	for name, data := range files {
		contents[name] = content{bytes.NewReader(data), extent{Size: int64(len(data))}}
	}
	t := newTree(contents)
	for name := range files {
		if _, ok := t.files[name]; !ok {
			return nil, fmt.Errorf("make a file system: %q cannot be the path of a file in it; use a relative path without dots that is no directory of another file", name)
		}
	}
	return t, nil
}

// newTree leaves out what cannot be a file in an fs.FS.
func newTree(files map[string]content) *tree {
	t := &tree{files: map[string]content{}, dirs: map[string][]fs.DirEntry{".": nil}}
	for name := range files {
		if fs.ValidPath(name) && name != "." {
			t.mkdir(path.Dir(name))
		}
	}
	for name, c := range files {
		if _, isDir := t.dirs[name]; isDir || !fs.ValidPath(name) {
			continue
		}
		t.files[name] = c
		t.link(name, stat{name: path.Base(name), size: c.Size})
	}
	for _, entries := range t.dirs {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t
}

func (t *tree) mkdir(dir string) {
	if _, ok := t.dirs[dir]; ok {
		return
	}
	t.dirs[dir] = nil
	t.mkdir(path.Dir(dir))
	t.link(dir, stat{name: path.Base(dir), dir: true})
}

func (t *tree) link(name string, s stat) {
	parent := path.Dir(name)
	t.dirs[parent] = append(t.dirs[parent], fs.FileInfoToDirEntry(s))
}

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if c, ok := t.files[name]; ok {
		return &openFile{opened{stat{name: path.Base(name), size: c.Size}}, io.NewSectionReader(c.from, c.Offset, c.Size)}, nil
	}
	if entries, ok := t.dirs[name]; ok {
		return &openDir{opened{stat{name: path.Base(name), dir: true}}, name, entries}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadFile implements fs.ReadFileFS.
func (t *tree) ReadFile(name string) ([]byte, error) {
	c, ok := t.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: t.absence(name)}
	}
	data := make([]byte, c.Size)
	if n, err := c.from.ReadAt(data, c.Offset); n < len(data) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// ReadDir implements fs.ReadDirFS.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, ok := t.dirs[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: t.absence(name)}
	}
	return slices.Clone(entries), nil
}

// absence tells why name is not the kind of thing that was asked for.
func (t *tree) absence(name string) error {
	_, isFile := t.files[name]
	_, isDir := t.dirs[name]
	if !fs.ValidPath(name) || isFile || isDir {
		return fs.ErrInvalid
	}
	return fs.ErrNotExist
}

// stat is the fs.FileInfo of everything in a tree: sizes are real, times and
// permissions are the same for all.
type stat struct {
	name string
	size int64
	dir  bool
}

func (s stat) Name() string       { return s.name }
func (s stat) Size() int64        { return s.size }
func (s stat) IsDir() bool        { return s.dir }
func (s stat) ModTime() time.Time { return time.Time{} }
func (s stat) Sys() any           { return nil }

func (s stat) Mode() fs.FileMode {
	if s.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// opened is what open files and directories have in common.
type opened struct{ stat stat }

func (o opened) Stat() (fs.FileInfo, error) { return o.stat, nil }
func (o opened) Close() error               { return nil }

// openFile is an open file; the SectionReader gives Read, ReadAt and Seek.
type openFile struct {
	opened
	*io.SectionReader
}

// openDir is an open directory.
type openDir struct {
	opened
	name string
	rest []fs.DirEntry
}

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	entries := slices.Clone(d.rest[:n])
	d.rest = d.rest[n:]
	return entries, nil
}
