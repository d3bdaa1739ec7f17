package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// Key signs. It is a private key of cosign or OpenSSL.
type Key struct {
	// ID is how messages name the public key.
	ID string

	private crypto.Signer
}

// minRSABits is what every verifier of cosign's signatures accepts.
const minRSABits = 2048

// ParseKey reads a private key in PEM: one that cosign has encrypted, or PKCS#8,
// or the older forms for EC and RSA keys. password is asked for only when the
// key is encrypted.
func ParseKey(data []byte, password func() ([]byte, error)) (*Key, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("it is not PEM; give a private key of cosign (cosign.key), or one as `openssl genpkey` makes it")
	}
	der := block.Bytes
	switch block.Type {
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		secret, err := password()
		if err != nil {
			return nil, err
		}
		if der, err = encrypted.Decrypt(der, secret); err != nil {
			return nil, errors.New("it cannot be decrypted: the password is wrong, or the file is damaged")
		}
	case "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("it is an encrypted PKCS#8 key, which is not supported; import it with `cosign import-key-pair`, or decrypt it with `openssl pkcs8`")
	case "EC PRIVATE KEY":
		key, err := x509.ParseECPrivateKey(der)
		if err != nil {
			return nil, fmt.Errorf("it is no EC private key: %w", err)
		}
		return newKey(key)
	case "RSA PRIVATE KEY":
		key, err := x509.ParsePKCS1PrivateKey(der)
		if err != nil {
			return nil, fmt.Errorf("it is no RSA private key: %w", err)
		}
		return newKey(key)
	case "PRIVATE KEY":
	default:
		return nil, fmt.Errorf("it holds a PEM block %q instead of a private key", block.Type)
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("it is no private key in PKCS#8: %w", err)
	}
	return newKey(key)
}

func newKey(private any) (*Key, error) {
	switch k := private.(type) {
	case *ecdsa.PrivateKey, ed25519.PrivateKey:
	case *rsa.PrivateKey:
		if k.N.BitLen() < minRSABits {
			return nil, fmt.Errorf("it is an RSA key of %d bits; use %d at least", k.N.BitLen(), minRSABits)
		}
	default:
		return nil, fmt.Errorf("keys of type %T cannot sign images; use ECDSA P-256", private)
	}
	signer := private.(crypto.Signer)
	id, err := KeyID(signer.Public())
	return &Key{ID: id, private: signer}, err
}

// SignBlob signs content as cosign sign-blob does, but for the base64: with ECDSA in DER, over the SHA-256.
func (k *Key) SignBlob(content []byte) ([]byte, error) { return k.sign(content) }

// sign signs a message as cosign does: over its SHA-256, but for Ed25519. The
// same message gives the same signature, so that signing again adds nothing to
// a registry.
func (k *Key) sign(message []byte) ([]byte, error) {
	if _, ok := k.private.(ed25519.PrivateKey); ok {
		return k.private.Sign(nil, message, crypto.Hash(0))
	}
	hash := crypto.SHA256.New()
	hash.Write(message)
	return k.private.Sign(nil, hash.Sum(nil), crypto.SHA256) // without randomness: RFC 6979, PKCS #1 v1.5
}
