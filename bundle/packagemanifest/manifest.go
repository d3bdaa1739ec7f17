package packagemanifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// Package is a package as its package file describes it.
type Package struct {
	PackageName    string    `json:"packageName"`
	DefaultChannel string    `json:"defaultChannel"`
	Channels       []Channel `json:"channels"`
}

// Channel is a channel of a package: whatever its head replaces belongs to it.
type Channel struct {
	Name       string `json:"name"`
	CurrentCSV string `json:"currentCSV"`
}

// maxManifest bounds a package file, maxChannels what it lists.
const (
	maxManifest = 256 << 10
	maxChannels = 1000
)

// parse reads a package file, and all that is wrong with it. ok is false if the text is something else: a file with the usual name needs
// only one of the keys of package files to be one, so that a slip in the other is told as such.
func parse(name string, text []byte) (m *Package, problems catalog.Problems, ok bool) {
	var kind struct {
		Schema      any `json:"schema"`
		Kind        any `json:"kind"`
		PackageName any `json:"packageName"`
		Channels    any `json:"channels"`
	}
	asJSON, err := catalog.ToJSON(text)
	if err != nil || json.Unmarshal(asJSON, &kind) != nil || kind.Schema != nil || kind.Kind != nil {
		return nil, nil, false
	}
	hasName, hasChannels := kind.PackageName != nil, kind.Channels != nil
	if !hasName && !hasChannels || !(hasName && hasChannels) && !isPackageFile(path.Base(name)) {
		return nil, nil, false
	}
	m = &Package{}
	k := &checker{manifest: m, file: bundle.File{Name: name, Data: text}}
	k.lines = k.file.Lines()
	err = json.Unmarshal(asJSON, m)
	var form *json.UnmarshalTypeError
	const fix = "write packageName, channels with name and currentCSV, and defaultChannel"
	switch {
	case errors.As(err, &form):
		k.add(RuleForm, form.Field, fmt.Sprintf("%s is of the wrong type: %s", form.Field, form.Value), fix)
	case err != nil:
		k.add(RuleForm, "", err.Error(), fix)
	default:
		k.check()
	}
	return m, k.problems, true
}

// source is a package file and the directory that it is about.
type source struct {
	dir, file string
	manifest  *Package
	lines     bundle.Lines
	problems  catalog.Problems
}

// at is where a field of the package file is.
func (s source) at(field string) catalog.Position {
	return catalog.Position{File: s.file, Line: s.lines.Of(field)}
}

// Is tells whether a tree has the layout: whether there is a package file at its root, or one with its usual name in a directory
// directly below.
func Is(tree fs.FS) bool { return len(find(tree)) > 0 }

// find looks for package files. What cannot be read is no reason to stop: the one who reads the tree next will say so.
func find(tree fs.FS) []source {
	if root := findIn(tree, ".", isYAML); len(root) > 0 {
		return root
	}
	entries, err := fs.ReadDir(tree, ".")
	if err != nil || len(entries) > maxEntries {
		return nil
	}
	var found []source
	for _, entry := range entries {
		if entry.IsDir() {
			found = append(found, findIn(tree, entry.Name(), isPackageFile)...)
		}
	}
	return found
}

// findIn looks for the package file of one directory. A second one is a problem of the first.
func findIn(tree fs.FS, dir string, candidate func(string) bool) []source {
	entries, err := fs.ReadDir(tree, dir)
	if err != nil || len(entries) > maxEntries {
		return nil
	}
	// The usual name first.
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return order(isPackageFile(a.Name())) - order(isPackageFile(b.Name())) })
	var found []source
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if entry.IsDir() || !candidate(entry.Name()) {
			continue
		}
		text, err := readFile(tree, name, maxManifest)
		if err != nil {
			continue
		}
		m, problems, ok := parse(name, text)
		switch {
		case !ok:
		case len(found) == 0:
			found = []source{{dir: dir, file: name, manifest: m, lines: bundle.File{Name: name, Data: text}.Lines(), problems: problems}}
		default:
			found[0].problems = append(found[0].problems, catalog.Problem{
				Severity: catalog.Error, Rule: RuleTwice, Position: catalog.Position{File: name},
				Object:  catalog.Object{Schema: catalog.SchemaPackage, Name: found[0].manifest.PackageName},
				Message: fmt.Sprintf("it is a package file, and %s is one, too", found[0].file), Fix: "keep one in a directory",
			})
		}
	}
	return found
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

func isPackageFile(name string) bool {
	return isYAML(name) && strings.HasSuffix(strings.TrimSuffix(name, path.Ext(name)), "package")
}

func isYAML(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) && !strings.HasPrefix(name, ".")
}

var (
	errTooLarge = errors.New("it is too large")
	errNoFile   = errors.New("it is neither a file nor a link to one")
)

// readFile reads a regular file: opening others, such as a pipe, may never end.
func readFile(tree fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(tree, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	file, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%w: the limit is %d bytes", errTooLarge, limit)
	}
	return text, err
}
