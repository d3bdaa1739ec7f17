package depcheck

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

var update = flag.Bool("update", false, "draw the rooms again in docs/architecture.md")

// The drawing is between these lines of docs/architecture.md.
const (
	drawingBegins = "<!-- the rooms, drawn by internal/depcheck -->\n```mermaid\n"
	drawingEnds   = "```\n"
)

// TestDrawing demands that the drawing in docs/architecture.md has the rooms and imports of the code.
func TestDrawing(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "architecture.md")
	content := must.Value(os.ReadFile(page))(t)
	before, rest, found := strings.Cut(string(content), drawingBegins)
	drawn, after, ended := strings.Cut(rest, drawingEnds)
	if !found || !ended {
		t.Fatalf("%s has no drawing: it begins with %q", page, drawingBegins)
	}
	want := draw(reduced(rooms(sources(t))))
	if drawn == want {
		return
	}
	if !*update {
		t.Fatalf("the drawing in %s is not of the imports as they are: run go test ./internal/depcheck -run Drawing -update", page)
	}
	must.NoError(t, os.WriteFile(page, []byte(before+drawingBegins+want+drawingEnds+after), 0o600))
}

// roomOf is the room that a package belongs to; empty for tests and what they need.
func roomOf(pkg string) string {
	parts := strings.Split(pkg, "/")
	switch {
	case parts[0] == "test" || parts[0] == "." || parts[0] == "examples" || pkg == "internal/depcheck":
		return ""
	case parts[0] == "internal" && len(parts) > 1:
		return path.Join(parts[:2]...)
	}
	return parts[0]
}

// rooms are the rooms, each with those that it imports.
func rooms(files map[string][]string) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for file, imports := range files {
		from := roomOf(path.Dir(file))
		if from == "" {
			continue
		}
		if found[from] == nil {
			found[from] = map[string]bool{}
		}
		for _, imported := range imports {
			ours, is := strings.CutPrefix(imported, module)
			if to := roomOf(ours); is && to != "" && to != from {
				found[from][to] = true
			}
		}
	}
	return found
}

// reduced leaves out imports that others imply: what a room imports by way of another one.
func reduced(all map[string]map[string]bool) map[string][]string {
	var reach func(from string, seen map[string]bool)
	reach = func(from string, seen map[string]bool) {
		for to := range all[from] {
			if !seen[to] {
				seen[to] = true
				reach(to, seen)
			}
		}
	}
	direct := map[string][]string{}
	for from, imports := range all {
		direct[from] = nil
		for to := range imports {
			implied := false
			for by := range imports {
				seen := map[string]bool{}
				reach(by, seen)
				implied = implied || by != to && seen[to] && !seen[by]
			}
			if !implied {
				direct[from] = append(direct[from], to)
			}
		}
		slices.Sort(direct[from])
	}
	return direct
}

// draw writes the rooms as a flow chart of Mermaid, those that import first.
func draw(direct map[string][]string) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, from := range slices.Sorted(maps.Keys(direct)) {
		fmt.Fprintf(&b, "  %s[%s]\n", id(from), from)
	}
	for _, from := range slices.Sorted(maps.Keys(direct)) {
		for _, to := range direct[from] {
			fmt.Fprintf(&b, "  %s --> %s\n", id(from), id(to))
		}
	}
	return b.String()
}

func id(room string) string { return strings.ReplaceAll(room, "/", "_") }

func TestReducedLeavesOutWhatIsImplied(t *testing.T) {
	got := draw(reduced(map[string]map[string]bool{"a": {"b": true, "c": true}, "b": {"c": true}, "c": {}}))
	want := "flowchart TD\n  a[a]\n  b[b]\n  c[c]\n  a --> b\n  b --> c\n"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTheTableOfPackages: the last column of the page's table names what a package imports, no more and no less.
func TestTheTableOfPackages(t *testing.T) {
	imports := map[string]map[string]bool{}
	for file, of := range sources(t) {
		dir := path.Dir(file)
		if imports[dir] == nil {
			imports[dir] = map[string]bool{}
		}
		for _, imported := range of {
			if ours, is := strings.CutPrefix(imported, module); is && !strings.HasPrefix(ours, dir+"/") {
				imports[dir][ours] = true
			}
		}
	}
	page := string(must.Value(os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md")))(t))
	_, table, _ := strings.Cut(page, "\n## Packages\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := 0
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], "`") {
			continue
		}
		listed := quoted.FindAllStringSubmatch(cells[2], -1)
		if strings.Contains(cells[2], "librar") || len(listed) == 0 && cells[2] != "-" {
			continue // in words, for those that put things together
		}
		rows++
		for _, name := range quoted.FindAllStringSubmatch(cells[0], -1) {
			is := imports[name[1]]
			if is == nil {
				t.Errorf("the table names %s, which has no code", name[1])
			}
			used := map[string]bool{}
			for imported := range is {
				found := false
				for _, l := range listed {
					for _, full := range []string{l[1], "internal/" + l[1]} {
						if imported == full || strings.HasPrefix(imported, full+"/") {
							found, used[l[1]] = true, true
						}
					}
				}
				if !found {
					t.Errorf("%s imports %s, which the table does not say", name[1], imported)
				}
			}
			for _, l := range listed {
				if !used[l[1]] && len(quoted.FindAllString(cells[0], -1)) == 1 {
					t.Errorf("%s does not import %s, as the table says", name[1], l[1])
				}
			}
		}
	}
	if rows < 30 {
		t.Errorf("only %d rows found: the table is not understood", rows)
	}
}

var quoted = regexp.MustCompile("`([a-z0-9/-]+)`")
