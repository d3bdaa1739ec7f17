package signature

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	godigest "github.com/opencontainers/go-digest"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"fairlead.dev/fairlead/internal/content/image"
)

// Layouts of signatures, as image.Signer names them.
const (
	layoutSignature   = "signature tag"
	layoutAttestation = "attestation tag"
	layoutBundle      = "sigstore bundle"
)

// predicateSignature is the statement that makes no other claim than that its
// signer signed the image. Any other is an attestation: who signs the report of
// a scan has not signed what was scanned.
const predicateSignature = "https://sigstore.dev/cosign/sign/v1"

// candidate is a signature as a registry holds it. Nothing in it can be
// believed before verify.
type candidate struct {
	layout, host string

	// entity has the signature, its log entries and timestamps.
	entity verify.SignedEntity
	// certificate is the signer's, when there is one, and chain what came with it.
	certificate *x509.Certificate
	chain       []*x509.Certificate

	// payload is what a signature tag has signed instead of the image: a
	// document that names the image. Nil in the other layouts.
	payload *payload

	// message is set where the image itself was signed, rather than a document
	// that names it, and manifest then is the image.
	message  bool
	manifest []byte
}

// verify verifies the signature, and that it is for the digest.
func (c *candidate) verify(e verify.SignedEntity, trusted root.TrustedMaterial, digest string, options []verify.VerifierOption, who verify.PolicyOption) (verified, error) {
	v, err := verify.NewVerifier(trusted, options...)
	if err != nil {
		return verified{}, err
	}
	what, err := c.artifact(digest)
	if err != nil {
		return verified{}, err
	}
	result, err := v.Verify(e, verify.NewPolicy(what, who))
	if err != nil {
		return verified{}, err
	}
	var first time.Time
	for _, s := range result.VerifiedTimestamps {
		if first.IsZero() || s.Timestamp.Before(first) {
			first = s.Timestamp
		}
	}
	found := verified{signer: image.Signer{Layout: c.layout, Host: c.host, Time: first.UTC()}}
	if result.Statement != nil {
		found.statement, found.predicate = true, result.Statement.GetPredicateType()
	}
	if certificate := result.Signature.Certificate; certificate != nil {
		found.signer.Subject, found.signer.Issuer = certificate.SubjectAlternativeName, certificate.Issuer
	}
	return found, nil
}

// artifact is what must have been signed: the payload that names the digest, the
// manifest, or a statement about the digest. That a signature of the manifest
// comes with its digest proves nothing, so it is verified over the content: some
// algorithms cannot sign digests.
func (c *candidate) artifact(digest string) (verify.ArtifactPolicyOption, error) {
	if c.payload != nil {
		if c.payload.digest != digest {
			return nil, fmt.Errorf("it is for %s", c.payload.digest)
		}
		return verify.WithArtifact(bytes.NewReader(c.payload.raw)), nil
	}
	if c.message {
		if godigest.Digest(digest).Algorithm().FromBytes(c.manifest).String() != digest {
			return nil, fmt.Errorf("the manifest %s, of which it is said to be, cannot be had", digest)
		}
		return verify.WithArtifact(bytes.NewReader(c.manifest)), nil
	}
	algorithm, value, _ := strings.Cut(digest, ":")
	sum, err := hex.DecodeString(value)
	if err != nil {
		return nil, fmt.Errorf("the digest %s is not hexadecimal", digest)
	}
	return verify.WithArtifactDigest(algorithm, sum), nil
}

// taggedEntity is a signature of a signature or attestation tag. It implements
// verify.SignedEntity.
type taggedEntity struct {
	verify.BaseSignedEntity // without a proof of inclusion

	content     verify.SignatureContent
	certificate *x509.Certificate
	chain       []*x509.Certificate
	entries     []*tlog.Entry
	timestamps  [][]byte
}

// HasInclusionPromise implements verify.SignedEntity.
func (e *taggedEntity) HasInclusionPromise() bool { return len(e.entries) > 0 }

// SignatureContent implements verify.SignedEntity.
func (e *taggedEntity) SignatureContent() (verify.SignatureContent, error) { return e.content, nil }

// Timestamps implements verify.SignedEntity.
func (e *taggedEntity) Timestamps() ([][]byte, error) { return e.timestamps, nil }

// TlogEntries implements verify.SignedEntity.
func (e *taggedEntity) TlogEntries() ([]*tlog.Entry, error) { return e.entries, nil }

// Version implements verify.SignedEntity. It is that of the bundles of the time
// of this layout, when hashes did not depend on the curve of a key.
func (e *taggedEntity) Version() (string, error) { return "v0.3", nil }

// VerificationContent implements verify.SignedEntity.
func (e *taggedEntity) VerificationContent() (verify.VerificationContent, error) {
	if e.certificate == nil {
		return nil, errors.New("it has no certificate")
	}
	return &certificateContent{bundle.NewCertificate(e.certificate), e.chain}, nil
}

// keyEntity is a taggedEntity that is verified by a key.
type keyEntity struct{ *taggedEntity }

// VerificationContent implements verify.SignedEntity. It leaves the choice of the
// key to the trusted material.
func (*keyEntity) VerificationContent() (verify.VerificationContent, error) {
	return &bundle.PublicKey{}, nil
}

// certificateContent is the signer's certificate, with what came with it.
type certificateContent struct {
	verify.VerificationContent
	chain []*x509.Certificate
}

// Intermediates implements verify.VerificationContent.
func (c *certificateContent) Intermediates() []*x509.Certificate { return c.chain }
