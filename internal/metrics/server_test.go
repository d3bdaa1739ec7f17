package metrics

import (
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/test/must"
)

// TestWhoSeesWhat over TLS: metrics are for those whom the API server lets, profiles for clients of the authority, health for all.
func TestWhoSeesWhat(t *testing.T) {
	servers, clients, others := newAuthority(t), newAuthority(t), newAuthority(t)
	with := serve(t, Options{TLS: servers.files(t, t.TempDir(), &clients), REST: apiServer(t)})
	without := serve(t, Options{TLS: servers.files(t, t.TempDir(), nil), REST: apiServer(t), Debug: true})
	for name, test := range map[string]struct {
		to     *Server
		by     visitor
		path   string
		status int
		body   string // that the answer contains
	}{
		"metrics for a reader":                     {with, visitor{token: "reader"}, "/metrics", 200, "pirouettes_total 0"},
		"metrics for nobody known":                 {with, visitor{}, "/metrics", 401, "bearer token"},
		"metrics for a token that nobody knows":    {with, visitor{token: "forged"}, "/metrics", 401, "bearer token"},
		"metrics for who may not":                  {with, visitor{token: "stranger"}, "/metrics", 403, `user "stranger" may not get /metrics`},
		"another verb":                             {with, visitor{token: "reader", method: "POST"}, "/metrics", 403, "may not post"},
		"a certificate is no token":                {with, visitor{shows: clients.client(t)}, "/metrics", 401, "bearer token"},
		"a certificate besides a token":            {with, visitor{shows: clients.client(t), token: "reader"}, "/metrics", 200, "pirouettes_total"},
		"a stranger's certificate":                 {with, visitor{shows: others.client(t), token: "reader"}, "/metrics", 0, "tls"},
		"health":                                   {with, visitor{}, "/healthz", 200, ""},
		"profiles for a client":                    {with, visitor{shows: clients.client(t)}, "/debug/pprof/", 200, "goroutine"},
		"one profile":                              {with, visitor{shows: clients.client(t)}, "/debug/pprof/goroutine?debug=1", 200, "goroutine profile"},
		"profiles for a token":                     {with, visitor{token: "reader"}, "/debug/pprof/", 403, "client certificate"},
		"profiles for a stranger":                  {with, visitor{shows: others.client(t)}, "/debug/pprof/", 0, "tls"},
		"no authority: metrics":                    {without, visitor{token: "reader"}, "/metrics", 200, "pirouettes_total 0"},
		"no authority: metrics for nobody known":   {without, visitor{}, "/metrics", 401, "bearer token"},
		"no authority: no certificate lets in":     {without, visitor{shows: clients.client(t)}, "/debug/pprof/", 403, "client certificate"},
		"no authority: --debug is for without TLS": {without, visitor{}, "/debug/pprof/cmdline", 403, "client certificate"},
		"nothing else":                             {with, visitor{token: "reader"}, "/secrets", 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.by.trusts = servers.pem
			status, body, err := test.by.get(t, test.to, "https", test.path)
			if err != nil {
				body = err.Error()
			}
			if status != test.status || !strings.Contains(body, test.body) {
				t.Errorf("%d, %s, want %d and %q", status, body, test.status, test.body)
			}
		})
	}
}

// TestWithoutTLS metrics are open, and profiles only where a user looks for errors.
func TestWithoutTLS(t *testing.T) {
	plain, debug := serve(t, Options{Plain: true}), serve(t, Options{Plain: true, Debug: true})
	for _, test := range []struct {
		to     *Server
		path   string
		status int
	}{
		{plain, "/metrics", 200}, {plain, "/healthz", 200}, {plain, "/debug/pprof/", 403}, {plain, "/debug/pprof/heap", 403},
		{debug, "/metrics", 200}, {debug, "/healthz", 200}, {debug, "/debug/pprof/", 200}, {debug, "/debug/pprof/heap", 200},
	} {
		if status, body, err := (visitor{}).get(t, test.to, "http", test.path); err != nil || status != test.status {
			t.Errorf("%s: %d, %v, want %d: %s", test.path, status, err, test.status, body)
		}
	}
}

// TestFilesAreTakenOver while the server runs, and what is of no use is not.
func TestFilesAreTakenOver(t *testing.T) {
	dir := t.TempDir()
	old, oldClients := newAuthority(t), newAuthority(t)
	s := serve(t, Options{TLS: old.files(t, dir, &oldClients), REST: apiServer(t)})
	healthy := func(by visitor) error {
		status, body, err := by.get(t, s, "https", "/debug/pprof/cmdline")
		if err == nil && status != 200 {
			err = fmt.Errorf("%d: %s", status, body)
		}
		return err
	}
	before := visitor{trusts: old.pem, shows: oldClients.client(t)}
	must.NoError(t, healthy(before))
	write(t, filepath.Join(dir, "tls.crt"), []byte("no certificate"))
	write(t, filepath.Join(dir, "clients.crt"), []byte("no authority"))
	if err := healthy(before); err != nil {
		t.Errorf("what was there is not served any more: %v", err)
	}
	next, nextClients := newAuthority(t), newAuthority(t)
	next.files(t, dir, &nextClients)
	eventually(t, "the new files to be taken over", func() error {
		return healthy(visitor{trusts: next.pem, shows: nextClients.client(t)})
	})
	if err := healthy(visitor{trusts: next.pem, shows: oldClients.client(t)}); err == nil {
		t.Error("a client of the authority that is gone is still believed")
	}
}

