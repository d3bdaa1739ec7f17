package devcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"time"

	"k8s.io/client-go/util/keyutil"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	// backdate tolerates clocks that step back a little, as those of suspended virtual machines do.
	backdate = time.Hour
)

// authority is a certificate authority with its key.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func openAuthority(certPath, keyPath, name string) (*authority, error) {
	a, err := readAuthority(certPath, keyPath)
	if errors.Is(err, fs.ErrNotExist) {
		template, key, err := newTemplate(pkix.Name{CommonName: name}, authorityLife)
		if err != nil {
			return nil, err
		}
		template.IsCA = true
		template.BasicConstraintsValid = true
		template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			return nil, fmt.Errorf("create the certificate authority %s: %w", name, err)
		}
		// The key goes first: a certificate without its key would be taken for a damaged directory at the next start.
		encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
		if err != nil {
			return nil, fmt.Errorf("encode a key: %w", err)
		}
		if err := os.WriteFile(keyPath, encoded, 0o600); err != nil {
			return nil, err
		}
		if err := os.WriteFile(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
			return nil, err
		}
		return readAuthority(certPath, keyPath)
	}
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority %s (delete the data directory to start over): %w", certPath, err)
	}
	return a, nil
}

func readAuthority(certPath, keyPath string) (*authority, error) {
	certPEM, err := os.ReadFile(certPath)
	if err != nil {
		return nil, err
	}
	keyPEM, err := os.ReadFile(keyPath)
	if err != nil {
		return nil, err
	}
	certBlock, _ := pem.Decode(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certBlock == nil || keyBlock == nil {
		return nil, errors.New("not PEM")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key, pem: certPEM}, nil
}

// newTemplate is for a certificate with a new key.
func newTemplate(subject pkix.Name, life time.Duration) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generate a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("draw a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-backdate),
		NotAfter:     now.Add(life),
	}, key, nil
}
