package catalog

import (
	"bufio"
	"context"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// Build loads and judges the catalog in fsys, writes an index file to path, and
// opens it. digest identifies the content of fsys. The bytes of objects go to
// the file while the catalog is being read, and never are in memory together.
//
// The file appears at path by one rename, when it is complete and on disk; if
// there already is one it is replaced, and who has it open keeps reading it.
// A process that is killed leaves a file of another name beside it, which
// begins with ".index-". What is wrong with the catalog is no error: the Index
// has it as Problems.
func Build(ctx context.Context, fsys fs.FS, digest string, path string, opts LoadOptions) (*Index, error) {
	// Write the file and return it open: by the time its path is looked up again another file may be there, or none.
	file, err := os.CreateTemp(filepath.Dir(path), ".index-*")
	if err != nil {
		return nil, fmt.Errorf("build catalog index %s: %w", path, err)
	}
	err = fill(ctx, file, fsys, digest, opts)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	var dir *os.File
	if err == nil {
		dir, err = os.Open(filepath.Dir(path))
	}
	if err == nil { // make the rename last; some file systems cannot, and need not
		_ = dir.Sync()
		err = dir.Close()
	}
	if err != nil {
		_ = file.Close()
		_ = os.Remove(file.Name())
		return nil, fmt.Errorf("build catalog index %s: %w", path, err)
	}
	return openFile(file, path)
}

// fill writes the lines, then what follows from the whole catalog, and the
// header last.
func fill(ctx context.Context, file *os.File, fsys fs.FS, digest string, opts LoadOptions) error {
	out := bufio.NewWriterSize(file, 1<<18)
	var h header
	if _, err := out.Write(h.bytes()); err != nil {
		return err
	}
	lines := newSpool(out, int64(headerSize))
	c, err := loadTree(ctx, fsys, opts, lines)
	if err != nil {
		return err
	}
	if lines.err != nil {
		return lines.err
	}
	h.size = lines.offset
	s := encodeIndex(newIndex(newModel(c), digest, lines.sorted()))
	for i, part := range [sectionCount][]byte{s.TextSizes, s.Texts, s.ValueSizes, s.Values, s.Body} {
		h.sections[i] = section{int64(len(part)), crc32.Checksum(part, checksum)}
		h.size += int64(len(part))
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if _, err := file.WriteAt(h.bytes(), 0); err != nil {
		return err
	}
	// Others may be meant to read it: an image can run as any user.
	return file.Chmod(0o644)
}
