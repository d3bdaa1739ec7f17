package devcluster

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
)

func open(t *testing.T, dir string) *Directory {
	t.Helper()
	d := must.Value(Open(dir))(t)
	return d
}

func TestAuthoritiesAndServiceAccountKeyAreKept(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	kept := []string{CACert, CAKey, FrontProxyCACert, frontProxyCAKey, ServiceAccountKey}
	before := readPEM(t, dir, kept)
	again := open(t, dir)
	must.Equal(t, "readPEM(t, dir, kept)", readPEM(t, dir, kept), before)
	if !bytes.Equal(again.CA(), []byte(before[CACert])) {
		t.Error("CA() is not the kept certificate")
	}
}

func readPEM(t *testing.T, dir string, names []string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names {
		content := must.Value(os.ReadFile(filepath.Join(dir, name)))(t)
		files[name] = string(content)
	}
	return files
}

func TestEveryFileIsForTheOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	must.NoError(t, d.WriteServer("127.0.0.1"))
	must.NoError(t, d.WriteFrontProxyClient())
	entries := must.Value(os.ReadDir(dir))(t)
	must.Equal(t, "len(entries)", len(entries), 9)
	for _, entry := range entries {
		info := must.Value(entry.Info())(t)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", entry.Name(), info.Mode().Perm())
		}
	}
}

func TestServerCertificate(t *testing.T) {
	d := open(t, t.TempDir())
	must.NoError(t, d.WriteServer("127.0.0.1", "localhost"))
	pair := must.Value(tls.LoadX509KeyPair(d.Path(ServerCert), d.Path(ServerKey)))(t)
	tests := map[string]struct {
		roots []byte
		host  string
		valid bool
	}{
		"its address":          {d.CA(), "127.0.0.1", true},
		"its name":             {d.CA(), "localhost", true},
		"another host":         {d.CA(), "kubernetes", false},
		"another authority":    {open(t, t.TempDir()).CA(), "localhost", false},
		"the front proxy's CA": {[]byte(readPEM(t, d.path, []string{FrontProxyCACert})[FrontProxyCACert]), "localhost", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			roots := x509.NewCertPool()
			if !roots.AppendCertsFromPEM(test.roots) {
				t.Fatal("no authority")
			}
			_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: test.host})
			if (err == nil) != test.valid {
				t.Errorf("verification says %v, valid should be %t", err, test.valid)
			}
		})
	}
}

func TestClientCertificate(t *testing.T) {
	d := open(t, t.TempDir())
	pair := must.Value(d.Client("jane", "editors", "testers"))(t)
	loaded := must.Value(tls.X509KeyPair(pair.Cert, pair.Key))(t)
	subject := loaded.Leaf.Subject
	if diff := cmp.Diff([]string{"editors", "testers"}, subject.Organization); subject.CommonName != "jane" || diff != "" {
		t.Errorf("subject is %v: %s", subject, diff)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(d.CA())
	for usage, valid := range map[x509.ExtKeyUsage]bool{x509.ExtKeyUsageClientAuth: true, x509.ExtKeyUsageServerAuth: false} {
		_, err := loaded.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}})
		if (err == nil) != valid {
			t.Errorf("usage %v: %v, valid should be %t", usage, err, valid)
		}
	}
}

func TestDamagedAuthorityIsNamed(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	path := filepath.Join(dir, CAKey)
	must.NoError(t, os.WriteFile(path, []byte("damaged"), 0o600))
	_, err := Open(dir)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, CACert)) || !strings.Contains(err.Error(), "delete the data directory") {
		t.Errorf("got %v, want an error that names the authority and what to do", err)
	}
}
