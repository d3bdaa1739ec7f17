package signature

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// policyJSON writes a policy.json with one requirement for a scope.
func policyJSON(t *testing.T, scope string, requirements ...string) string {
	t.Helper()
	return write(t, t.TempDir(), "policy.json", fmt.Sprintf(`{"default": [{"type": "reject"}], "transports": {"docker": {%q: [%s]}}}`, scope, strings.Join(requirements, ", ")))
}

func fields(t *testing.T, f map[string]any) string {
	t.Helper()
	f["type"] = "sigstoreSigned"
	data := must.Value(json.Marshal(f))(t)
	return string(data)
}

// TestContainersIdentity tries each signedIdentity on signatures for a reference.
func TestContainersIdentity(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	digest := r.push(t, repoPath+":v1", "content")
	key, public := newTestKey(t)
	repository := r.host + "/" + repoPath
	tests := map[string]struct {
		identity      map[string]any // nil is the default
		made          string         // what the signature is for
		tag, byDigest bool           // whether it is accepted
	}{
		"default, repository":       {nil, repository, false, false},
		"default, tag":              {nil, repository + ":v1", true, true},
		"default, other tag":        {nil, repository + ":v2", false, true},
		"default, digest":           {nil, repository + "@" + digest, false, true},
		"default, other repository": {nil, r.host + "/evil:v1", false, false},
		"matchExact":                {map[string]any{"type": "matchExact"}, repository + ":v1", true, false},
		"matchExact, digest":        {map[string]any{"type": "matchExact"}, repository + "@" + digest, false, true},
		"matchRepository":           {map[string]any{"type": "matchRepository"}, repository, true, true},
		"matchRepository, other":    {map[string]any{"type": "matchRepository"}, r.host + "/evil", false, false},
		"exactReference":            {map[string]any{"type": "exactReference", "dockerReference": "quay.io/a/b:c"}, "quay.io/a/b:c", true, true},
		"exactReference, other":     {map[string]any{"type": "exactReference", "dockerReference": "quay.io/a/b:c"}, "quay.io/a/b:d", false, false},
		"exactRepository":           {map[string]any{"type": "exactRepository", "dockerRepository": "quay.io/a/b"}, "quay.io/a/b:c", true, true},
		"exactRepository, other":    {map[string]any{"type": "exactRepository", "dockerRepository": "quay.io/a/b"}, repository, false, false},
		"remapIdentity":             {map[string]any{"type": "remapIdentity", "prefix": r.host + "/acme", "signedPrefix": "quay.io/acme"}, "quay.io/" + repoPath + ":v1", true, true},
		"remapIdentity, other":      {map[string]any{"type": "remapIdentity", "prefix": r.host + "/acme", "signedPrefix": "quay.io/acme"}, repository + ":v1", false, false},
		"remapIdentity, no match":   {map[string]any{"type": "remapIdentity", "prefix": r.host + "/acm", "signedPrefix": "quay.io/acme"}, repository + ":v1", true, true},
		"not a reference":           {map[string]any{"type": "matchRepository"}, "::", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			// The repository has another port now, so that names in the table are mapped to it.
			here := func(s string) string {
				return strings.ReplaceAll(s, strings.TrimSuffix(repository, "/"+repoPath), r.host)
			}
			digest := r.push(t, repoPath+":v1", "content")
			a := must.Value(signatureTag(here(tt.made), digest, key))(t)
			r.attach(t, repoPath, digest, a)
			f := map[string]any{"keyData": []byte(public)}
			if tt.identity != nil {
				identity := map[string]any{}
				for k, v := range tt.identity {
					identity[k] = here(v.(string))
				}
				f["signedIdentity"] = identity
			}
			s := openStore(t, Config{Containers: policyJSON(t, r.host, fields(t, f))}, "")
			for ref, want := range map[string]bool{r.host + "/" + repoPath + ":v1": tt.tag, r.host + "/" + repoPath + "@" + digest: tt.byDigest} {
				_, v, err := pull(t, s, ref, image.PullOptions{})
				if (err == nil) != want || err == nil && v.Outcome != image.Signed || err != nil && image.KindOf(err) != image.Unverified {
					t.Errorf("%s: %v, %v; want %v", ref, v, err, want)
				}
			}
		})
	}
}

