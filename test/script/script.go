// Package script runs sessions at the command line, the scripts of a package's testdata, with commands of the program and a registry on
// loopback. It touches nothing outside the working directory of a script; start reading at Run and Program.
package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// Program is a command as a program of scripts, for testscript.Main. It ends as the real one does.
func Program(make func(command.Streams) *cobra.Command) func() {
	return func() {
		cmd := make(command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		cmd.SetArgs(os.Args[1:])
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
		err := cmd.ExecuteContext(context.Background())
		if !command.Silent(err) {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(command.Code(err))
	}
}

// Fairlead is the program with some of its commands.
func Fairlead(commands func(command.Streams) []*cobra.Command) func() {
	return Program(func(s command.Streams) *cobra.Command {
		root := &cobra.Command{Use: "fairlead"}
		root.AddCommand(commands(s)...)
		return root
	})
}

// PushBundle is a program that pushes a bundle directory: NAME DIR IMAGE PACKAGE.
func PushBundle() { push(image.BundleLabels(os.Args[3], []string{"stable"}, "")) }

// PushCatalog is a program that pushes what is in a directory as the image of a catalog: NAME DIR IMAGE.
func PushCatalog() { push(image.CatalogLabels()) }

func push(labels map[string]string) {
	if _, err := image.Push(context.Background(), os.Args[2], os.DirFS(os.Args[1]), labels, image.PushOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Run runs the scripts of testdata, or of another folder. $REGISTRY is a registry on loopback, nothing of the user is known, and `exits CODE COMMAND...` runs a
// command that has to end with a code.
func Run(t *testing.T, p testscript.Params) {
	t.Helper()
	setup := p.Setup
	p.Dir, p.RequireExplicitExec = cmp.Or(p.Dir, "testdata"), true
	p.Cmds = maps.Clone(p.Cmds)
	if p.Cmds == nil {
		p.Cmds = map[string]func(*testscript.TestScript, bool, []string){}
	}
	p.Cmds["exits"] = Exits
	p.Setup = func(env *testscript.Env) error {
		server := httptest.NewServer(image.NewRegistry(""))
		env.Defer(server.Close)
		env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
		env.Setenv("HOME", env.WorkDir)
		env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
		if setup == nil {
			return nil
		}
		return setup(env)
	}
	testscript.Run(t, p)
}

// Examples is the path of something in the folder of the examples.
func Examples(t *testing.T, elements ...string) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	path := filepath.Join(append([]string{filepath.Dir(here), "..", "..", "examples"}, elements...)...)
	must.Value(os.Stat(path))(t)
	return path
}

// Exits is the command `exits CODE COMMAND...`, which runs a command that has to end with a code.
func Exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		got = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}
