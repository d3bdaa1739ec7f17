package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/test/must"
)

// TestPublish: what is pushed is what was made, and a policy that requires the signature, or the provenance, of the key accepts it. Without a key it has neither.
func TestPublish(t *testing.T) {
	o, made := released(t, nil)
	registry := httptest.NewServer(image.NewRegistry(""))
	defer registry.Close()
	host := strings.TrimPrefix(registry.URL, "http://")
	key, public := makeSigningKey(t)

	for name, c := range map[string]struct {
		key         *signature.Key
		attestation string
		verifies    bool
	}{
		"signature":                     {key: key, verifies: true},
		"provenance":                    {key: key, attestation: predicateType, verifies: true},
		"another attestation":           {key: key, attestation: "https://example.com/scan"},
		"no signature without a key":    {},
		"no provenance without the key": {attestation: predicateType},
	} {
		t.Run(name, func(t *testing.T) {
			ref := fmt.Sprintf("%s/%s/manager:v1", host, strings.ReplaceAll(name, " ", "-"))
			pinned := must.Value(Publish(t.Context(), o.Out, made, ref, c.key, image.PushOptions{}))(t)
			if pinned != strings.TrimSuffix(ref, ":v1")+"@"+made.ImageDigest {
				t.Errorf("pushed %s, made %s", pinned, made.ImageDigest)
			}
			rule := map[bool]string{true: fmt.Sprintf(`"attestation": %q, `, c.attestation)}[c.attestation != ""]
			policy := filepath.Join(t.TempDir(), "policy.json")
			text := fmt.Sprintf(`{"version": 1, "default": "reject", "rules": [{"scope": %q, "action": "verify", %s"signers": [{"keys": [{"pem": %q}]}]}]}`, host, rule, public)
			must.NoError(t, os.WriteFile(policy, []byte(text), 0o600))
			store, err := image.Open(t.TempDir(), image.Config{Verifier: signature.New(signature.Config{Policy: policy})})
			if err != nil {
				t.Fatal(err)
			}
			for _, digest := range []string{"", made.Images[0].Digest, made.Images[1].Digest} { // the tag of the index, and each image by its digest
				named := ref
				if digest != "" {
					named = image.Pin(ref, digest)
				}
				if _, err = store.Verify(t.Context(), named, image.VerifyOptions{}); (err == nil) != c.verifies {
					t.Errorf("%s was verified: %v", named, err)
				}
			}
			if platforms := must.Value(unchecked(t).Platforms(t.Context(), ref, image.Auth{}))(t); len(platforms) != 2 {
				t.Errorf("the pushed image is for %v", platforms)
			}
		})
	}
}

// unchecked is a store that verifies nothing.
func unchecked(t *testing.T) *image.Store {
	t.Helper()
	return must.Value(image.Open(t.TempDir(), image.Config{}))(t)
}

// TestPublishRefuses a directory without a release, and a reference that is no tag.
func TestPublishRefuses(t *testing.T) {
	o, made := released(t, nil)
	for ref, out := range map[string]string{"127.0.0.1:1/manager:v1": t.TempDir(), "127.0.0.1:1/manager@" + made.ImageDigest: o.Out, "manager:v1": o.Out} {
		if pinned, err := Publish(t.Context(), out, made, ref, nil, image.PushOptions{}); err == nil {
			t.Errorf("%s from %s was published as %s", ref, out, pinned)
		}
	}
}

// makeSigningKey makes a key, and the PEM of its public half.
func makeSigningKey(t *testing.T) (*signature.Key, string) {
	t.Helper()
	private := must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	secret := must.Value(x509.MarshalPKCS8PrivateKey(private))(t)
	public := must.Value(x509.MarshalPKIXPublicKey(private.Public()))(t)
	key := must.Value(signature.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil))(t)
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
}
