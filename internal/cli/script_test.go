package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/script"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
	"github.com/spf13/cobra"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fairlead": script.Fairlead(commands), "pushcatalog": script.PushCatalog})
}

// TestScripts runs sessions at the command line. The catalogs of testdata are in the working directory; $EXAMPLES are the examples. signing.key
// and cosign.key, which is encrypted with the password "pw", are private keys, and signing.pub is the public key of both.
func TestScripts(t *testing.T) {
	examples := script.Examples(t)
	for _, dir := range []string{"catalogtest", "resolve", "search", "sign", "system"} {
		t.Run(dir, func(t *testing.T) {
			script.Run(t, testscript.Params{
				Dir:  filepath.Join("testdata", dir),
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"pasted": pasted, "replace": replace},
				Setup: func(env *testscript.Env) error {
					env.Setenv("EXAMPLES", examples)
					var keys error
					if dir == "sign" { // encrypting one takes longer than most commands
						keys = writeKeys(env.WorkDir)
					}
					return errors.Join(keys, os.CopyFS(env.WorkDir, os.DirFS("testdata/catalogs")),
						os.CopyFS(filepath.Join(env.WorkDir, "a directory"), os.DirFS("testdata/catalogs/catalog")))
				},
			})
		})
	}
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

func writeKeys(dir string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	secret, err := encrypted.Encrypt(der, []byte("pw"))
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		"signing.key": {Type: "PRIVATE KEY", Bytes: der}, "cosign.key": {Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: secret}, "signing.pub": {Type: "PUBLIC KEY", Bytes: public},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// commands are all of them.
func commands(s command.Streams) []*cobra.Command {
	all := []*cobra.Command{newVersionCommand(s)}
	for _, g := range groups(s) {
		all = append(all, g.commands...)
	}
	return all
}
