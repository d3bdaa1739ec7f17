package resolvecmd

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/image"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fairlead": runCommand, "pushcatalog": pushCatalog})
}

// runCommand is `fairlead` with the commands of this package, for scripts.
func runCommand() {
	root := &cobra.Command{Use: "fairlead", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})...)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
	err := root.ExecuteContext(context.Background())
	if !command.Silent(err) {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(command.Code(err))
}

// pushCatalog pushes the directories "configs" in a directory as the image of a catalog: pushcatalog DIR IMAGE.
func pushCatalog() {
	if _, err := image.Push(context.Background(), os.Args[2], os.DirFS(os.Args[1]), image.CatalogLabels(), image.PushOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// exits runs a command and wants its exit code: exits CODE COMMAND...
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		got = failed.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s: %v", got, args[0], err)
	}
}

// replace replaces a text in a file: replace FILE OLD NEW.
func replace(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), args[1], args[2])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// pasted runs the command that a file advises after some words, as a user would who pastes it into a shell: pasted FILE WORDS.
func pasted(ts *testscript.TestScript, _ bool, args []string) {
	_, command, found := strings.Cut(ts.ReadFile(args[0]), args[1])
	command, _, _ = strings.Cut(command, "\n")
	if !found || command == "" {
		ts.Fatalf("%s advises nothing after %q", args[0], args[1])
	}
	ts.Check(ts.Exec("sh", "-c", command))
}

// TestScripts runs sessions at the command line. $REGISTRY is a registry on loopback; the catalogs of testdata are in the
// working directory.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "pasted": pasted, "replace": replace},
		Setup: func(env *testscript.Env) error {
			server := httptest.NewServer(image.NewRegistry(""))
			env.Defer(server.Close)
			env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			return errors.Join(os.CopyFS(env.WorkDir, os.DirFS("testdata/catalogs")),
				os.CopyFS(filepath.Join(env.WorkDir, "a directory"), os.DirFS("testdata/catalogs/catalog")))
		},
	})
}