// TestContainersFulcio: certificates of an authority, with the promise of a log.
func TestContainersFulcio(t *testing.T) {
	t.Parallel()
	sig := newSigstore(t)
	who := keyless{sigstore: sig, subject: "jane@example.com", issuer: issuer}
	authority := sig.FulcioCertificateAuthorities()[0].(*root.FulcioCertificateAuthority)
	certificates := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Root.Raw})
	intermediate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Intermediates[0].Raw})
	var log string
	for _, l := range sig.RekorLogs() {
		log = publicPEM(t, l.PublicKey)
	}
	_, otherLog := newTestKey(t)
	tests := map[string]struct {
		email, issuer, log string
		at                 time.Time
		ok                 bool
	}{
		"right":        {"jane@example.com", issuer, log, time.Time{}, true},
		"other email":  {"joe@example.com", issuer, log, time.Time{}, false},
		"other issuer": {"jane@example.com", "https://other.example", log, time.Time{}, false},
		"other log":    {"jane@example.com", issuer, otherLog, time.Time{}, false},
		"expired":      {"jane@example.com", issuer, log, time.Now().Add(time.Hour), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			digest := r.push(t, repoPath+":v1", "content")
			w := who
			w.at = tt.at
			a := w.tag(t, r.host+"/"+repoPath, digest)
			a.Annotations[annotationChain] = string(intermediate) + string(certificates)
			r.attach(t, repoPath, digest, a)
			policy := policyJSON(t, r.host, fields(t, map[string]any{
				"fulcio":             map[string]any{"caData": certificates, "oidcIssuer": tt.issuer, "subjectEmail": tt.email},
				"rekorPublicKeyData": []byte(tt.log),
				"signedIdentity":     map[string]any{"type": "matchRepository"},
			}))
			_, v, err := pull(t, openStore(t, Config{Containers: policy}, ""), r.host+"/"+repoPath+":v1", image.PullOptions{})
			if (err == nil) != tt.ok || err != nil && image.KindOf(err) != image.Unverified {
				t.Fatalf("%v, %v", v, err)
			}
			if tt.ok && (v.Signers[0].Subject != "jane@example.com" || v.Signers[0].Time.IsZero()) {
				t.Errorf("signer %+v", v.Signers[0])
			}
		})
	}
}

// authority is a private certificate authority, and a certificate of it.
func newAuthority(t *testing.T, notAfter time.Time) (rootPEM, leafPEM []byte, key *Key) {
	t.Helper()
	rootKey := must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	top := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootDER := must.Value(x509.CreateCertificate(rand.Reader, top, top, rootKey.Public(), rootKey))(t)
	leafKey := must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "jane"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: notAfter, EmailAddresses: []string{"jane@example.com"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, top, leafKey.Public(), rootKey)
	must.NoError(t, err)
	if key, err = newKey(leafKey); err != nil {
		t.Fatal(err)
	}
	block := func(der []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	return block(rootDER), block(leafDER), key
}

// TestContainersPKI: a certificate of a private authority counts while it
// holds, and what was verified by it ends with it.
func TestContainersPKI(t *testing.T) {
	t.Parallel()
	ends := time.Now().Add(2 * time.Hour).Truncate(time.Second)
	rootPEM, leafPEM, key := newAuthority(t, ends)
	otherRoot, _, otherKey := newAuthority(t, ends)
	tests := map[string]struct {
		root  []byte
		email string
		key   *Key
		after time.Duration
		ok    bool
	}{
		"right":           {rootPEM, "jane@example.com", key, 0, true},
		"other authority": {otherRoot, "jane@example.com", key, 0, false},
		"other email":     {rootPEM, "joe@example.com", key, 0, false},
		"other key":       {rootPEM, "jane@example.com", otherKey, 0, false},
		"expired":         {rootPEM, "jane@example.com", key, 3 * time.Hour, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			digest := r.push(t, repoPath+":v1", "content")
			a := must.Value(signatureTag(r.host+"/"+repoPath+":v1", digest, tt.key))(t)
			a.Annotations[annotationCertificate] = string(leafPEM)
			r.attach(t, repoPath, digest, a)
			policy := policyJSON(t, r.host, fields(t, map[string]any{"pki": map[string]any{"caRootsData": tt.root, "subjectEmail": tt.email}}))
			now := time.Now().Add(tt.after)
			s := openStore(t, Config{Containers: policy, Now: func() time.Time { return now }}, "")
			ref := r.host + "/" + repoPath + ":v1"
			_, v, err := pull(t, s, ref, image.PullOptions{})
			if (err == nil) != tt.ok || err != nil && image.KindOf(err) != image.Unverified {
				t.Fatalf("%v, %v", v, err)
			}
			if !tt.ok {
				return
			}
			if !v.Expires.Equal(ends) {
				t.Errorf("expires %s, want %s", v.Expires, ends)
			}
			now = ends.Add(time.Second)
			if _, _, err := pull(t, s, ref, image.PullOptions{}); image.KindOf(err) != image.Unverified {
				t.Errorf("a verification outlives its certificate: %v", err)
			}
		})
	}
}

