package signature

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// TestSignAndVerify: each kind of key signs in each form in which it is kept,
// and each of both layouts alone satisfies.
func TestSignAndVerify(t *testing.T) {
	t.Parallel()
	curve := func(c elliptic.Curve) func() (crypto.Signer, error) {
		return func() (crypto.Signer, error) { return ecdsa.GenerateKey(c, rand.Reader) }
	}
	kinds := map[string]func() (crypto.Signer, error){
		"P-256": curve(elliptic.P256()), "P-384": curve(elliptic.P384()),
		"RSA":     func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) },
		"Ed25519": func() (crypto.Signer, error) { _, k, err := ed25519.GenerateKey(rand.Reader); return k, err },
	}
	for name, generate := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			private := must.Value(generate())(t)
			der := must.Value(x509.MarshalPKCS8PrivateKey(private))(t)
			secret := must.Value(encrypted.Encrypt(der, []byte("pw")))(t)
			for kind, content := range map[string][]byte{"PRIVATE KEY": der, "ENCRYPTED SIGSTORE PRIVATE KEY": secret, "ENCRYPTED COSIGN PRIVATE KEY": secret} {
				file := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
				key, err := ParseKey(file, func() ([]byte, error) { return []byte("pw"), nil })
				must.NoErrorf(t, err, "%s", kind)
				signBoth(t, key, publicPEM(t, private.Public()))
			}
			wrong := func() ([]byte, error) { return []byte("other"), nil }
			_, err := ParseKey(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: secret}), wrong)
			must.Fail(t, "ParseKey", err, "password is wrong")
		})
	}
}

func signBoth(t *testing.T, key *Key, public string) {
	t.Helper()
	s := newSigned(t)
	s.key = key
	write(t, s.dir, "key.pub", public)
	s.require("reject", `{scope: "HOST", KEY}`)
	both := s.push(t, "a/both:v1", "both")
	s.sign("a/both", both)
	s.sign("a/both", both) // adds nothing
	must.Equal(t, "signed twice: signatures", len(manifestOf(t, s, "a/both", tagOf(both)+".sig").Layers), 1)
	tag := must.Value(signatureTag(s.host+"/a/tag", s.push(t, "a/tag:v1", "tag"), key))(t)
	s.attach(t, "a/tag", s.push(t, "a/tag:v1", "tag"), tag)
	referring := must.Value(signatureBundle(s.push(t, "a/bundle:v1", "bundle"), key))(t)
	s.attach(t, "a/bundle", s.push(t, "a/bundle:v1", "bundle"), referring)
	for _, repository := range []string{"a/both", "a/tag", "a/bundle"} {
		v, err := s.store().Verify(context.Background(), s.host+"/"+repository+":v1", image.VerifyOptions{})
		must.NoErrorf(t, err, "%s", repository)
		must.Equal(t, repository, v.Signers[0].Key, key.ID)
	}
}

// manifestOf reads a manifest as the Verifier would.
func manifestOf(t *testing.T, s *signed, repository, tag string) *image.Manifest {
	t.Helper()
	var found *image.Manifest
	ask := verifierFunc(func(_ context.Context, r image.VerifyRequest) (*image.Verification, error) {
		places, err := r.Artifacts(r.Ref)
		if err == nil {
			found, err = places[0].Manifest(tag)
		}
		return nil, err
	})
	store := must.Value(image.Open(t.TempDir(), image.Config{Verifier: ask}))(t)
	must.Value(store.Verify(context.Background(), s.host+"/"+repository+":v1", image.VerifyOptions{}))(t)
	return found
}

type verifierFunc func(context.Context, image.VerifyRequest) (*image.Verification, error)

func (f verifierFunc) Verify(ctx context.Context, r image.VerifyRequest) (*image.Verification, error) {
	return f(ctx, r)
}

