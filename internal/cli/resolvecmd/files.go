package resolvecmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"fairlead.dev/fairlead/internal/ops/preview"
)

// readFiles reads the objects that are named into a question.
func (f *subject) readFiles(q *preview.Question) error {
	for _, name := range f.files {
		if err := f.read(name, &q.Objects); err != nil {
			return err
		}
	}
	var installed preview.Objects
	for _, name := range f.installedFiles() {
		if err := f.read(name, &installed); err != nil {
			return err
		}
	}
	q.Objects.Install(installed.Operators)
	q.Notes = append(q.Notes, q.Objects.Unknown...)
	for _, object := range append(q.Objects.Unread(), installed.Others()...) {
		q.Notes = append(q.Notes, object+" is not read")
	}
	return nil
}

// read adds the objects of a file.
func (f *subject) read(name string, into *preview.Objects) error {
	if name == "-" {
		return into.Decode("standard input", f.streams.In)
	}
	file, err := os.Open(name)
	if err != nil {
		return unreadable(name, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return unreadable(name, err)
	}
	return into.Decode(name, file)
}

// unreadable says what to do about a file that is not there to be read; without an error it is a directory.
func unreadable(name string, err error) error {
	why := fmt.Sprint(err)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		why = failed.Err.Error()
	}
	switch {
	case err == nil:
		return fmt.Errorf("read objects from %s: it is a directory; name its files, each with -f; a catalog is named with --catalog NAME=%s", name, name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read objects from %s: there is no such file; correct its name, or write - for standard input", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("read objects from %s: %s; let this user read it", name, why)
	}
	return fmt.Errorf("read objects from %s: %s", name, why)
}
