package serving

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"
)

// DefaultLife is how long a certificate is valid when nothing else is asked for.
const DefaultLife = 730 * 24 * time.Hour

// maxPEM bounds what is parsed: the content of a Secret can be written by others.
const maxPEM = 1 << 20

// Certificate is a serving certificate, its key, and the authorities that clients trust it by. All are PEM.
type Certificate struct {
	// Certificate is what the server serves.
	Certificate []byte
	// Key is the private key of the certificate.
	Key []byte
	// CABundle are the certificates of authorities, the one that signed Certificate first. Older ones follow for as
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
	at := leaf.NotAfter
	for _, c := range []*x509.Certificate{leaf, authorities[0]} {
		if due := c.NotBefore.Add(c.NotAfter.Sub(c.NotBefore) / 3 * 2); due.Before(at) {
			at = due
		}
	}
	return at, nil
}

// parse reads the certificate and its authorities.
func (s Certificate) parse() (leaf *x509.Certificate, authorities []*x509.Certificate, err error) {
	leaves, err := parseCertificates(s.Certificate)
	if err != nil {
		return nil, nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	authorities, err = parseCertificates(s.CABundle)
	if err != nil {
		return nil, nil, fmt.Errorf("read the CA bundle: %w", err)
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

// Check returns why the certificate cannot be used at the time now for all of the hosts; nil when it can. A certificate
// that is usable but due for renewal passes: see Due.
func (s Certificate) Check(hosts []string, now time.Time) error {
	leaf, authorities, err := s.parse()
	if err != nil {
		return err
	}
	if _, err := tls.X509KeyPair(s.Certificate, s.Key); err != nil {
		return fmt.Errorf("read the key of the serving certificate: %w", err)
	}
	roots := x509.NewCertPool()
	for _, a := range authorities {
		roots.AddCert(a)
	}
	options := x509.VerifyOptions{
		Roots:       roots,
		CurrentTime: now,
		KeyUsages:   []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if _, err := leaf.Verify(options); err != nil {
		return fmt.Errorf("verify the serving certificate: %w", err)
	}
	for _, host := range hosts {
		if err := leaf.VerifyHostname(host); err != nil {
			return fmt.Errorf("verify the serving certificate: %w", err)
		}
	}
	return nil
}

// Due returns why the certificate has to be replaced at the time now: it cannot be used, or two thirds of its life are
// over. It returns nil for a certificate that is good.
func (s Certificate) Due(hosts []string, now time.Time) error {
	if err := s.Check(hosts, now); err != nil {
		return err
	}
	at, err := s.RotateAt()
	if err != nil {
		return err
	}
	if !now.Before(at) {
		return fmt.Errorf("two thirds of the life of the serving certificate were over at %s", at.UTC().Format(time.RFC3339))
	}
	return nil
}

// Certificates are those of a PEM text. Anything else in it is left out.
func Certificates(text []byte) []*x509.Certificate {
	var all []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// Merge lists the authorities of several CA bundles that are still valid at the time now, each once and at most so many: the first bundles come
// first. Anything but a certificate is left out.
func Merge(now time.Time, atMost int, lists ...[]byte) []byte {
	var all [][]byte
	for _, list := range lists {
		for _, c := range Certificates(list) {
			if !now.Before(c.NotAfter) || len(all) == atMost {
				continue
			}
			if text := encode(c); !slices.ContainsFunc(all, func(known []byte) bool { return bytes.Equal(known, text) }) {
				all = append(all, text)
			}
		}
	}
	return slices.Concat(all...)
}

// Sort puts the certificates of a CA bundle into an order that depends on nothing but what is in it.
func Sort(list []byte) []byte {
	var all [][]byte
	for block, rest := pem.Decode(list); block != nil; block, rest = pem.Decode(rest) {
		all = append(all, pem.EncodeToMemory(block))
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.Concat(all...)
}
