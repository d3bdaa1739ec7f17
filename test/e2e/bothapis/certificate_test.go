package bothapis

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
)

// verifies tells whether a certificate is trusted by who has a bundle of authorities.
func verifies(certificate, bundle []byte) (bool, error) {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return false, errors.New("the Secret has no certificate")
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return false, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err = parsed.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err == nil, nil
}
