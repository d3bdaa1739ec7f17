package bundlecmd

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/image"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bundle": runCommand})
}

// runCommand is `fairlead bundle` for scripts.
func runCommand() {
	cmd := New(command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	cmd.SetArgs(os.Args[1:])
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
	err := cmd.ExecuteContext(context.Background())
	if !command.Silent(err) {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(command.Code(err))
}

// status is a command of scripts: `status CODE COMMAND...` runs a command that has to end with the code.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		code = fmt.Sprint(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// TestScripts runs sessions at the command line. $REGISTRY is a registry on loopback, $BUNDLE an example bundle.
func TestScripts(t *testing.T) {
	example, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", "bundles", "greeter-operator", "1.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status},
		Setup: func(env *testscript.Env) error {
			server := httptest.NewServer(image.NewRegistry(""))
			env.Defer(server.Close)
			env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
			env.Setenv("BUNDLE", example)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			return nil
		},
	})
}
