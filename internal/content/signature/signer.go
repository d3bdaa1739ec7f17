package signature

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"fairlead.dev/fairlead/internal/content/image"
)

// signer is one kind of signer that a requirement accepts: keys, a keyless
// identity, or certificates of a private authority.
type signer struct {
	keys     []*publicKey // any of them
	identity *identity
	pki      *pki

	// trusted has the logs and CA certificates; nil where only keys count.
	trusted root.TrustedMaterial
	// logs, timestamps and certificateLogs are how many transparency logs,
	// timestamp authorities and logs of certificates must vouch.
	logs, timestamps, certificateLogs int
	// integrated requires that the time is the log's, as policy.json does.
	integrated bool
}

// identity is who a keyless signature must be made by.
type identity struct {
	issuer, issuerPattern, subject, subjectPattern string
	matcher                                        verify.CertificateIdentity
}

// verified is what a check found out.
type verified struct {
	signer image.Signer
	// statement is set when a statement was signed, and predicate is its type.
	statement bool
	predicate string
	// expires is zero unless the check depends on the current time.
	expires time.Time
}

// String names the signer in messages.
func (s *signer) String() string {
	switch {
	case s.identity != nil:
		i := s.identity
		issuer, subject := cmp.Or(i.issuer, "matching "+i.issuerPattern), cmp.Or(i.subject, "matching "+i.subjectPattern)
		return fmt.Sprintf("identity %s of issuer %s", subject, issuer)
	case s.pki != nil:
		var who []string
		if s.pki.email != "" {
			who = append(who, "email "+s.pki.email)
		}
		if s.pki.hostname != "" {
			who = append(who, "host name "+s.pki.hostname)
		}
		return "certificate with " + strings.Join(who, " and ")
	}
	ids := make([]string, len(s.keys))
	for i, k := range s.keys {
		ids[i] = k.id
	}
	return "key " + strings.Join(ids, " or ")
}

// check verifies that this signer made the candidate for the digest.
func (s *signer) check(c *candidate, digest string, now time.Time) (v verified, err error) {
	// What a registry sends is parsed by many libraries. None of them may stop
	// the process, or be taken for success.
	defer func() {
		if p := recover(); p != nil {
			v, err = verified{}, fmt.Errorf("it cannot be evaluated: %v", p)
		}
	}()
	switch {
	case s.identity != nil:
		options := s.options()
		if s.timestamps == 0 && !s.integrated {
			options = append(options, verify.WithObserverTimestamps(1))
		}
		if s.certificateLogs > 0 {
			options = append(options, verify.WithSignedCertificateTimestamps(s.certificateLogs))
		}
		return c.verify(c.entity, s.trusted, digest, options, verify.WithCertificateIdentity(s.identity.matcher))
	case s.pki != nil:
		if c.certificate == nil {
			return verified{}, errors.New("it has no certificate")
		}
		expires, err := s.pki.verify(c, now)
		if err != nil {
			return verified{}, err
		}
		k, err := newPublicKey(c.certificate.PublicKey)
		if err != nil {
			return verified{}, err
		}
		v, err := s.checkKey(c, k, digest)
		v.signer.Key, v.expires = k.id, expires
		return v, err
	}
	err = errors.New("there is no key")
	for _, k := range s.keys {
		if v, err = s.checkKey(c, k, digest); err == nil {
			v.signer.Key = k.id
			return v, nil
		}
	}
	return verified{}, err
}

func (s *signer) checkKey(c *candidate, k *publicKey, digest string) (verified, error) {
	options := s.options()
	if s.timestamps == 0 && !s.integrated {
		options = append(options, verify.WithNoObserverTimestamps())
	}
	entity := c.entity
	if tagged, ok := entity.(*taggedEntity); ok { // a signature tag does not say whether a key or a certificate made the signature that it holds
		entity = &keyEntity{tagged}
	}
	trusted := s.trusted
	if trusted == nil {
		trusted = &root.BaseTrustedMaterial{}
	}
	return c.verify(entity, material{trusted, k}, digest, options, verify.WithKey())
}

func (s *signer) options() []verify.VerifierOption {
	options := []verify.VerifierOption{verify.WithoutStatementPredicate()}
	if s.logs > 0 {
		options = append(options, verify.WithTransparencyLog(s.logs))
	}
	if s.timestamps > 0 {
		options = append(options, verify.WithSignedTimestamps(s.timestamps))
	}
	if s.integrated {
		options = append(options, verify.WithIntegratedTimestamps(1))
	}
	return options
}

// material trusts a key besides logs and CA certificates, whatever hint a signature
// has about its key.
type material struct {
	root.TrustedMaterial
	key *publicKey
}

// PublicKeyVerifier implements root.TrustedMaterial.
func (m material) PublicKeyVerifier(string) (root.TimeConstrainedVerifier, error) { return m.key, nil }

// pki is a private authority whose certificates are judged at the current time.
type pki struct {
	roots, intermediates []*x509.Certificate
	email, hostname      string
}

// verify returns when the first certificate of the chain ends.
func (p *pki) verify(c *candidate, now time.Time) (time.Time, error) {
	options := x509.VerifyOptions{
		Roots: pool(p.roots), Intermediates: pool(p.intermediates, c.chain), CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
	}
	chains, err := c.certificate.Verify(options)
	if err != nil {
		return time.Time{}, fmt.Errorf("its certificate: %w", err)
	}
	if p.email != "" && !slices.Contains(c.certificate.EmailAddresses, p.email) {
		return time.Time{}, fmt.Errorf("its certificate is for email %q", c.certificate.EmailAddresses)
	}
	if p.hostname != "" {
		if err := c.certificate.VerifyHostname(p.hostname); err != nil {
			return time.Time{}, fmt.Errorf("its certificate: %w", err)
		}
	}
	var last time.Time
	for _, chain := range chains {
		ends := chain[0].NotAfter
		for _, certificate := range chain {
			if certificate.NotAfter.Before(ends) {
				ends = certificate.NotAfter
			}
		}
		if ends.After(last) {
			last = ends
		}
	}
	return last, nil
}

func pool(lists ...[]*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, list := range lists {
		for _, certificate := range list {
			p.AddCert(certificate)
		}
	}
	return p
}