// eventually tries for a minute, which is long even where everything is slow.
func eventually(t *testing.T, what string, ok func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = ok(); err == nil {
			return
		}
	}
	t.Fatalf("waited for %s: %v", what, err)
}

func TestWhatIsOfNoUseIsSaid(t *testing.T) {
	dir := t.TempDir()
	good := newAuthority(t).files(t, dir, nil)
	other := newAuthority(t).files(t, t.TempDir(), nil)
	missing, garbage := filepath.Join(dir, "missing"), write(t, filepath.Join(dir, "garbage"), []byte("x"))
	for name, test := range map[string]struct {
		files Files
		want  []string
	}{
		"a certificate without key":    {Files{Certificate: good.Certificate}, []string{"--tls-cert is given without --tls-key"}},
		"a key without certificate":    {Files{Key: good.Key}, []string{"--tls-key is given without --tls-cert"}},
		"authorities alone":            {Files{ClientCA: good.Certificate}, []string{"there is no certificate", "--metrics-plain"}},
		"no certificate file":          {Files{Certificate: missing, Key: good.Key}, []string{missing, "no such file", "--tls-cert"}},
		"no key file":                  {Files{Certificate: good.Certificate, Key: missing}, []string{missing, "no such file", "--tls-key"}},
		"no certificate in the file":   {Files{Certificate: garbage, Key: good.Key}, []string{garbage, "PEM"}},
		"the key of another":           {Files{Certificate: good.Certificate, Key: other.Key}, []string{other.Key, "does not match"}},
		"no authorities file":          {Files{Certificate: good.Certificate, Key: good.Key, ClientCA: missing}, []string{missing, "no such file", "--client-ca"}},
		"no authorities in the file":   {Files{Certificate: good.Certificate, Key: good.Key, ClientCA: garbage}, []string{garbage, "--client-ca"}},
		"a key instead of authorities": {Files{Certificate: good.Certificate, Key: good.Key, ClientCA: good.Key}, []string{"--client-ca"}},
	} {
		s, err := Open(t.Context(), Options{Address: "127.0.0.1:0", TLS: test.files, REST: apiServer(t), Metrics: metrics()})
		if err == nil {
			t.Errorf("%s: it serves at %s", name, s.Addr())
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, which does not say %q", name, err, want)
			}
		}
	}
}

func TestWhereItListens(t *testing.T) {
	for _, address := range []string{"", "0"} {
		if s, err := Open(t.Context(), Options{Address: address, Metrics: metrics()}); s != nil || err != nil {
			t.Errorf("address %q: %v, %v, want nothing", address, s, err)
		}
	}
	busy := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer busy.Close()
	if _, err := Open(t.Context(), Options{Address: busy.Addr().String(), Plain: true, Metrics: metrics()}); err == nil || !strings.Contains(err.Error(), "choose another address") {
		t.Errorf("a busy port: %v", err)
	}
	must.Equal(t, "with a certificate it listens at", (Options{TLS: Files{Certificate: "c"}}).address(), DefaultTLSAddress)
}

// TestOldVersionsOfTLS are not spoken.
func TestOldVersionsOfTLS(t *testing.T) {
	s := serve(t, Options{TLS: newAuthority(t).files(t, t.TempDir(), nil), REST: apiServer(t)})
	conn, err := tls.Dial("tcp", s.Addr().String(), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if err == nil {
		conn.Close()
		t.Error("TLS 1.1 is spoken")
	}
}

// TestProfileOfTLS is what the server speaks, whoever asks.
func TestProfileOfTLS(t *testing.T) {
	modern := must.Value(platform.Choice{Name: platform.Modern}.Profile())(t)
	s := serve(t, Options{TLS: newAuthority(t).files(t, t.TempDir(), nil), REST: apiServer(t), Profile: platform.NewSource(modern, false)})
	for version, spoken := range map[uint16]bool{tls.VersionTLS12: false, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", s.Addr().String(), &tls.Config{InsecureSkipVerify: true, MaxVersion: version})
		if err == nil {
			conn.Close()
		}
		if (err == nil) != spoken {
			t.Errorf("%s: %v, should be spoken %t", tls.VersionName(version), err, spoken)
		}
	}
}