func TestParseKeyErrors(t *testing.T) {
	t.Parallel()
	_, public := newTestKey(t)
	small := must.Value(rsa.GenerateKey(rand.Reader, 1024))(t)
	none := func() ([]byte, error) { return nil, errors.New("no password") }
	tests := map[string]struct{ text, says string }{
		"not PEM":           {"hello", "not PEM"},
		"a public key":      {public, `PEM block "PUBLIC KEY"`},
		"no password":       {string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY"})), "no password"},
		"encrypted PKCS#8":  {string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY"})), "cosign import-key-pair"},
		"a damaged key":     {string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})), "PKCS#8"},
		"a short RSA key":   {string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(small)})), "1024 bits"},
		"a damaged EC key":  {string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("x")})), "no EC private key"},
		"a damaged RSA key": {string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: []byte("x")})), "no RSA private key"},
	}
	for name, tt := range tests {
		_, err := ParseKey([]byte(tt.text), none)
		must.Fail(t, name, err, tt.says)
	}
}

// TestMessageSignature: a bundle may sign the manifest itself. The digest that
// it claims is no proof: a signature of something else by the same key, such as
// an empty file, is none of the image.
func TestMessageSignature(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must.NoError(t, err)
	edwards := must.Value(newKey(private))(t)
	ecdsaKey, _ := newTestKey(t)
	for name, key := range map[string]*Key{"Ed25519": edwards, "ECDSA": ecdsaKey} {
		for what, right := range map[string]bool{"manifest": true, "": false, "other": false} {
			s := newSigned(t)
			write(t, s.dir, "key.pub", publicPEM(t, key.private.Public()))
			s.require("reject", `{scope: "HOST", KEY}`)
			digest := s.push(t, "a/b:v1", "content")
			message := []byte(what)
			if what == "manifest" {
				message = manifestOf(t, s, "a/b", digest).Raw
			}
			made := must.Value(key.sign(message))(t)
			sum := must.Value(hex.DecodeString(strings.TrimPrefix(digest, "sha256:")))(t)
			data := must.Value(json.Marshal(map[string]any{
				"mediaType":            mediaBundle,
				"verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": "x"}},
				"messageSignature":     map[string]any{"messageDigest": map[string]any{"algorithm": "SHA2_256", "digest": sum}, "signature": made},
			}))(t)
			s.attach(t, "a/b", digest, image.Attachment{MediaType: mediaBundle, Data: data})
			_, err = s.store().Verify(context.Background(), s.host+"/a/b:v1", image.VerifyOptions{})
			if (err == nil) != right || err != nil && image.KindOf(err) != image.Unverified {
				t.Errorf("%s signed %q: %v", name, what, err)
			}
		}
	}
}

// TestAttest: a signed statement satisfies a rule that requires its predicate, and is refused for an image that it is not about.
func TestAttest(t *testing.T) {
	t.Parallel()
	s := newSigned(t)
	const predicate = "https://slsa.dev/provenance/v1"
	s.require("reject", `{scope: "HOST", attestation: "`+predicate+`", KEY}`)
	verify := func() error {
		_, err := s.store().Verify(t.Context(), s.host+"/a/b:v1", image.VerifyOptions{})
		return err
	}
	digest, other := s.push(t, "a/b:v1", "content"), s.push(t, "a/b:v2", "other content")
	statement := must.Value(newStatement(digest, predicate, map[string]any{"by": "test"}))(t)
	for name, c := range map[string]struct{ digest, statement, says string }{
		"about another image": {other, string(statement), "about other content"},
		"not JSON":            {digest, "{", "read the in-toto statement"},
		"without a predicate": {digest, `{"subject": []}`, "no predicateType"},
	} {
		if err := Attest(t.Context(), s.host+"/a/b", c.digest, []byte(c.statement), s.key, image.PushOptions{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := verify(); err == nil {
		t.Error("accepted without an attestation")
	}
	must.NoError(t, Attest(t.Context(), s.host+"/a/b", digest, statement, s.key, image.PushOptions{}))
	must.NoErrorf(t, verify(), "with the attestation")
}
