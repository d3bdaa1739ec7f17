package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/test/must"
)

const flagsConfig = `apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: one, user: one, namespace: team}}
- {name: two, context: {cluster: two, user: one}}
clusters:
- {name: one, cluster: {server: "https://one.example.com:1"}}
- {name: two, cluster: {server: "https://two.example.com:2"}}
users:
- {name: one, user: {token: first}}
- {name: other, user: {token: second}}
`

// TestConnectionFlags: each flag of kubectl does what it does there.
func TestConnectionFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	must.NoError(t, os.WriteFile(file, []byte(flagsConfig), 0o600))
	cert, key := filepath.Join(filepath.Dir(file), "cert"), filepath.Join(filepath.Dir(file), "key")
	must.NoError(t, os.WriteFile(cert, nil, 0o600))
	must.NoError(t, os.WriteFile(key, nil, 0o600))
	for name, tc := range map[string]struct {
		flags []string
		got   func(*rest.Config) any
		want  any
	}{
		"the context of the file": {nil, func(c *rest.Config) any { return c.Host + " " + c.BearerToken }, "https://one.example.com:1 first"},
		"context":                 {[]string{"--context", "two"}, func(c *rest.Config) any { return c.Host }, "https://two.example.com:2"},
		"cluster":                 {[]string{"--cluster", "two"}, func(c *rest.Config) any { return c.Host }, "https://two.example.com:2"},
		"user":                    {[]string{"--user", "other"}, func(c *rest.Config) any { return c.BearerToken }, "second"},
		"server":                  {[]string{"--server", "https://three.example.com"}, func(c *rest.Config) any { return c.Host }, "https://three.example.com"},
		"token":                   {[]string{"--token", "third"}, func(c *rest.Config) any { return c.BearerToken }, "third"},
		"as": {[]string{"--as", "dev", "--as-group", "a", "--as-group", "b", "--as-uid", "u"}, func(c *rest.Config) any {
			return c.Impersonate.UserName + " " + strings.Join(c.Impersonate.Groups, ",") + " " + c.Impersonate.UID
		}, "dev a,b u"},
		"client-certificate":       {[]string{"--client-certificate", cert, "--client-key", key}, func(c *rest.Config) any { return c.CertFile + c.KeyFile }, cert + key},
		"certificate-authority":    {[]string{"--certificate-authority", cert}, func(c *rest.Config) any { return c.CAFile }, cert},
		"insecure-skip-tls-verify": {[]string{"--insecure-skip-tls-verify"}, func(c *rest.Config) any { return c.Insecure }, true},
		"tls-server-name":          {[]string{"--tls-server-name", "name"}, func(c *rest.Config) any { return c.ServerName }, "name"},
		"request-timeout":          {[]string{"--request-timeout", "7s"}, func(c *rest.Config) any { return c.Timeout.String() }, "7s"},
		"disable-compression":      {[]string{"--disable-compression"}, func(c *rest.Config) any { return c.DisableCompression }, true},
	} {
		var f Flags
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		f.AddCluster(flags)
		f.AddNamespace(flags)
		must.NoError(t, flags.Parse(append(tc.flags, "--kubeconfig", file)))
		must.Equal(t, name, tc.got(must.Value(f.Config())(t)), tc.want)
		if name == "the context of the file" {
			must.Equal(t, "namespace", must.Value(f.Namespace())(t), "team")
		}
	}
}

// TestNothingNamesACluster: then none is guessed, while --server alone names one.
func TestNothingNamesACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	var f Flags
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.AddCluster(flags)
	_, err := f.Config()
	must.Fail(t, "no kubeconfig", err, "find a cluster: ")
	must.Fail(t, "no kubeconfig", err, "fairlead cluster start")
	must.NoError(t, flags.Set("server", "https://only.example.com"))
	must.Equal(t, "host", must.Value(f.Config())(t).Host, "https://only.example.com")
}

// TestKindsOfFlags: the token is secret, and what few need is described apart.
func TestKindsOfFlags(t *testing.T) {
	var f Flags
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.String("other", "", "not about a cluster")
	f.AddCluster(flags)
	f.AddNamespace(flags)
	for name, want := range map[string][3]bool{
		"other": {}, "namespace": {}, "kubeconfig": {true, false, false}, "context": {true, false, false}, "as": {true, true, false}, "token": {true, true, true},
	} {
		flag := flags.Lookup(name)
		must.Equal(t, name, [3]bool{IsConnection(flag), IsRare(flag), IsSecret(flag)}, want)
	}
	must.NoError(t, flags.Parse([]string{"--token", "t", "--as", "dev", "--other", "x"}))
	var names []string
	for _, flag := range Connection(flags) {
		names = append(names, flag.Name)
	}
	must.Equal(t, "given", names, []string{"as", "token"})
}
