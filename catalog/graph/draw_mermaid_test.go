package graph

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestMermaidReadsIt draws names that mean something in the grammar of mermaid:
// words where an identifier begins, dashes that begin arrows, directives,
// Markdown and HTML. Identifiers and labels have to be as the grammar wants them.
func TestMermaidReadsIt(t *testing.T) {
	node := regexp.MustCompile(`^ +([\w.-]+)\["([^"]+)"\](?:-- (?:skip|replace|"skipRange\([^"]+\)") --> ([\w.-]+)\["([^"]+)"\])?$`)
	subgraph := regexp.MustCompile(`^ +subgraph (?:([\w.-]+)\[)?"([^"]+)"\]?$`)
	arrow := regexp.MustCompile(`-([^\w]|$)`)
	word := regexp.MustCompile(`^(` + strings.Join(mermaidWords, "|") + `)\b`)
	markup := regexp.MustCompile("`|%%|<[a-zA-Z/!?]")
	odd := []string{"-", "a--b", "a-.b", "a->b", "a-", ".-", "`b", "%%{init: {'theme':'dark'}}%%", `a"b`, "a\nb", "\n", "<b>", "</b>", "<!--", "#35;", " ", "]b[", "a;b", "ü"}
	for _, name := range append(slices.Concat(odd, mermaidWords), "end-x", "class.x") {
		c := &catalog.Catalog{}
		for _, names := range [][3]string{{name, "c", "e"}, {"p", name, "e"}, {"p", "c", name}} {
			c.Packages = append(c.Packages, catalog.Package{Name: names[0]})
			c.Channels = append(c.Channels, catalog.Channel{Package: names[0], Name: names[1], Entries: []catalog.Entry{{Name: names[2], Replaces: names[2] + "-"}}})
			c.Deprecations = append(c.Deprecations, catalog.Deprecations{Package: names[0], Entries: []catalog.Deprecation{
				{Reference: catalog.Reference{Schema: catalog.SchemaPackage}, Message: "m"},
				{Reference: catalog.Reference{Schema: catalog.SchemaChannel, Name: names[1]}, Message: "m"},
				{Reference: catalog.Reference{Schema: catalog.SchemaBundle, Name: names[2]}, Message: "m"},
			}})
		}
		for _, line := range mermaidBody(t, c) {
			var ids, labels []string
			if m := node.FindStringSubmatch(line); m != nil {
				ids, labels = []string{m[1], m[3]}, []string{m[2], m[4]}
			} else if m := subgraph.FindStringSubmatch(line); m != nil {
				if labels = []string{m[2]}; m[1] != "" {
					ids = []string{m[1]}
				}
			} else if strings.HasPrefix(line, "  style ") || strings.HasPrefix(line, "  class ") {
				ids = strings.Split(strings.Fields(line)[1], ",")
			} else {
				t.Errorf("%q: a line that is none: %s", name, line)
			}
			for _, id := range ids {
				if arrow.MatchString(id) || word.MatchString(id) {
					t.Errorf("%q: no identifier: %q in %s", name, id, line)
				}
			}
			if slices.ContainsFunc(labels, markup.MatchString) {
				t.Errorf("%q: the label has a meaning: %s", name, line)
			}
		}
	}
}

// mermaidBody are the lines that draw something.
func mermaidBody(t *testing.T, c *catalog.Catalog) []string {
	t.Helper()
	p := must.Value(NewPicture(c, DrawOptions{}))(t)
	var out bytes.Buffer
	must.NoError(t, p.Draw(&out, Mermaid))
	return slices.DeleteFunc(strings.Split(out.String(), "\n")[1:], func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.TrimSpace(line) == "end" || strings.Contains(line, "classDef ") || strings.HasPrefix(strings.TrimSpace(line), "%% ")
	})
}

// TestMermaidKeepsApart has packages and channels whose names, joined by dashes,
// are the same.
func TestMermaidKeepsApart(t *testing.T) {
	c := &catalog.Catalog{}
	for _, names := range [][2]string{{"a", "b-c"}, {"a-b", "c"}, {"a-b-c", "x"}, {"=a", "b-c"}} {
		c.Channels = append(c.Channels, catalog.Channel{Package: names[0], Name: names[1], Entries: []catalog.Entry{{Name: "e"}}})
	}
	seen := map[string]bool{}
	for _, line := range mermaidBody(t, c) {
		id, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "subgraph "), "[")
		if id = strings.Trim(id, `"`); seen[id] {
			t.Errorf("%s stands for two things", id)
		}
		seen[id] = true
	}
	if len(seen) != 12 {
		t.Errorf("%d things are drawn, want 12", len(seen))
	}
}
