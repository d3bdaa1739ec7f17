package extensioncmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fairlead.dev/fairlead/test/script"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fairlead": script.Fairlead(Commands)})
}

// TestScripts runs sessions at the command line, without a cluster. The catalog of the examples is in the working directory.
func TestScripts(t *testing.T) {
	catalog := script.Examples(t, "catalog")
	script.Run(t, testscript.Params{Setup: func(env *testscript.Env) error {
		return os.CopyFS(filepath.Join(env.WorkDir, "catalog"), os.DirFS(catalog))
	}})
}
