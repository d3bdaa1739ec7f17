package catalog

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/indexignore"
)

// walker lists the files of a catalog in the order of their paths, each
// directory at the place of its name.
type walker struct {
	ctx      context.Context
	fsys     fs.FS
	limits   Limits
	seen     int // files and directories
	files    []string
	problems Problems
}

func (w *walker) walk() {
	root, err := fs.Stat(w.fsys, ".")
	if err != nil {
		w.unreadable(".", err)
		return
	}
	w.dir(".", indexignore.Rules{}, []fs.FileInfo{root})
}

// dir lists a directory. above holds the directory and those it is in, by
// which a symbolic link that leads back up is recognised.
func (w *walker) dir(name string, rules indexignore.Rules, above []fs.FileInfo) {
	entries, err := w.readDir(name)
	if err != nil {
		w.unreadableDir(name, rules, err)
		return
	}
	rules = w.ignoreRules(name, rules)
	for _, entry := range entries {
		if w.ctx.Err() != nil || w.seen > w.limits.Files {
			return
		}
		if entry.Name() != ignoreFile {
			w.entry(path.Join(name, entry.Name()), entry, rules, above)
		}
	}
}

func (w *walker) entry(name string, entry fs.DirEntry, rules indexignore.Rules, above []fs.FileInfo) {
	if w.seen++; w.seen > w.limits.Files {
		w.tooMany(name)
		return
	}
	if !entry.IsDir() && rules.Ignored(name) {
		return
	}
	info, err := fs.Stat(w.fsys, name) // follows symbolic links
	switch {
	case err != nil && entry.IsDir():
		w.unreadableDir(name, rules, err)
	case err != nil:
		w.unreadable(name, err)
	case info.IsDir():
		// Names that begin with two dots are internal to mounted volumes; links may lead back to a directory above.
		back := slices.ContainsFunc(above, func(dir fs.FileInfo) bool { return os.SameFile(info, dir) })
		if !strings.HasPrefix(entry.Name(), "..") && !back {
			w.dir(name, rules, append(above[:len(above):len(above)], info))
		}
	case info.Mode().IsRegular():
		w.files = append(w.files, name)
	default:
		w.report(Warning, RuleFileNotCatalog, name, "this is neither a file nor a directory; it was passed over", "")
	}
}

// unreadableDir reports a directory. One that is left out may hold files that
// are taken back in, but need not.
func (w *walker) unreadableDir(name string, rules indexignore.Rules, err error) {
	if !rules.IgnoredDir(name) {
		w.unreadable(name, err)
		return
	}
	w.report(Warning, RuleFileUnreadable, name, fmt.Sprintf("the directory, which is left out, cannot be read: %v", err), "")
}

func (w *walker) tooMany(name string) {
	w.report(Error, RuleLimit, name, fmt.Sprintf("there are more than %d files and directories", w.limits.Files),
		"split the catalog, or raise the limit on files")
}

func (w *walker) unreadable(name string, err error) {
	w.report(Error, RuleFileUnreadable, name, fmt.Sprintf("cannot be read: %v", err),
		"make it readable, remove it, or list it in an .indexignore file")
}

func (w *walker) report(severity Severity, rule Rule, name, message, fix string) {
	w.problems = append(w.problems, Problem{
		Severity: severity, Rule: rule, Position: Position{File: name}, Message: message, Fix: fix,
	})
}
