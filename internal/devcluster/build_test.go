package devcluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// The program for tests is rebuilt when a file in hostSources changes, so all that it is made of must be there.
func TestHostSourcesAreComplete(t *testing.T) {
	list := exec.Command("go", "list", "-deps", hostImport)
	output := must.Value(list.Output())(t)
	count := 0
	for line := range strings.Lines(string(output)) {
		relative, ours := strings.CutPrefix(strings.TrimSpace(line), modulePath+"/")
		if !ours {
			continue
		}
		count++
		if !covered(relative) {
			t.Errorf("%s is part of the program, and not in hostSources", relative)
		}
	}
	if count < 5 {
		t.Errorf("only %d packages of the module are part of the program", count)
	}
}

func covered(pkg string) bool {
	for _, source := range hostSources {
		if pkg == source || strings.HasPrefix(pkg, source+"/") {
			return true
		}
	}
	return false
}

func TestFingerprint(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(root, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	mark := func() string {
		t.Helper()
		sum := must.Value(fingerprint(root))(t)
		return sum
	}
	write("go.mod", "module x")
	write("go.sum", "")
	write("internal/devcluster/a.go", "package a")
	last := mark()
	if again := mark(); again != last {
		t.Error("the same sources have two fingerprints")
	}
	for _, step := range []struct {
		name, content string
		changes       bool
	}{
		{"go.sum", "x", true},
		{"internal/devcluster/a.go", "package b", true},
		{"internal/devcluster/components/c.go", "package c", true},
		{"internal/content/image/i.go", "package i", true},
		{"internal/devcluster/a_test.go", "package a", false},
		{"internal/devcluster/notes.txt", "x", false},
		{"catalog/c.go", "package c", false},
	} {
		write(step.name, step.content)
		next := mark()
		if (next != last) != step.changes {
			t.Errorf("writing %s changes the fingerprint: %t, want %t", step.name, next != last, step.changes)
		}
		last = next
	}
}
