package catalog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

// WriteDirectory writes the catalog to <dir>/<package>/catalog.<format>, one
// directory a package, and what belongs to no package to <dir>/catalog.<format>.
//
// dir must be empty or missing. A missing one appears in one step, once all of
// it is written. In one that is there already, the files are written to a
// directory within it and then moved; until all are written, that directory
// holds a file that Load refuses, so that what was interrupted never looks like
// a catalog.
func WriteDirectory(ctx context.Context, dir string, c *Catalog, format Format) error {
	if err := format.check(); err != nil {
		return fmt.Errorf("write catalog to %s: %w", dir, err)
	}
	objects := canonicalOrder(c)
	for _, o := range objects {
		if o.pkg != "" && (o.pkg == "." || !filepath.IsLocal(o.pkg) || strings.ContainsAny(o.pkg, `/\`)) {
			return fmt.Errorf("write catalog to %s: invalid package name %q: it must be the name of a directory, a single local path element", dir, o.pkg)
		}
	}
	if err := writeDirectory(ctx, filepath.Clean(dir), objects, format); err != nil {
		return fmt.Errorf("write catalog to %s: %w", dir, err)
	}
	return nil
}

func writeDirectory(ctx context.Context, dir string, objects []ordered, format Format) error {
	found, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writeBeside(ctx, dir, objects, format)
	case err != nil:
		return err
	case len(found) > 0:
		var names []string
		for _, entry := range found {
			names = append(names, entry.Name())
		}
		return fmt.Errorf("output dir %q must be empty; it has %s", dir, safetext.QuoteList(names))
	}
	return writeWithin(ctx, dir, objects, format)
}

// writeBeside writes to a new directory beside the one that is wanted, and
// renames it.
func writeBeside(ctx context.Context, dir string, objects []ordered, format Format) (err error) {
	parent, name := filepath.Split(dir)
	if err := os.MkdirAll(filepath.Clean(parent), 0o777); err != nil {
		return err
	}
	partial := filepath.Join(parent, "."+name+".partial-"+rand.Text())
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(partial))
		}
	}()
	if err := os.Mkdir(partial, 0o777); err != nil {
		return err
	}
	if err := writeFiles(ctx, partial, objects, format); err != nil {
		return err
	}
	return os.Rename(partial, dir)
}

// unfinished is a file that is no catalog, and says so.
const (
	unfinished     = "unfinished.yaml"
	unfinishedText = "The writing of this catalog was interrupted. Delete the directory.\n"
)

// writeWithin fills a directory that may be a mount, which cannot be renamed.
func writeWithin(ctx context.Context, dir string, objects []ordered, format Format) (err error) {
	partial := filepath.Join(dir, "partial-"+rand.Text())
	moved := []string{partial}
	defer func() {
		if err == nil {
			return
		}
		for _, path := range moved {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}()
	if err := os.Mkdir(partial, 0o777); err != nil {
		return err
	}
	mark := filepath.Join(partial, unfinished)
	if err := os.WriteFile(mark, []byte(unfinishedText), 0o666); err != nil {
		return err
	}
	if err := writeFiles(ctx, partial, objects, format); err != nil {
		return err
	}
	if err := os.Remove(mark); err != nil {
		return err
	}
	// From here on everything is there, in one place or the other.
	written, err := os.ReadDir(partial)
	if err != nil {
		return err
	}
	for _, entry := range written {
		to := filepath.Join(dir, entry.Name())
		if err := os.Rename(filepath.Join(partial, entry.Name()), to); err != nil {
			return err
		}
		moved = append(moved, to)
	}
	return os.Remove(partial)
}

// writeFiles writes a file for each package.
func writeFiles(ctx context.Context, dir string, objects []ordered, format Format) error {
	for len(objects) > 0 {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("stopped before the end: %w", err)
		}
		pkg := objects[0].pkg
		n := slices.IndexFunc(objects, func(o ordered) bool { return o.pkg != pkg })
		if n < 0 {
			n = len(objects)
		}
		if err := writeFile(filepath.Join(dir, pkg), objects[:n], format); err != nil {
			return err
		}
		objects = objects[n:]
	}
	return nil
}

func writeFile(dir string, objects []ordered, format Format) (err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, "catalog."+string(format)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file, objects, format)
}
