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

// maxAuthorities bounds how many authorities are trusted at a time.
const maxAuthorities = 3

// Request describes a certificate.
type Request struct {
	// Hosts are the names and IP addresses that the certificate is for; the first is its common name. At least one is needed.
	Hosts []string
	// Now is the current time.
	Now time.Time
	// Life is how long the certificate is valid; DefaultLife when zero.
	Life time.Duration
	// Old is the certificate to be replaced, if any. Its authorities that are still valid stay trusted.
	Old Certificate
}

// Issue makes a serving certificate, signed by an authority made for it alone.
func Issue(r Request) (Certificate, error) {
	if len(r.Hosts) == 0 {
		return Certificate{}, fmt.Errorf("issue a serving certificate: no host name given")
	}
	if r.Life <= 0 {
		r.Life = DefaultLife
	}
	authority, err := newAuthority(r)
	if err != nil {
		return Certificate{}, fmt.Errorf("issue a serving certificate for %s: make its authority: %w", r.Hosts[0], err)
	}
	serving, err := authority.sign(r)
	if err != nil {
		return Certificate{}, fmt.Errorf("issue a serving certificate for %s: %w", r.Hosts[0], err)
	}
	serving.CABundle = trust(authority.certificate, r.Old, r.Now)
	return serving, nil
}

// authority signs one certificate; its key is never stored.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(r Request) (*authority, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject: pkix.Name{
			CommonName:   fmt.Sprintf("olm-selfsigned-%x", serial),
			Organization: []string{organization},
		},
		NotBefore:             r.Now.Add(-backdate),
		NotAfter:              r.Now.Add(r.Life),
		IsCA:                  true,
		MaxPathLenZero:        true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	certificate, err := create(template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: certificate, key: key}, nil
}

func (a *authority) sign(r Request) (Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return Certificate{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: commonName(r.Hosts[0]), Organization: []string{organization}},
		NotBefore:             a.certificate.NotBefore,
		NotAfter:              a.certificate.NotAfter,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range r.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	certificate, err := create(template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return Certificate{}, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Certificate{}, err
	}
	return Certificate{
		Certificate: encode(certificate),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
	}, nil
}

// commonName cuts a host name to the 64 characters that a common name may have; clients read the DNS names.
func commonName(host string) string {
	return host[:min(len(host), 64)]
}

// trust lists the new authority and those of the old certificate that are still valid.
func trust(newest *x509.Certificate, old Certificate, now time.Time) []byte {
	out := encode(newest)
	olds, err := parseCertificates(old.CABundle)
	if err != nil {
		return out
	}
	for _, c := range olds[:min(len(olds), maxAuthorities-1)] {
		if c.IsCA && now.Before(c.NotAfter) {
			out = append(out, encode(c)...)
		}
	}
	return out
}

func create(template, parent *x509.Certificate, public *ecdsa.PublicKey, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func encode(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// newSerial is a positive random number of at most 127 bits.
func newSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
}
