package serving

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// organization is named in every certificate of this package.
const organization = "Fairlead"

// backdate makes a new certificate valid for a server whose clock is a little late.
const backdate = 5 * time.Minute

// maxAuthorities bounds how many CA certificates are trusted at a time.
const maxAuthorities = 3

// Request describes a certificate.
type Request struct {
	// Hosts are the names and IP addresses that the certificate is for; the first is its common name. At least one is needed.
	Hosts []string
	// Now is the current time.
	Now time.Time
	// Life is how long the certificate is valid; DefaultLife when zero.
	Life time.Duration
	// Old is the certificate to be replaced, if any. Its CA certificates that are still valid stay trusted.
	Old Certificate
}

// Issue makes a serving certificate, signed by an authority made for it alone. The key of the authority is not kept.
func Issue(r Request) (Certificate, error) {
	if len(r.Hosts) == 0 {
		return Certificate{}, fmt.Errorf("issue a serving certificate: no host name given")
	}
	if r.Life <= 0 {
		r.Life = DefaultLife
	}
	authority := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{organization}},
		NotBefore:             r.Now.Add(-backdate),
		NotAfter:              r.Now.Add(r.Life),
		IsCA:                  true,
		MaxPathLenZero:        true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		// A common name may have 64 characters; clients read the DNS names.
		Subject:               pkix.Name{CommonName: r.Hosts[0][:min(len(r.Hosts[0]), 64)], Organization: []string{organization}},
		NotBefore:             authority.NotBefore,
		NotAfter:              authority.NotAfter,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range r.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	authority, signer, err := sign(authority, nil, nil)
	if err != nil {
		return Certificate{}, fmt.Errorf("issue a serving certificate for %s: make its authority: %w", r.Hosts[0], err)
	}
	leaf, key, err := sign(leaf, authority, signer)
	if err != nil {
		return Certificate{}, fmt.Errorf("issue a serving certificate for %s: %w", r.Hosts[0], err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Certificate{}, fmt.Errorf("issue a serving certificate for %s: encode its key: %w", r.Hosts[0], err)
	}
	bundle := encode(authority)
	if olds, err := parseCertificates(r.Old.CABundle); err == nil {
		for _, c := range olds[:min(len(olds), maxAuthorities-1)] {
			if c.IsCA && r.Now.Before(c.NotAfter) {
				bundle = append(bundle, encode(c)...)
			}
		}
	}
	return Certificate{Certificate: encode(leaf), Key: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), CABundle: bundle}, nil
}

// sign makes a certificate for a new key. One without a parent signs itself.
func sign(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, err
	}
	if parent == nil {
		parent, signer = template, key
		template.Subject.CommonName = fmt.Sprintf("olm-selfsigned-%x", template.SerialNumber)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, nil, err
	}
	made, err := x509.ParseCertificate(der)
	return made, key, err
}

func encode(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
