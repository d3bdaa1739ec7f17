package resolvecmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"fairlead.dev/fairlead/test/script"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fairlead": script.Fairlead(Commands), "pushcatalog": script.PushCatalog})
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

// TestScripts runs sessions at the command line. The catalogs of testdata are in the working directory.
func TestScripts(t *testing.T) {
	script.Run(t, testscript.Params{
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"pasted": pasted, "replace": replace},
		Setup: func(env *testscript.Env) error {
			return errors.Join(os.CopyFS(env.WorkDir, os.DirFS("testdata/catalogs")),
				os.CopyFS(filepath.Join(env.WorkDir, "a directory"), os.DirFS("testdata/catalogs/catalog")))
		},
	})
}
