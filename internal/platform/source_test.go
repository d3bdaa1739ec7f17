package platform

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"slices"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// listen serves TLS on loopback with the profile of a Source.
func listen(t *testing.T, s *Source) net.Addr {
	t.Helper()
	issued := must.Value(serving.Issue(serving.Request{Hosts: []string{"localhost"}, Now: time.Now()}))(t)
	pair := must.Value(tls.X509KeyPair(issued.Certificate, issued.Key))(t)
	own := func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
	}
	listener := must.Value(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: s.ForClients(own)}))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = conn.(*tls.Conn).Handshake() // the client reports what fails
				_ = conn.Close()
			}()
		}
	}()
	return listener.Addr()
}

func of(t *testing.T, c Choice) Profile {
	t.Helper()
	p := must.Value(c.Profile())(t)
	return p
}

// TestAServerFollows changes the profile under a server: new connections have it, without another listener.
func TestAServerFollows(t *testing.T) {
	s := NewSource(of(t, Choice{}), true)
	at := listen(t, s)
	old := func() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS12} }
	must.NoErrorf(t, shake(at, old()), "the profile intermediate refuses TLS 1.2")
	if s.Client() != nil {
		t.Error("clients have a profile that was not set")
	}
	changed := s.Changed()
	if !s.Set(new(of(t, Choice{Name: Modern}))) {
		t.Error("another profile is no change")
	}
	select {
	case <-changed:
	default:
		t.Error("the change is not reported")
	}
	if err := shake(at, old()); err == nil {
		t.Error("the profile modern allows TLS 1.2")
	}
	if err := shake(at, &tls.Config{MinVersion: tls.VersionTLS13}); err != nil {
		t.Errorf("the profile modern refuses TLS 1.3: %v", err)
	}
	must.Equal(t, "clients do not follow", s.Client().MinVersion, tls.VersionTLS13)
	if s.Set(new(of(t, Choice{Name: Modern}))) {
		t.Error("the same profile is a change")
	}
	if !s.Set(nil) || s.Set(nil) || s.Client() != nil {
		t.Error("the profile of the cluster stays in force without the cluster's object")
	}
	if err := shake(at, old()); err != nil {
		t.Errorf("with the first profile again TLS 1.2 is refused: %v", err)
	}
	if !s.Set(new(of(t, Choice{}))) || s.Client() == nil {
		t.Error("a cluster that chooses intermediate has not chosen it for clients")
	}
}

// TestAnExplicitProfileWins keeps what was chosen by flags.
func TestAnExplicitProfileWins(t *testing.T) {
	chosen := must.Value(Choice{Name: Modern}.Source())(t)
	if chosen.Follows() || chosen.Set(new(of(t, Choice{Name: Old}))) || chosen.Client().MinVersion != tls.VersionTLS13 {
		t.Error("the profile of the cluster replaces that of a flag")
	}
	unset, err := Choice{}.Source()
	if err != nil || !unset.Follows() {
		t.Errorf("without flags the cluster is not followed: %v", err)
	}
	if _, err := (Choice{Version: "TLSv1.3"}).Source(); err == nil {
		t.Error("a custom version is accepted without the profile custom")
	}
	var none *Source
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if none.Apply(c); none.Follows() || c.MinVersion != tls.VersionTLS12 || none.Set(&Profile{}) {
		t.Error("a nil Source changes something")
	}
}

// TestTheProfileOfACluster reads spec.tlsSecurityProfile as people write it.
func TestTheProfileOfACluster(t *testing.T) {
	const gcm, chacha = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
	same := func(c Choice) Profile { return of(t, c) }
	with := func(version uint16, ciphers ...uint16) Profile {
		p := same(Choice{})
		p.version, p.ciphers = version, ciphers
		return p
	}
	for name, test := range map[string]struct {
		spec    string
		want    Profile
		without []string
		err     string
	}{
		"unset":        {`{}`, same(Choice{}), nil, ""},
		"intermediate": {`{"type":"Intermediate","intermediate":{}}`, same(Choice{}), nil, ""},
		"old":          {`{"type":"Old"}`, same(Choice{Name: Old}), nil, ""},
		"modern":       {`{"type":"Modern"}`, same(Choice{Name: Modern}), nil, ""},
		"custom": {`{"type":"Custom","custom":{"minTLSVersion":"VersionTLS11","ciphers":["ECDHE-RSA-AES128-GCM-SHA256","TLS_AES_128_GCM_SHA256","ECDHE-ECDSA-CHACHA20-POLY1305"]}}`,
			with(tls.VersionTLS11, gcm, chacha), nil, ""},
		"cipher suites that are weak or unknown are left out": {`{"type":"Custom","custom":{"minTLSVersion":"VersionTLS12","ciphers":["DHE-RSA-AES128-GCM-SHA256","ECDHE-RSA-AES128-GCM-SHA256","DES-CBC3-SHA"]}}`,
			with(tls.VersionTLS12, gcm), []string{"DHE-RSA-AES128-GCM-SHA256", "DES-CBC3-SHA"}, ""},
		"none of them is left": {`{"type":"Custom","custom":{"minTLSVersion":"VersionTLS12","ciphers":["DES-CBC3-SHA"]}}`, with(tls.VersionTLS13), []string{"DES-CBC3-SHA"}, ""},
		"no such type":         {`{"type":"Strict"}`, Profile{}, nil, `there is no profile "Strict"; set Old, Intermediate, Modern or Custom`},
		"no such version":      {`{"type":"Custom","custom":{"minTLSVersion":"TLSv1.2"}}`, Profile{}, nil, `there is no version "TLSv1.2"; set one of VersionTLS10`},
	} {
		t.Run(name, func(t *testing.T) {
			var security Security
			must.NoError(t, json.Unmarshal([]byte(test.spec), &security))
			got, without, err := security.Profile()
			if test.err != "" {
				must.Fail(t, "the call", err, test.err)
				return
			}
			if err != nil || !got.Equal(test.want) || !slices.Equal(without, test.without) {
				t.Errorf("%+v without %q, %v; want %+v without %q", got, without, err, test.want, test.without)
			}
		})
	}
}
