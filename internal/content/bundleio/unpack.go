package bundleio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/validate"
	"fairlead.dev/fairlead/internal/content/image"
)

// InvalidError says that a bundle was not used because it is not valid.
type InvalidError struct{ Report validate.Report }

func (e *InvalidError) Error() string {
	text := "the bundle is not valid:"
	for _, f := range e.Report.Errors() {
		text += "\n" + f.String()
	}
	return text
}

// Unpack writes all files of a bundle image into a directory, which is made. A bundle that is not valid is refused with an
// *InvalidError, unless unchecked. It returns the reference by digest.
func Unpack(ctx context.Context, r *Renderer, ref, dir string, unchecked bool) (pinned string, err error) {
	source, err := pull(ctx, r, ref, func(labels map[string]string) (func(string) bool, error) {
		_, _, err := image.BundleDirs(labels)
		return func(string) bool { return true }, err
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if !unchecked {
		if err := Check(ctx, source.FS); err != nil {
			return "", fmt.Errorf("unpack bundle %s: %w", ref, err)
		}
	}
	if err := writeTree(source.FS, dir); err != nil {
		return "", fmt.Errorf("unpack bundle %s to %s: %w", ref, dir, err)
	}
	return source.Image, nil
}

// Check returns an *InvalidError if the bundle is not valid.
func Check(ctx context.Context, files fs.FS) error {
	report, err := validate.Run(ctx, bundle.Inspect(files), validate.Options{})
	if err != nil {
		return err
	}
	if !report.Passed {
		return &InvalidError{report}
	}
	return nil
}

// writeTree writes files below a directory, and nothing anywhere else, whatever links the directory holds.
func writeTree(files fs.FS, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var names []string
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		names = append(names, name)
		if _, err := root.Lstat(name); err == nil { // refused before half of the files are written
			return errThere(name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := writeFile(root, files, name); err != nil {
			return err
		}
	}
	return nil
}

// errThere refuses to write a file that is there already.
func errThere(name string) error {
	return fmt.Errorf("%s is there already; remove it, or name another directory", name)
}

func writeFile(root *os.Root, files fs.FS, name string) (err error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	from, err := files.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return errThere(name)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	_, err = io.Copy(to, from)
	return err
}
