package extensioncmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fairlead": runCommand})
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

// TestScripts runs sessions at the command line, without a cluster. The catalog of the examples is in the working directory.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			return os.CopyFS(filepath.Join(env.WorkDir, "catalog"), os.DirFS(filepath.Join(examples, "catalog")))
		},
	})
}
