package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
)

// Files are the files of a tree that Load reads, in its order, and what it has
// to say about those it does not.
func Files(ctx context.Context, fsys fs.FS) ([]string, Problems, error) {
	if fsys == nil {
		return nil, nil, errors.New("list the files of a catalog: no file system was given")
	}
	w := &walker{ctx: ctx, fsys: fsys, limits: Limits{}.withDefaults()}
	w.walk()
	if err := context.Cause(ctx); err != nil {
		return nil, nil, fmt.Errorf("list the files of a catalog: stopped before the end: %w", err)
	}
	return w.files, w.problems, nil
}

// Fingerprint identifies, as "sha256:<hex>", the content of a catalog as input
// of Load: the names and bytes of the files that Load reads, and what it has to
// say about those it does not. Nothing else counts, such as times or the files
// that an .indexignore file leaves out. What is larger than Load reads by
// default is an error.
func Fingerprint(ctx context.Context, fsys fs.FS) (string, error) {
	files, problems, err := Files(ctx, fsys)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, p := range problems {
		fmt.Fprintf(sum, "problem %q\n", p)
	}
	buffer := make([]byte, 1<<20)
	limits, total := Limits{}.withDefaults(), int64(0)
	for _, name := range files {
		m := &meter{ctx: ctx, file: limits.FileBytes, total: &total, totalLimit: limits.TotalBytes}
		err := addFile(ctx, sum, fsys, name, m, buffer)
		if limit := (*limitError)(nil); errors.As(err, &limit) {
			err = fmt.Errorf("%w; split the file or the catalog, or list the file in an .indexignore file", err)
		}
		if err != nil {
			return "", fmt.Errorf("take the fingerprint of a catalog: %s: %w", name, err)
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// addFile adds a name and the digest of a content, so that no two trees run
// together. The content is read through the meter.
func addFile(ctx context.Context, sum hash.Hash, fsys fs.FS, name string, m *meter, buffer []byte) error {
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	m.in = file
	content := sha256.New()
	for {
		n, err := m.Read(buffer)
		content.Write(buffer[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("stopped before the end: %w", context.Cause(ctx))
		}
	}
	fmt.Fprintf(sum, "file %q %x\n", name, content.Sum(nil))
	return nil
}
