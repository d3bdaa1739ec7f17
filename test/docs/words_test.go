package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// unused are the words that the last table of docs/glossary.md rules out, as far as they have no other meaning in prose.
var unused = regexp.MustCompile(`(?i)\b(somebody|nobody|anybody|whoever|anew|heal(s|ed|ing)?|take[sn]? over|taking over|took over|taken out|let go|gone back|goes back to|look(s|ed|ing)? at|patience|haste|lull|roll-outs?|in the words of|wish(es)?|held back|goes on|had again|authorities)\b`)

// printed is what a page shows of a program, which has words of its own: blocks, and what is between back-quotes or quotes. The timestamp
// authorities are those of Sigstore.
var printed = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|\\]\\([^)\n]*\\)|timestamp authorities")

// TestWords keeps out of the documents what the glossary rules out.
func TestWords(t *testing.T) {
	// The documents of the project, but for the lists of tests and of differences, which quote others.
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/runbooks/*.md", "config/*.md", "examples/*.md"} {
		found := must.Value(filepath.Glob(filepath.Join(root, pattern)))(t)
		all = append(all, found...)
	}
	if len(all) < 40 {
		t.Fatalf("found only %d pages", len(all))
	}
	for _, page := range all {
		content := must.Value(os.ReadFile(page))(t)
		text := string(content)
		if strings.HasSuffix(page, "glossary.md") {
			text, _, _ = strings.Cut(text, "## Words that are not used")
		}
		for _, found := range misworded(text) {
			t.Errorf("%s:%s: docs/glossary.md has the word to write", page, found)
		}
	}
}

// TestWordsOfCode keeps them out of what the programs print, out of comments and of the manifests. The code of tests, and what is generated, is
// not read.
func TestWordsOfCode(t *testing.T) {
	read := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata" || strings.HasPrefix(name, ".") && len(name) > 2 || path == filepath.Join(root, "test")):
			return filepath.SkipDir
		case strings.HasSuffix(name, "_test.go"), strings.HasPrefix(name, "zz_generated."), strings.HasSuffix(name, ".pb.go"):
			return nil
		case strings.HasSuffix(name, ".go"):
			read++
			wordsOfGo(t, path)
		case strings.HasSuffix(name, ".yaml") && strings.HasPrefix(path, filepath.Join(root, "config")):
			read++
			for i, line := range strings.Split(string(must.Value(os.ReadFile(path))(t)), "\n") {
				report(t, fmt.Sprintf("%s:%d", path, i+1), line, nil)
			}
		}
		return nil
	})
	must.NoError(t, err)
	if read < 1000 {
		t.Fatalf("read only %d files", read)
	}
}

// wordsOfGo reads the comments of a file, which may name what the code does, and the literals that have words between spaces: others are names.
func wordsOfGo(t *testing.T, path string) {
	t.Helper()
	files := token.NewFileSet()
	file := must.Value(parser.ParseFile(files, path, nil, parser.ParseComments))(t)
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			names[strings.ToLower(n.Name)] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Contains(text, " ") {
				report(t, files.Position(n.Pos()).String(), text, nil)
			}
		}
		return true
	})
	for _, group := range file.Comments {
		for _, comment := range group.List {
			report(t, files.Position(comment.Pos()).String(), comment.Text, names)
		}
	}
}

// report fails for what is ruled out in a text that is prose but for what it quotes, and for some names.
func report(t *testing.T, place, text string, names map[string]bool) {
	t.Helper()
	for _, word := range unused.FindAllString(printed.ReplaceAllString(text, "_"), -1) {
		if !names[strings.ToLower(word)] {
			t.Errorf("%s: %q: docs/glossary.md has the word to write", place, word)
		}
	}
}

// misworded returns line and word of what is ruled out in the prose of a page.
func misworded(text string) []string {
	blank := printed.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) + "_" })
	var found []string
	for i, line := range strings.Split(blank, "\n") {
		if strings.HasPrefix(line, "    ") {
			continue // a block
		}
		for _, word := range unused.FindAllString(line, -1) {
			found = append(found, fmt.Sprintf("%d: %q", i+1, word))
		}
	}
	return found
}

func TestMisworded(t *testing.T) {
	for text, want := range map[string]int{
		"a rollout that another client watches":      0,
		"Somebody looks at it.":                      2,
		"a roll-out":                                 1,
		"it prints `nobody knows`, \"look at\"":      0,
		"```console\n$ whoever\n```\nwritten anew":   1,
		"    a block that says nobody":               0,
		"[is adopted](x.md#what-is-taken-over-here)": 0,
	} {
		if got := misworded(text); len(got) != want {
			t.Errorf("%q: %v, want %d", text, got, want)
		}
	}
}
