package serving

import (
	"crypto/x509"
	"encoding/pem"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// hosts are the names of the Service in these tests.
var hosts = []string{"svc.ns", "svc.ns.svc", "svc.ns.svc.cluster.local"}

func issue(t testing.TB, r Request) Certificate {
	t.Helper()
	if r.Hosts == nil {
		r.Hosts = hosts
	}
	if r.Now.IsZero() {
		r.Now = start
	}
	s := must.Value(Issue(r))(t)
	return s
}

func TestIssueNeedsAHost(t *testing.T) {
	if _, err := Issue(Request{Now: start}); err == nil {
		t.Error("a certificate without host was issued")
	}
}

func TestIssuedCertificate(t *testing.T) {
	s := issue(t, Request{Hosts: []string{strings.Repeat("a", 70) + ".ns", "b"}})
	leaf, authorities, err := s.parse()
	must.NoError(t, err)
	if len(authorities) != 1 || !authorities[0].IsCA || authorities[0].KeyUsage != x509.KeyUsageCertSign {
		t.Errorf("authorities = %v", authorities)
	}
	if name := authorities[0].Subject.CommonName; !regexp.MustCompile(`^olm-selfsigned-[0-9a-f]+$`).MatchString(name) {
		t.Errorf("common name of the authority = %q", name)
	}
	if leaf.IsCA || len(leaf.Subject.CommonName) != 64 || !slices.Equal(leaf.DNSNames, []string{strings.Repeat("a", 70) + ".ns", "b"}) {
		t.Errorf("leaf: CA %v, common name %q, names %v", leaf.IsCA, leaf.Subject.CommonName, leaf.DNSNames)
	}
	if !leaf.NotAfter.Equal(start.Add(DefaultLife)) || leaf.NotBefore.After(start) {
		t.Errorf("valid from %s to %s", leaf.NotBefore, leaf.NotAfter)
	}
}

func TestCheckAndDue(t *testing.T) {
	good := issue(t, Request{})
	other := issue(t, Request{})
	life := DefaultLife + backdate
	rotate := start.Add(-backdate).Add(life / 3 * 2)
	tests := map[string]struct {
		serving Certificate
		hosts   []string
		now     time.Time
		check   string
		due     string
	}{
		"fresh":               {serving: good, now: start},
		"just before renewal": {serving: good, now: rotate.Add(-time.Second)},
		"at renewal":          {serving: good, now: rotate, due: "two thirds"},
		"expired":             {serving: good, now: start.Add(DefaultLife + time.Second), check: "expired", due: "expired"},
		"not yet valid":       {serving: good, now: start.Add(-time.Hour), check: "not yet valid", due: "not yet valid"},
		"another host":        {serving: good, hosts: []string{"svc.other"}, now: start, check: "svc.other", due: "svc.other"},
		"empty":               {now: start, check: "no certificate", due: "no certificate"},
		"key of another": {serving: Certificate{Certificate: good.Certificate, Key: other.Key, CABundle: good.CABundle},
			now: start, check: "key", due: "key"},
		"authority of another": {serving: Certificate{Certificate: good.Certificate, Key: good.Key, CABundle: other.CABundle},
			now: start, check: "unknown authority", due: "unknown authority"},
		"no authority": {serving: Certificate{Certificate: good.Certificate, Key: good.Key}, now: start, check: "CA bundle", due: "CA bundle"},
		"a key in the place of an authority": {serving: Certificate{Certificate: good.Certificate, Key: good.Key, CABundle: good.Key},
			now: start, check: "CERTIFICATE", due: "CERTIFICATE"},
		"garbage": {serving: Certificate{Certificate: []byte("x"), Key: good.Key, CABundle: good.CABundle},
			now: start, check: "PEM", due: "PEM"},
		"too long": {serving: Certificate{Certificate: make([]byte, maxPEM+1), CABundle: good.CABundle},
			now: start, check: "limit", due: "limit"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			names := tc.hosts
			if names == nil {
				names = hosts
			}
			expect(t, "Check", tc.serving.Check(names, tc.now), tc.check)
			expect(t, "Due", tc.serving.Due(names, tc.now), tc.due)
		})
	}
}

func expect(t *testing.T, what string, err error, text string) {
	t.Helper()
	if text == "" && err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("%s = %v, want an error about %q", what, err, text)
	}
}

func TestOldAuthoritiesAreBoundedAndDroppedOnceExpired(t *testing.T) {
	s := issue(t, Request{})
	for i := range 6 {
		s = issue(t, Request{Old: s, Now: start.Add(time.Duration(i) * time.Hour)})
	}
	if _, authorities, err := s.parse(); err != nil || len(authorities) != maxAuthorities {
		t.Errorf("%d authorities (%v), want %d", len(authorities), err, maxAuthorities)
	}
	s = issue(t, Request{Old: s, Now: start.Add(2 * DefaultLife)})
	if _, authorities, err := s.parse(); err != nil || len(authorities) != 1 {
		t.Errorf("%d authorities (%v) once the old ones expired, want 1", len(authorities), err)
	}
}

func FuzzServing(f *testing.F) {
	s := issue(f, Request{})
	f.Add(s.Certificate, s.Key, s.CABundle)
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"), []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, certificate, key, authorities []byte) {
		in := Certificate{Certificate: certificate, Key: key, CABundle: authorities}
		due := in.Due(hosts, start)
		if due == nil && in.Check(hosts, start) != nil {
			t.Error("a certificate that cannot be used is not due for renewal")
		}
		// Whatever was there before, a renewed certificate is good.
		out := issue(t, Request{Old: in})
		must.NoErrorf(t, out.Due(hosts, start), "renewed certificate")
	})
}

func TestMerge(t *testing.T) {
	one, two, old := issue(t, Request{}), issue(t, Request{}), issue(t, Request{Now: start.Add(-2 * DefaultLife)})
	junk := append([]byte("junk"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("junk")})...)
	all := string(one.CABundle) + string(two.CABundle)
	must.Equal(t, "merge", string(Merge(start, 5, junk, one.CABundle, nil, two.CABundle, old.CABundle, one.CABundle)), all)
	must.Equal(t, "merge", string(Merge(start, 1, two.CABundle, one.CABundle)), string(two.CABundle))
	must.Empty(t, "which has expired", Merge(start.Add(DefaultLife+time.Hour), 5, one.CABundle))
}

func TestSort(t *testing.T) {
	one, two := issue(t, Request{}).CABundle, issue(t, Request{}).CABundle
	if a, b := string(Sort(append(one, two...))), string(Sort(append(two, one...))); a != b || len(a) != len(one)+len(two) {
		t.Errorf("got\n%s and\n%s", a, b)
	}
}