// TestBothPolicies: where both are there, both must be satisfied.
func TestBothPolicies(t *testing.T) {
	t.Parallel()
	ours, theirs := newTestKeys(t)
	for name, tt := range map[string]struct {
		by []*Key
		ok bool
	}{
		"both": {[]*Key{ours.key, theirs.key}, true}, "ours": {[]*Key{ours.key}, false}, "theirs": {[]*Key{theirs.key}, false}, "none": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSigned(t)
			write(t, s.dir, "key.pub", ours.public)
			digest := s.push(t, "a/b:v1", "content")
			for _, key := range tt.by {
				s.key = key
				s.sign("a/b", digest)
			}
			s.require("reject", `{scope: "HOST", KEY}`)
			policy := policyJSON(t, s.host, fields(t, map[string]any{"keyData": []byte(theirs.public), "signedIdentity": map[string]any{"type": "matchRepository"}}))
			store := openStore(t, Config{Policy: s.policy, Containers: policy}, "")
			_, v, err := pull(t, store, s.host+"/a/b:v1", image.PullOptions{})
			if (err == nil) != tt.ok || err != nil && image.KindOf(err) != image.Unverified {
				t.Fatalf("%v, %v", v, err)
			}
			if tt.ok && (len(v.Signers) != 2 || len(v.Rules) != 2) {
				t.Errorf("verification %+v", v)
			}
			// What policy.json asks for is not covered by a catalog.
			o := image.VerifyOptions{NamedBy: &image.Origin{Ref: s.host + "/a/b:v1", Digest: digest}}
			bundle := s.push(t, "a/bundle:v1", "bundle")
			if _, err := store.Verify(context.Background(), s.host+"/a/bundle@"+bundle, o); image.KindOf(err) != image.Unverified {
				t.Errorf("policy.json is satisfied by a catalog: %v", err)
			}
		})
	}
}

type testKey struct {
	key    *Key
	public string
}

func newTestKeys(t *testing.T) (a, b testKey) {
	a.key, a.public = newTestKey(t)
	b.key, b.public = newTestKey(t)
	return a, b
}

// TestContainersOptional: the default file may be absent, but does not go away.
func TestContainersOptional(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	ref := r.host + "/" + repoPath + "@" + r.push(t, repoPath+":v1", "content")
	dir := t.TempDir()
	file := dir + "/policy.json"
	if _, _, err := pull(t, openStore(t, Config{Containers: file}, ""), ref, image.PullOptions{}); image.KindOf(err) != image.Unverified {
		t.Errorf("a file that was named and is missing: %v", err)
	}
	s := openStore(t, Config{Containers: file, ContainersOptional: true}, "")
	if _, v, err := pull(t, s, ref, image.PullOptions{}); err != nil || v != nil {
		t.Errorf("without the default file: %v, %v", v, err)
	}
	write(t, dir, "policy.json", `{"default": [{"type": "reject"}]}`)
	if _, _, err := pull(t, s, ref, image.PullOptions{}); image.KindOf(err) != image.Unverified {
		t.Errorf("the file appeared: %v", err)
	}
	write(t, dir, "policy.json", `{"default": [{"type": "insecureAcceptAnything"}]}`)
	if _, v, err := pull(t, s, ref, image.PullOptions{}); err != nil || v.Outcome != image.Accepted {
		t.Errorf("the file accepts: %v, %v", v, err)
	}
	must.NoError(t, os.Remove(file))
	if _, _, err := pull(t, s, ref, image.PullOptions{}); image.KindOf(err) != image.Unverified {
		t.Errorf("the file went away: %v", err)
	}
}
