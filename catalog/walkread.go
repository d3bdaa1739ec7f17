package catalog

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/indexignore"
	"fairlead.dev/fairlead/catalog/safetext"
)

// ignoreFile is the name of the files that leave others out, and maxIgnoreBytes
// and maxIgnorePatterns bound them.
const (
	ignoreFile        = ".indexignore"
	maxIgnoreBytes    = 1 << 20
	maxIgnorePatterns = 10_000
)

// readDir lists a directory in the order of names. One that alone is far over
// the limit on files is not read to its end, and has no entries then.
func (w *walker) readDir(name string) ([]fs.DirEntry, error) {
	const batch = 1024
	file, err := w.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	dir, ok := file.(fs.ReadDirFile)
	if !ok {
		return fs.ReadDir(w.fsys, name)
	}
	var entries []fs.DirEntry
	for {
		more, err := dir.ReadDir(batch)
		entries = append(entries, more...)
		switch {
		case err == io.EOF:
			slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return entries, nil
		case err != nil:
			return nil, err
		case len(entries) > w.limits.Files+batch:
			w.tooMany(name)
			return nil, nil
		case w.ctx.Err() != nil:
			return nil, nil
		}
	}
}

// ignoreRules adds the rules of the directory's .indexignore file, if it has
// one.
func (w *walker) ignoreRules(dir string, rules indexignore.Rules) indexignore.Rules {
	name := path.Join(dir, ignoreFile)
	file, err := w.fsys.Open(name)
	if err != nil {
		if !os.IsNotExist(err) {
			w.unreadable(name, err)
		}
		return rules
	}
	text, err := io.ReadAll(io.LimitReader(file, maxIgnoreBytes+1))
	_ = file.Close()
	if err != nil {
		w.unreadable(name, err)
		return rules
	}
	more, malformed := rules.With(dir, string(text))
	if len(text) > maxIgnoreBytes || more.Len() > maxIgnorePatterns {
		w.report(Error, RuleLimit, name, fmt.Sprintf("the file has more than %d bytes, or there are more than %d patterns", maxIgnoreBytes, maxIgnorePatterns),
			"use fewer, more general patterns")
		return rules
	}
	for _, m := range malformed {
		w.report(Warning, RuleIgnorePattern, name, fmt.Sprintf("%q is not a pattern; it was passed over", safetext.Truncate(m.Text, 100)),
			"write it as in a .gitignore file")
		w.problems[len(w.problems)-1].Position.Line = m.Line
	}
	return more
}
