package catalogcmd

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fairlead.dev/fairlead/test/script"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"catalog": script.Program(New), "pushdir": script.PushBundle})
}

// TestScripts runs sessions at the command line. $BUNDLES are the example bundles.
func TestScripts(t *testing.T) {
	examples := script.Examples(t, "bundles")
	script.Run(t, testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("BUNDLES", examples)
		return nil
	}})
}
