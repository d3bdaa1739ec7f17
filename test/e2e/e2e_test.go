// Package e2e runs the built program as a user would: each script in testdata is a session at the command line.
package e2e

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/script"
	"fairlead.dev/fairlead/test/sweep"
)

// program is the directory of the built fairlead.
var program string

// atOnce is how many tests run at a time: most have a cluster to themselves.
const atOnce = 4

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path, err := devcluster.Program()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Dir(path)
	code := devcluster.RunTests(m, atOnce)
	if err := stopPool(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestScripts(t *testing.T) {
	t.Parallel()
	examples := must.Value(filepath.Abs(filepath.Join("..", "..", "examples", "bundles")))(t)
	manifests := must.Value(filepath.Abs(filepath.Join("..", "..", "config")))(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"cluster": cluster, "serve": serve, "create": create, "exits": script.Exits},
		Condition: func(condition string) (bool, error) {
			if condition != "nightly" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return sweep.Whole(), nil
		},
		Setup: func(env *testscript.Env) error {
			registry := httptest.NewServer(image.NewRegistry(""))
			env.Defer(registry.Close)
			env.Setenv("REGISTRY", strings.TrimPrefix(registry.URL, "http://"))
			env.Setenv("PATH", program+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("PROGRAM", filepath.Join(program, "fairlead"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("BUNDLES", examples)
			env.Setenv("MANIFESTS", manifests)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
			return nil
		},
	})
}
