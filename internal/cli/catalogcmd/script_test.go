package catalogcmd

import (
	"context"
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
	testscript.Main(m, map[string]func(){"catalog": runCommand, "pushdir": pushDir})
}

// runCommand is `fairlead catalog` for scripts.
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

// pushDir pushes a bundle directory: pushdir DIR IMAGE PACKAGE.
func pushDir() {
	labels := image.BundleLabels(os.Args[3], []string{"stable"}, "")
	if _, err := image.Push(context.Background(), os.Args[2], os.DirFS(os.Args[1]), labels, image.PushOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestScripts runs sessions at the command line. $REGISTRY is a registry on loopback, $BUNDLES the example bundles.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", "bundles"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			server := httptest.NewServer(image.NewRegistry(""))
			env.Defer(server.Close)
			env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
			env.Setenv("BUNDLES", examples)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			return nil
		},
	})
}
