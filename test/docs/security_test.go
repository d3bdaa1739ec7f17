package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/scenarios"
)

// TestBoundariesAreProven: each row of the table of boundaries names tests, and each of them exists.
func TestBoundariesAreProven(t *testing.T) {
	proven(t, "security.md", "| actor | asset |", 5, 10)
}

// TestCompatibilityIsProven: each row of the published contract names tests, and each of them exists, in the package that is said.
func TestCompatibilityIsProven(t *testing.T) {
	proven(t, "compatibility.md", "| published contract |", 3, 150)
}

// proven goes through the tables of a page whose first line begins with head: each row has as many columns, the last of which names tests
// that exist. Of a test whose name several packages have the page says which package it is of.
func proven(t *testing.T, name, head string, columns, least int) {
	t.Helper()
	page := must.Value(os.ReadFile(filepath.Join(root, "docs", name)))(t)
	there := must.Value(scenarios.Find(root))(t)
	rows, inside := 0, false
	for _, line := range strings.Split(string(page), "\n") {
		switch {
		case strings.HasPrefix(line, head):
			inside = true
			continue
		case !strings.HasPrefix(line, "|"):
			inside = false
		}
		if !inside || strings.HasPrefix(line, "|---") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|"), "|")
		names := scenarios.Named(cells[len(cells)-1])
		if len(cells) != columns || len(names) == 0 {
			t.Errorf("docs/%s: a row has %d columns and names %d tests, want %d and at least 1: %s", name, len(cells), len(names), columns, line)
		}
		for _, n := range names {
			if !there.Have(n) {
				t.Errorf("docs/%s: there is no %s: %s", name, n.Text, line)
			} else if in := there.Packages(n.Function); n.Package == "" && len(in) > 1 {
				t.Errorf("docs/%s: %s is in several packages, say which of %q: %s", name, n.Text, in, line)
			}
		}
	}
	if rows < least {
		t.Errorf("docs/%s: %d rows are found in the tables with %q, want at least %d", name, rows, head, least)
	}
}
