package signature

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

// publicKey verifies signatures by one key. It implements
// root.TimeConstrainedVerifier, and holds at any time.
type publicKey struct {
	id  string // sha256:<hex> of its PKIX form
	key crypto.PublicKey
	// variants are the ways in which tools sign with a key of this type:
	// cosign hashes with SHA-256 whatever the curve.
	variants []signature.Verifier
}

// parseKeys reads the public keys of a PEM file.
func parseKeys(data []byte) ([]*publicKey, error) {
	var keys []*publicKey
	for rest := bytes.TrimSpace(data); len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("it is not PEM; write a public key as -----BEGIN PUBLIC KEY-----")
		}
		rest = bytes.TrimSpace(rest)
		key, err := cryptoutils.UnmarshalPEMToPublicKey(pem.EncodeToMemory(block))
		if err != nil {
			return nil, fmt.Errorf("the PEM block %q is no public key: %w", block.Type, err)
		}
		k, err := newPublicKey(key)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, errors.New("it holds no public key")
	}
	return keys, nil
}

func newPublicKey(key crypto.PublicKey) (*publicKey, error) {
	id, err := KeyID(key)
	if err != nil {
		return nil, err
	}
	byDefault, err := signature.LoadDefaultVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("keys of that type cannot be used: %w", err)
	}
	k := &publicKey{id: id, key: key, variants: []signature.Verifier{byDefault}}
	if other, err := signature.LoadVerifier(key, crypto.SHA256); err == nil {
		k.variants = append(k.variants, other)
	}
	return k, nil
}

// KeyID returns how messages name a public key: sha256:<hex> of its PKIX form.
func KeyID(key crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("the key has no PKIX form: %w", err)
	}
	return digest.FromBytes(der).String(), nil
}

// PublicKey implements signature.PublicKeyProvider.
func (k *publicKey) PublicKey(...signature.PublicKeyOption) (crypto.PublicKey, error) {
	return k.key, nil
}

// ValidAtTime implements root.ValidityPeriodChecker.
func (k *publicKey) ValidAtTime(time.Time) bool { return true }

// VerifySignature implements Verifier.
func (k *publicKey) VerifySignature(sig, message io.Reader, options ...signature.VerifyOption) error {
	made, err := io.ReadAll(sig)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(message)
	if err != nil {
		return err
	}
	for _, v := range k.variants {
		if err = v.VerifySignature(bytes.NewReader(made), bytes.NewReader(content), options...); err == nil {
			return nil
		}
	}
	return err
}

// parseCertificates reads the certificates of a PEM file.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	certificates, err := cryptoutils.UnmarshalCertificatesFromPEM(data)
	if err != nil {
		return nil, fmt.Errorf("it holds no certificates in PEM: %w", err)
	}
	if len(certificates) == 0 {
		return nil, errors.New("it holds no certificate in PEM")
	}
	return certificates, nil
}
