package platform

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestProfiles connects to a server of each profile with clients that speak one thing only: the lowest version, a cipher suite, a key exchange.
func TestProfiles(t *testing.T) {
	const aes, chacha = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
	version := func(v uint16) *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: v} }
	suite := func(s uint16) *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{s}}
	}
	curve := func(c tls.CurveID) *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{c}}
	}
	tests := map[string]struct {
		choice    Choice
		taken     map[string]*tls.Config
		forbidden map[string]*tls.Config
	}{
		"nothing said": {Choice{},
			map[string]*tls.Config{"1.2": version(tls.VersionTLS12), "1.3": version(tls.VersionTLS13), "AES": suite(aes), "ChaCha": suite(chacha), "hybrid": curve(tls.X25519MLKEM768), "P-384": curve(tls.CurveP384)},
			map[string]*tls.Config{"1.1": version(tls.VersionTLS11), "CBC": suite(tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA), "P-521": curve(tls.CurveP521)}},
		"modern": {Choice{Name: Modern},
			map[string]*tls.Config{"1.3": version(tls.VersionTLS13), "X25519": curve(tls.X25519)},
			map[string]*tls.Config{"1.2": version(tls.VersionTLS12), "AES": suite(aes)}},
		"old": {Choice{Name: Old},
			map[string]*tls.Config{"1.0": version(tls.VersionTLS10), "1.3": version(tls.VersionTLS13), "CBC": suite(tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA)},
			map[string]*tls.Config{"RC4": suite(tls.TLS_ECDHE_RSA_WITH_RC4_128_SHA)}},
		"custom, lowest version": {Choice{Name: Custom, Version: "TLSv1.3"},
			map[string]*tls.Config{"1.3": version(tls.VersionTLS13)},
			map[string]*tls.Config{"1.2": version(tls.VersionTLS12)}},
		"custom, cipher suites": {Choice{Name: Custom, Ciphers: []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}},
			map[string]*tls.Config{"AES": suite(aes)},
			map[string]*tls.Config{"ChaCha": suite(chacha)}},
		"custom, key exchanges": {Choice{Name: Custom, Curves: []string{"secp384r1"}},
			map[string]*tls.Config{"P-384": curve(tls.CurveP384)},
			map[string]*tls.Config{"X25519": curve(tls.X25519), "hybrid": curve(tls.X25519MLKEM768)}},
		"custom, two names of one key exchange": {Choice{Name: Custom, Curves: []string{"prime256v1", "secp256r1"}},
			map[string]*tls.Config{"P-256": curve(tls.CurveP256)},
			map[string]*tls.Config{"P-384": curve(tls.CurveP384)}},
		"custom, hybrid only": {Choice{Name: Custom, Version: "TLSv1.3", Curves: []string{"X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"}},
			map[string]*tls.Config{"X25519MLKEM768": curve(tls.X25519MLKEM768), "SecP256r1MLKEM768": curve(tls.SecP256r1MLKEM768), "SecP384r1MLKEM1024": curve(tls.SecP384r1MLKEM1024)},
			map[string]*tls.Config{"X25519": curve(tls.X25519)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			profile := must.Value(test.choice.Profile())(t)
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
			profile.Apply(server.TLS)
			server.Config.ErrorLog = nil
			server.StartTLS()
			defer server.Close()
			for what, client := range test.taken {
				if err := shake(server.Listener.Addr(), client); err != nil {
					t.Errorf("%s is not spoken: %v", what, err)
				}
			}
			for what, client := range test.forbidden {
				if shake(server.Listener.Addr(), client) == nil {
					t.Errorf("%s is spoken", what)
				}
			}
		})
	}
}

func shake(address net.Addr, client *tls.Config) error {
	client.InsecureSkipVerify = true
	conn, err := tls.Dial("tcp", address.String(), client)
	if err != nil {
		return err
	}
	return conn.Close()
}

// TestWhatCannotBeHad names the flag, and what there is in its place.
func TestWhatCannotBeHad(t *testing.T) {
	for _, test := range []struct {
		choice Choice
		want   string
	}{
		{Choice{Name: "fips"}, "--tls-profile=fips: there is no such profile; give modern, intermediate, old or custom"},
		{Choice{Version: "TLSv1.3"}, "--tls-profile=intermediate: --tls-custom-version, --tls-custom-ciphers and --tls-custom-curves are of the profile custom"},
		{Choice{Name: Modern, Curves: []string{"X25519"}}, "--tls-profile=modern: "},
		{Choice{Name: Custom, Version: "1.2"}, "--tls-custom-version=1.2: there is no such version; give TLSv1.0, TLSv1.1, TLSv1.2, TLSv1.3"},
		{Choice{Name: Custom, Ciphers: []string{"TLS_RSA_WITH_RC4_128_SHA"}}, `--tls-custom-ciphers: "TLS_RSA_WITH_RC4_128_SHA" is no cipher suite that is secure; give some of TLS_AES_128_GCM_SHA256, `},
		{Choice{Name: Custom, Curves: []string{"P-256"}}, `--tls-custom-curves: "P-256" is no key exchange; give some of SecP256r1MLKEM768, `},
	} {
		if _, err := test.choice.Profile(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.choice, err, test.want)
		}
	}
}

// TestNoProfile leaves a configuration as it is.
func TestNoProfile(t *testing.T) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}
	Profile{}.Apply(c)
	if c.MinVersion != tls.VersionTLS12 || len(c.CipherSuites) != 1 || c.CurvePreferences != nil {
		t.Errorf("it is %+v", c)
	}
}
