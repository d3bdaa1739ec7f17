package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/bundlecmd"
	"fairlead.dev/fairlead/internal/cli/catalogcmd"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/script"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fairlead": script.Fairlead(func(s command.Streams) []*cobra.Command {
		return []*cobra.Command{New(s), bundlecmd.New(s), catalogcmd.New(s)}
	})})
}

// TestScripts runs sessions at the command line. $EXAMPLES are the examples; signing.key and cosign.key, which is encrypted with the
// password "pw", are private keys, and signing.pub is the public key of both.
func TestScripts(t *testing.T) {
	examples := script.Examples(t)
	script.Run(t, testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("EXAMPLES", examples)
		return writeKeys(env.WorkDir)
	}})
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
