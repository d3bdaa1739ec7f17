// Package golden compares what tests make with what archives in their testdata say it is, and writes it there with -update. Each archive is
// in the txtar format, with input and output side by side. It may touch files of testdata only; start reading at Each.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"fairlead.dev/fairlead/test/must"
)

var update = flag.Bool("update", false, "write the golden parts of testdata anew")

// Updating reports whether what tests make is written, for tests with golden files of another format.
func Updating() bool { return *update }

// Archive is a file of testdata.
type Archive struct {
	*txtar.Archive
	file string
}

// Each runs a subtest for each archive whose file matches the pattern, with the name of the file. It fails when there is none.
func Each(t *testing.T, pattern string, test func(*testing.T, *Archive)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives match %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { test(t, Read(t, file)) })
	}
}

// Read reads one archive.
func Read(t *testing.T, file string) *Archive {
	t.Helper()
	return &Archive{Archive: must.Value(txtar.ParseFile(file))(t), file: file}
}

// Without are the files of the archive but those whose names begin with the prefix: what is given, when the prefix is that of what is wanted.
func (a *Archive) Without(prefix string) []txtar.File {
	return slices.DeleteFunc(slices.Clone(a.Files), func(f txtar.File) bool { return strings.HasPrefix(f.Name, prefix) })
}

// Compare compares all files of the archive with these, or makes them its files.
func (a *Archive) Compare(t *testing.T, files []txtar.File) {
	t.Helper()
	if *update {
		must.NoError(t, os.WriteFile(a.file, txtar.Format(&txtar.Archive{Comment: a.Comment, Files: files}), 0o644))
		return
	}
	must.Equal(t, "run with -update if this is right", texts(files), texts(a.Files))
}

// CompareNamed compares the files of the archive that have these names, of which there must be one; what has another name is not wanted.
func (a *Archive) CompareNamed(t *testing.T, got map[string]string) {
	t.Helper()
	files := slices.Clone(a.Files)
	found := false
	for i := range files {
		if text, wanted := got[files[i].Name]; wanted {
			files[i].Data, found = []byte(text), true
		}
	}
	if !found {
		t.Fatal("the archive has no file with what is wanted")
	}
	a.Compare(t, files)
}

// texts are files as a difference between them is best read. A file without its last line break is one with it in an archive.
func texts(files []txtar.File) []string {
	var out []string
	for _, f := range txtar.Parse(txtar.Format(&txtar.Archive{Files: files})).Files {
		out = append(out, f.Name, string(f.Data))
	}
	return out
}
