package authoring

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fairlead.dev/fairlead/test/script"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bundle":     script.Program(NewBundle),
		"catalog":    script.Program(NewCatalog),
		"opm":        func() { os.Exit(RunOpm(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"pushbundle": script.PushBundle,
		"docker":     printArgs,
		"buildah":    printArgs,
	})
}

// printArgs stands for a program that builds images.
func printArgs() { fmt.Fprintln(os.Stderr, filepath.Base(os.Args[0]), strings.Join(os.Args[1:], " ")) }

// TestScripts runs sessions at the command line: those of fairlead bundle, fairlead catalog and opm. Each has a variable for the examples.
func TestScripts(t *testing.T) {
	for dir, variable := range map[string][2]string{
		"bundle":  {"BUNDLE", script.Examples(t, "bundles", "greeter-operator", "1.1.0")},
		"catalog": {"BUNDLES", script.Examples(t, "bundles")},
		"opm":     {"EXAMPLES", script.Examples(t)},
	} {
		t.Run(dir, func(t *testing.T) {
			script.Run(t, testscript.Params{Dir: filepath.Join("testdata", dir), ContinueOnError: dir == "opm", Setup: func(env *testscript.Env) error {
				env.Setenv(variable[0], variable[1])
				env.Setenv("OLM_CACHE_DIR", filepath.Join(env.WorkDir, ".cache"))
				return nil
			}})
		})
	}
}

func TestCalledOpm(t *testing.T) {
	tests := map[string]struct {
		argument0 string
		want      bool
	}{
		"by name":               {"opm", true},
		"by path":               {"/usr/local/bin/opm", true},
		"with an extension":     {"opm.exe", true},
		"in capitals":           {"/bin/OPM.EXE", true},
		"as itself":             {"fairlead", false},
		"a name that begins so": {"opm-v1", false},
		"a folder of that name": {"/opm/fairlead", false},
		"none at all":           {"", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := CalledOpm(test.argument0); got != test.want {
				t.Errorf("Called(%q) = %t, want %t", test.argument0, got, test.want)
			}
		})
	}
}
