package signature

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// FuzzPolicy: whatever a policy says, it is refused, or gives every repository a
// requirement that can be decided.
func FuzzPolicy(f *testing.F) {
	_, public := newTestKey(f)
	pem := must.Value(json.Marshal(public))(f)
	for _, seed := range []string{
		"", "version: 1\ndefault: reject\n", "version: 1\ndefault: accept\nrules:\n- {scope: quay.io, action: reject}\n",
		"version: 1\ndefault: reject\nrules:\n- {scope: '*.io', action: verify, covers: false, attestation: a, signers: [{keys: [{pem: " + string(pem) + "}]}]}\n",
		"version: 1\ndefault: reject\nrules:\n- {scope: quay.io/a, action: verify, signers: [{issuer: a, subjectPattern: b, trustedRoot: /dev/null}]}\n",
		"a: &a [*a]\n", "<<: {}\n", "? {}\n: 1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePolicy("/nowhere/policy.yaml", data, &files{})
		if err != nil {
			return
		}
		for _, repository := range []string{"quay.io/a/b", "quay.io", "localhost:5000/a"} {
			r := p.rule(repository)
			if r == nil || r.action == actionVerify && len(r.anyOf) == 0 {
				t.Fatalf("%s has requirement %+v", repository, r)
			}
			for _, s := range r.anyOf {
				if len(s.keys) == 0 && s.identity == nil {
					t.Fatalf("a signer of %s is anyone", repository)
				}
			}
		}
		// The same text must mean the same.
		if again, err := parsePolicy("/nowhere/policy.yaml", bytes.Clone(data), &files{}); err != nil || len(again.scopes) != len(p.scopes) {
			t.Fatalf("the second time: %v", err)
		}
	})
}

// FuzzContainers does the same for policy.json.
func FuzzContainers(f *testing.F) {
	for _, seed := range []string{
		`{"default": [{"type": "reject"}]}`, `{"default": [{"type": "insecureAcceptAnything"}], "transports": {"docker": {"": [{"type": "x"}]}}}`,
		`{"default": [{"type": "sigstoreSigned", "keyData": "AA==", "signedIdentity": {"type": "remapIdentity", "prefix": "a", "signedPrefix": "b"}}]}`,
		`{"default": [{"type": "sigstoreSigned", "pki": {"caRootsData": "AA==", "subjectEmail": "a"}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseContainers("/nowhere/policy.json", data, &files{})
		if err != nil {
			return
		}
		for _, r := range c.requirements("quay.io/a/b:v1", "quay.io/a/b") {
			if r.action == actionVerify && (len(r.anyOf) != 1 || r.identity == nil) {
				t.Fatalf("requirement %+v", r)
			}
		}
		if len(c.requirements("quay.io/a/b:v1", "quay.io/a/b")) == 0 {
			t.Fatal("nothing is required")
		}
	})
}

// FuzzSignature: no content of a registry is a signature of a key that did not
// make it, and none stops the process.
func FuzzSignature(f *testing.F) {
	key, public := newTestKey(f)
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	tagged := must.Value(signatureTag("quay.io/a/b", digest, key))(f)
	referring := must.Value(signatureBundle(digest, key))(f)
	who := keyless{sigstore: newSigstore(f), subject: subject, issuer: issuer}
	logged := who.tag(f, "quay.io/a/b", digest)
	f.Add(tagged.Data, tagged.Annotations[annotationSignature], "", "", "")
	f.Add(referring.Data, "", "", "", "")
	f.Add(logged.Data, logged.Annotations[annotationSignature], logged.Annotations[annotationCertificate], logged.Annotations[annotationLog], logged.Annotations[annotationTimestamp])
	f.Add(who.bundle(f, digest, predicateSignature).Data, "", "", "", "")
	empty := must.Value(key.sign(nil))(f)
	f.Add([]byte(`{"mediaType":"`+mediaBundle+`","verificationMaterial":{"publicKey":{"hint":""}},"messageSignature":{"messageDigest":{"algorithm":"SHA2_256","digest":"ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8="},"signature":"`+base64.StdEncoding.EncodeToString(empty)+`"}}`), "", "", "", "")
	f.Add(who.attestationTag(f, digest, provenance).Data, "", "", "", "")

	keys := must.Value(parseKeys([]byte(public)))(f)
	other, _ := newTestKey(f)
	strangers := must.Value(parseKeys([]byte(publicPEM(f, other.private.Public()))))(f)
	request := image.VerifyRequest{Ref: "quay.io/a/b:v1", Repository: "quay.io/a/b", Digest: digest}
	mine := &requirement{anyOf: []*signer{{keys: keys}}}
	theirs := &requirement{anyOf: []*signer{{keys: strangers}}}
	elsewhere := request
	elsewhere.Digest = "sha256:" + strings.Repeat("f", 64)
	f.Fuzz(func(t *testing.T, data []byte, made, certificate, log, stamp string) {
		annotations := map[string]string{annotationSignature: made, annotationCertificate: certificate, annotationLog: log, annotationTimestamp: stamp}
		for _, parse := range []func([]byte, map[string]string) (*candidate, error){parseSignature, parseAttestation, parseBundle} {
			c, err := parse(data, annotations)
			if err != nil {
				continue
			}
			if _, err := theirs.try(c, request, time.Now()); err == nil {
				t.Fatal("a stranger's key made it")
			}
			if _, err := mine.try(c, elsewhere, time.Now()); err == nil {
				t.Fatal("it is for another image")
			}
			_, _ = mine.try(c, request, time.Now()) // must not stop the process
		}
	})
}

// BenchmarkVerify verifies what was read: by a key, and without one.
func BenchmarkVerify(b *testing.B) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	key, public := newTestKey(b)
	keys := must.Value(parseKeys([]byte(public)))(b)
	byKey := must.Value(signatureBundle(digest, key))(b)
	who := keyless{sigstore: newSigstore(b), subject: subject, issuer: issuer}
	dir := b.TempDir()
	write(b, dir, "root.json", string(who.sigstore.trustedRoot(b)))
	p := must.Value(parsePolicy(dir+"/policy.yaml", []byte("version: 1\ndefault: reject\ntrustedRoot: root.json\nrules:\n- {scope: quay.io, action: verify, signers: [{issuer: '"+issuer+"', subject: '"+subject+"', signedTimestamps: 1}]}\n"), &files{}))(b)
	request := image.VerifyRequest{Ref: "quay.io/a/b:v1", Repository: "quay.io/a/b", Digest: digest}
	for name, tt := range map[string]struct {
		data []byte
		by   *requirement
	}{
		"key":     {byKey.Data, &requirement{anyOf: []*signer{{keys: keys}}}},
		"keyless": {who.bundle(b, digest, predicateSignature).Data, p.scopes["quay.io"]},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := must.Value(parseBundle(tt.data, nil))(b)
				must.Value(tt.by.try(c, request, time.Now()))(b)
			}
			each := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(each.Microseconds())/1000, "ms/verification")
			if each > 50*time.Millisecond {
				b.Errorf("a verification takes %s; 50 ms is our own bound", each)
			}
		})
	}
}
