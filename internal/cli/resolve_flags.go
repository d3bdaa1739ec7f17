package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/version"

	"github.com/spf13/cobra"
)

// offline tells whether everything is named that is decided on, so that no cluster is asked.
func (f *subject) offline() bool { return len(f.catalogs)+len(f.files) > 0 }

// checkCluster refuses an empty version, and to name a cluster and then not to ask it.
func (f *subject) checkCluster(cmd *cobra.Command) error {
	if cmd.Flag("kubernetes").Changed && f.kubernetes == "" {
		return errors.New(`--kubernetes "": it names no version; write one such as 1.31, or leave it out`)
	}
	if given := kubeconfig.Connection(cmd.Flags()); f.offline() && len(given) > 0 {
		return fmt.Errorf("--%s names a cluster, and with --catalog or -f none is asked: leave out one of them", given[0].Name)
	}
	return nil
}

// additions parses what is said in short.
func (f *subject) additions() (preview.Question, error) {
	var q preview.Question
	err := errors.Join(
		parseAll(f.catalogs, preview.ParseOfflineCatalog, &q.Catalogs),
		parseAll(slices.DeleteFunc(slices.Clone(f.installed), isFile), preview.ParseInstalled, &q.Installed),
		parseAll(f.subscribe, preview.ParseRequest, &q.Requests),
		f.filesNamed())
	if f.kubernetes != "" && err == nil {
		if q.Kubernetes, err = version.ParseTolerant(f.kubernetes); err != nil {
			err = fmt.Errorf("--kubernetes %q: %w; write a version such as 1.31", f.kubernetes, err)
		}
	}
	if !f.offline() && len(f.installed)+len(f.from) > 0 && err == nil {
		err = errors.New("what is installed is read from the cluster: leave out --installed and --installed-from, or add --catalog or -f")
	}
	return q, err
}

func parseAll[T any](texts []string, one func(string) (T, error), into *[]T) error {
	for _, text := range texts {
		value, err := one(text)
		if err != nil {
			return err
		}
		*into = append(*into, value)
	}
	return nil
}

// isFile tells whether what is said to be installed is in a file. No ClusterServiceVersion is called like one.
func isFile(text string) bool {
	return text == "-" || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(text))
}

// installedFiles are the files with ClusterServiceVersions.
func (f *subject) installedFiles() []string {
	return slices.Concat(f.from, slices.DeleteFunc(slices.Clone(f.installed), func(text string) bool { return !isFile(text) }))
}

// filesNamed refuses a file without a name, and standard input that is to be read twice.
func (f *subject) filesNamed() error {
	stdin := 0
	for _, name := range slices.Concat(f.files, f.installedFiles()) {
		switch name {
		case "":
			return errors.New(`the name of a file is missing: write one after --filename and --installed-from, or - for standard input`)
		case "-":
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New("standard input is named more than once: write - once")
	}
	return nil
}

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
