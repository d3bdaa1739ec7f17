package serving

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"
)

// DefaultLife is how long a certificate is valid when nothing else is asked for.
const DefaultLife = 730 * 24 * time.Hour

// maxPEM bounds what is parsed: the content of a Secret can be written by others.
const maxPEM = 1 << 20

// Certificate is a serving certificate, its key, and the authorities that clients are to trust for it. All are PEM.
type Certificate struct {
	// Certificate is what the server shows.
	Certificate []byte
	// Key is the private key of the certificate.
	Key []byte
	// CABundle are certificates of authorities, the one that signed Certificate first. Older ones follow for as
	// long as they are valid.
	CABundle []byte
}

// RotateAt is when the certificate is to be renewed: after two thirds of its life, or of that of its authority where
// this comes earlier.
func (s Certificate) RotateAt() (time.Time, error) {
	leaf, authorities, err := s.parse()
	if err != nil {
		return time.Time{}, err
	}
	at := twoThirds(leaf)
	if authority := twoThirds(authorities[0]); authority.Before(at) {
		at = authority
	}
	return at, nil
}

func twoThirds(c *x509.Certificate) time.Time {
	return c.NotBefore.Add(c.NotAfter.Sub(c.NotBefore) / 3 * 2)
}

// parse reads the certificate and its authorities.
func (s Certificate) parse() (leaf *x509.Certificate, authorities []*x509.Certificate, err error) {
	leaves, err := parseCertificates(s.Certificate)
	if err != nil {
		return nil, nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	authorities, err = parseCertificates(s.CABundle)
	if err != nil {
		return nil, nil, fmt.Errorf("read the certificate authorities: %w", err)
	}
	return leaves[0], authorities, nil
}

// parseCertificates reads one or more certificates.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	if len(data) > maxPEM {
		return nil, fmt.Errorf("%d bytes of PEM exceed the limit of %d", len(data), maxPEM)
	}
	var out []*x509.Certificate
	for rest := bytes.TrimSpace(data); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil || block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("certificate %d is not a PEM block of type CERTIFICATE", len(out)+1)
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(out)+1, err)
		}
		out = append(out, parsed)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no certificate")
	}
	return out, nil
}
