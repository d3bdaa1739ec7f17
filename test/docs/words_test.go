package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// unused are the words that the last table of docs/glossary.md rules out, as far as they have no other meaning in prose.
var unused = regexp.MustCompile(`(?i)\b(somebody|nobody|anybody|whoever|anew|heal(s|ed|ing)?|take[sn]? over|taking over|took over|taken out|let go|gone back|goes back to|look(s|ed|ing)? at|patience|haste|lull|roll-outs?|in the words of|wish(es)?)\b`)

// printed is what a page shows of a program, which has words of its own: blocks, and what is between back-quotes or quotes.
var printed = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|\\]\\([^)\n]*\\)")

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
