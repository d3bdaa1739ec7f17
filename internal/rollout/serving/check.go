package serving

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"
)

// Check tells why the certificate cannot be used at the time now for all of the hosts; nil when it can. A certificate
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

// Due says whether the certificate is to be replaced at the time now: it cannot be used, or two thirds of its life are
// over. The error tells why; nil means that the certificate is good.
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
