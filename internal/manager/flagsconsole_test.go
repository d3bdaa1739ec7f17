package manager

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestConsoleFlags: what can never work is refused at the start, and the error says what to do.
func TestConsoleFlags(t *testing.T) {
	const issuer = "--console-oidc-issuer=https://dex.example.com"
	for name, test := range map[string]struct {
		flags []string
		want  string
	}{
		"off":                       {nil, ""},
		"on":                        {[]string{"--console"}, ""},
		"all of it":                 {[]string{"--console", "--console-address=:1", "--console-host=console.example.com,localhost:9443", "--console-tls-cert=c", "--console-tls-key=k", issuer, "--console-oidc-client-id=c"}, ""},
		"an address without":        {[]string{"--console-address=:1"}, "add --console, or leave it out"},
		"a host without":            {[]string{"--console-host=a"}, "add --console"},
		"an issuer without":         {[]string{issuer}, "add --console"},
		"no address":                {[]string{"--console", "--console-address=9443"}, "give HOST:PORT"},
		"a certificate without key": {[]string{"--console", "--console-tls-cert=c"}, "give both, or none"},
		"a key without certificate": {[]string{"--console", "--console-tls-key=c"}, "give both, or none"},
		"a URL as host":             {[]string{"--console", "--console-host=https://console.example.com"}, "without https://"},
		"a host with a path":        {[]string{"--console", "--console-host=console.example.com/a"}, "is no host"},
		"any host":                  {[]string{"--console", "--console-host=*"}, "is no host"},
		"a client without issuer":   {[]string{"--console", "--console-oidc-client-id=c"}, "--console-oidc-issuer"},
		"a secret without issuer":   {[]string{"--console", "--console-oidc-client-secret-file=c"}, "--console-oidc-issuer"},
		"scopes without issuer":     {[]string{"--console", "--console-oidc-scopes=email"}, "--console-oidc-issuer"},
		"an issuer without client":  {[]string{"--console", issuer}, "--console-oidc-client-id"},
		"an issuer over plain HTTP": {[]string{"--console", "--console-oidc-issuer=http://dex.example.com", "--console-oidc-client-id=c"}, "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := New(io.Discard, nil)
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			missing := filepath.Join(t.TempDir(), "kubeconfig") // is read after the flags are checked
			cmd.SetArgs(append(test.flags, "--kubeconfig", missing))
			err := cmd.ExecuteContext(t.Context())
			if test.want == "" {
				test.want = missing
			}
			must.Fail(t, "the manager", err, test.want)
		})
	}
}

// TestConsoleFiles: files of the provider have to be there, and the secret is read each time.
func TestConsoleFiles(t *testing.T) {
	dir := t.TempDir()
	c := Console{Enabled: true, OIDC: ConsoleOIDC{Issuer: "https://dex.example.com", ClientID: "c", ClientSecretFile: filepath.Join(dir, "secret")}}
	_, err := c.provider()
	must.Fail(t, "a secret that is not there", err, "--console-oidc-client-secret-file")
	must.NoError(t, os.WriteFile(c.OIDC.ClientSecretFile, []byte(" \n"), 0o600))
	_, err = c.provider()
	must.Fail(t, "an empty secret", err, "the file is empty")
	must.NoError(t, os.WriteFile(c.OIDC.ClientSecretFile, []byte("first\n"), 0o600))
	p := must.Value(c.provider())(t)
	must.NoError(t, os.WriteFile(c.OIDC.ClientSecretFile, []byte("second"), 0o600))
	must.Equal(t, "the secret", must.Value(p.Secret())(t), "second")
	c.OIDC.CAFile = filepath.Join(dir, "ca")
	_, err = c.provider()
	must.Fail(t, "a CA bundle that is not there", err, "--console-oidc-ca-file")
	must.NoError(t, os.WriteFile(c.OIDC.CAFile, []byte("no"), 0o600))
	_, err = c.provider()
	must.Fail(t, "one of no use", err, "PEM")
}

// TestConsoleHosts: those of the flags, of loopback and of the Service, and the certificate is for all of them.
func TestConsoleHosts(t *testing.T) {
	t.Setenv(podNamespaceVariable, "olm")
	o := Options{Console: Console{Enabled: true, Hosts: []string{"console.example.com", "192.0.2.7:8443"}}}
	hosts := o.Console.hosts(&net.TCPAddr{IP: net.IPv4zero, Port: 9443})
	for _, want := range []string{"console.example.com", "192.0.2.7:8443", "localhost:9443", "127.0.0.1:9443", "fairlead-console.olm.svc"} {
		if !slices.Contains(hosts, want) {
			t.Errorf("%s is not among the hosts %q", want, hosts)
		}
	}
	named := strings.Join(o.servingHosts("olm"), " ")
	for _, want := range []string{"console.example.com", "192.0.2.7", "localhost", "fairlead-console.olm.svc"} {
		must.Contain(t, "the certificate", named, want)
	}
	o.Console = Console{}
	if named := strings.Join(o.servingHosts("olm"), " "); strings.Contains(named, ConsoleService) {
		t.Errorf("without a console the certificate is for %s", named)
	}
}

// TestNoConsole: where it is not asked for, nothing listens and nothing is kept.
func TestNoConsole(t *testing.T) {
	dir := t.TempDir()
	v, err := openConsole(t.Context(), Options{StoreDir: dir}, stores{}, nil)
	must.NoError(t, err)
	must.Equal(t, "a server", v == nil, true)
	v.addTo(nil, nil) // it has nothing to add
	must.Empty(t, "files", must.Value(os.ReadDir(dir))(t))
}
