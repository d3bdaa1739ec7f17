package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/must"
	"github.com/google/go-cmp/cmp"
)

func TestFlagsThatExcludeEachOtherAreWrongUsage(t *testing.T) {
	var out, errs bytes.Buffer
	code := Run(t.Context(), []string{"catalog", "render", "--migrate", "--migrate-level", "none", "nowhere"}, nil, &out, &errs)
	if code != command.ExitUsage {
		t.Errorf("exit code %d, want %d", code, command.ExitUsage)
	}
	contains(t, errs.String(), "fairlead catalog render --help")
}

// TestHelp lists every command in a group, and --version prints what version does.
func TestHelp(t *testing.T) {
	run := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Run(t.Context(), args, nil, &out, &errs); code != command.ExitOK {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	help := run("--help")
	for _, title := range []string{"See what there is, and why:", "Install and change operators:", "Write catalogs and bundles:", "Run the manager, and clusters to try it on:"} {
		contains(t, help, title)
	}
	_, others, _ := strings.Cut(help, "Additional Commands:")
	others, _, _ = strings.Cut(others, "Flags:")
	var names []string
	for line := range strings.Lines(others) {
		if fields := strings.Fields(line); len(fields) > 0 {
			names = append(names, fields[0])
		}
	}
	must.Equal(t, "commands in no group", names, []string{"completion", "help", "reference", "version"})
	must.Equal(t, "--version", run("--version"), run("version"))
	contains(t, run("completion", "bash"), "bash completion V2 for fairlead")
	var out, errs bytes.Buffer
	if code := Run(t.Context(), []string{"install"}, nil, &out, &errs); code != command.ExitUsage {
		t.Errorf("install without a package: exit code %d", code)
	}
	if code := Run(t.Context(), []string{"upgrade"}, nil, &out, &errs); code != command.ExitUsage {
		t.Errorf("upgrade without a name: exit code %d", code)
	}
	contains(t, errs.String(), "fairlead: NAME is missing: fairlead upgrade NAME\nRun 'fairlead upgrade --help' for usage.")
}

// TestReference writes a page for each command, the same each time.
func TestReference(t *testing.T) {
	pages := func(format string) map[string]string {
		dir := filepath.Join(t.TempDir(), "pages")
		var out, errs bytes.Buffer
		if code := Run(t.Context(), []string{"reference", dir, "--format", format}, nil, &out, &errs); code != command.ExitOK {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		all := map[string]string{}
		for _, entry := range must.Value(os.ReadDir(dir))(t) {
			all[entry.Name()] = string(must.Value(os.ReadFile(filepath.Join(dir, entry.Name())))(t))
		}
		contains(t, out.String(), fmt.Sprintf("has %d pages", len(all)))
		return all
	}
	man, markdown := pages("man"), pages("markdown")
	contains(t, man["fairlead-why-not.1"], "fairlead-why-not - ")
	contains(t, markdown["fairlead_catalog_render.md"], "## fairlead catalog render")
	if diff := cmp.Diff(man, pages("man")); diff != "" || len(man) != len(markdown) || len(man) < 50 {
		t.Errorf("%d man pages, %d of Markdown, and another time: %s", len(man), len(markdown), diff)
	}
	var out, errs bytes.Buffer
	if code := Run(t.Context(), []string{"reference", t.TempDir(), "--format", "html"}, nil, &out, &errs); code != command.ExitUsage {
		t.Errorf("html: exit code %d", code)
	}
}
