package cli

import (
	"bytes"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/must"
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
	must.Equal(t, "commands in no group", names, []string{"completion", "help", "version"})
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
