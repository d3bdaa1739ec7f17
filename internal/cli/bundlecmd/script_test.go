package bundlecmd

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fairlead.dev/fairlead/test/script"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bundle": script.Program(New)})
}

// TestScripts runs sessions at the command line. $BUNDLE is an example bundle.
func TestScripts(t *testing.T) {
	example := script.Examples(t, "bundles", "greeter-operator", "1.1.0")
	script.Run(t, testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("BUNDLE", example)
		return nil
	}})
}
