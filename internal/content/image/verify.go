package image

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"go.podman.io/image/v5/docker/reference"
)

// Verifier decides by signatures and a policy whether an image may be used. A
// Store with a Verifier asks it after a reference has been resolved to a digest
// and before any content of that digest is handed out, also when the content is
// in the store already. internal/content/signature implements it.
type Verifier interface {
	// Verify returns why the image may be used, or nil when no policy is
	// configured. The error of an image that may not be used is an Error of
	// kind Unverified; one of another kind reports that this could not be
	// decided, such as Unavailable. In both cases the image is not used.
	Verify(ctx context.Context, r VerifyRequest) (*Verification, error)
}

// OutrightVerifier is what a Verifier also implements that decides on some
// images by what they are named, whatever their digest is.
type OutrightVerifier interface {
	// Outright reports whether the image of a tag is accepted whatever digest
	// that stands for. An error of kind Unverified refuses it in the same way.
	Outright(r VerifyRequest) (accepted bool, err error)
}

// VerifyRequest is an image whose use a Verifier decides on.
type VerifyRequest struct {
	// Ref is the requested reference in its normal form, before mirrors, such
	// as docker.io/library/busybox:latest.
	Ref string
	// Repository is Ref without tag and digest. It is what scopes of a policy
	// match.
	Repository string
	// Tag is empty when the image is requested by its digest.
	Tag string
	// Digest is what Ref was resolved to, once: what is verified is what is
	// read.
	Digest string
	// NamedBy is the catalog that names the image, when the request is by
	// digest and the caller knows one.
	NamedBy *Origin
	// Artifacts opens the repository of a reference at each of its endpoints,
	// mirrors first, with the credentials of the request.
	Artifacts func(ref string) ([]*Artifacts, error)
}

// Origin is the image of a catalog that names another image.
type Origin struct {
	// Ref is the reference that the catalog was requested with.
	Ref string `json:"ref"`
	// Digest is what Ref stood for when the catalog was read.
	Digest string `json:"digest"`
}

// Outcome is how an image satisfied the policy.
type Outcome string

const (
	// Signed: the image has the signature or attestation that its rule requires.
	Signed Outcome = "Signed"
	// Covered: a signed catalog names the image by its digest.
	Covered Outcome = "Covered"
	// Accepted: a rule accepts the image without a signature.
	Accepted Outcome = "Accepted"
)

// Verification is why an image may be used.
type Verification struct {
	Outcome Outcome `json:"outcome"`
	// Ref is the requested reference in its normal form, and Digest what it
	// was resolved to.
	Ref    string `json:"ref"`
	Digest string `json:"digest"`
	// Rules are the rules that decided, each with its policy file.
	Rules []string `json:"rules"`
	// Signers are those whose signatures satisfied the rules; for a covered
	// image, those of its catalog.
	Signers []Signer `json:"signers,omitempty"`
	// Catalog is the chain of a covered image.
	Catalog *Origin `json:"catalog,omitempty"`
	// PolicyDigest identifies the content of the policies, the keys and
	// trusted roots that they name included.
	PolicyDigest string `json:"policyDigest"`
	// Expires is when the verification ends with a certificate that is valid
	// for now only; zero when it does not depend on the time.
	Expires time.Time `json:"expires,omitzero"`
}

// Signer is who made a signature, and where it was found.
type Signer struct {
	// Key is the SHA-256 of the public key, "sha256:..." of its PKIX form;
	// empty for keyless signatures.
	Key string `json:"key,omitempty"`
	// Subject and Issuer are the identity in the certificate of a keyless
	// signature.
	Subject string `json:"subject,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	// Predicate is the type of the attestation; empty for plain signatures.
	Predicate string `json:"predicate,omitempty"`
	// Layout is how the signature is stored: "signature tag", "attestation
	// tag" or "sigstore bundle".
	Layout string `json:"layout"`
	// Host is the registry or mirror that the signature was read from.
	Host string `json:"host"`
	// Time is the verified time of the signature; zero without log and
	// timestamp authority.
	Time time.Time `json:"time,omitzero"`
}

// String formats a signer for messages and columns.
func (s Signer) String() string {
	who := "key " + s.Key
	if s.Key == "" {
		who = fmt.Sprintf("%s (issuer %s)", s.Subject, s.Issuer)
	}
	if s.Predicate != "" {
		return who + " with attestation " + s.Predicate
	}
	return who
}

// String formats a verification for messages and columns, such as "signed by
// key sha256:...". It is the same for the same verification.
func (v *Verification) String() string {
	var signers []string
	for _, s := range v.Signers {
		signers = append(signers, s.String())
	}
	by := strings.Join(signers, " and ")
	switch v.Outcome {
	case Signed:
		return "signed by " + by
	case Covered:
		return fmt.Sprintf("named by catalog %s at %s, which is signed by %s", v.Catalog.Ref, v.Catalog.Digest, by)
	}
	return "accepted without a signature by " + strings.Join(v.Rules, " and ")
}

// VerifyOptions say what to verify, and with which credentials.
type VerifyOptions struct {
	Auth
	// Digest, when set, is verified instead of what the reference stands for
	// now: content that was read before is judged by what it is.
	Digest string
	// NamedBy and Requested are as in PullOptions.
	NamedBy   *Origin
	Requested string
	// Outright lets a policy accept an image by its repository before the
	// registry is asked for its digest, which then is missing in the result.
	Outright bool
	Limits   Limits
}

// Verify decides whether an image may be used, without reading its content. It
// is for callers who use content that was made of an image before, such as an
// index by its digest, and would not pull it. It returns nil when no policy is
// configured.
func (s *Store) Verify(ctx context.Context, ref string, o VerifyOptions) (*Verification, error) {
	if s.config.Verifier == nil {
		return nil, nil
	}
	return limited(ctx, "verify", ref, o.Limits, func(ctx context.Context, named reference.Named, limits Limits) (*Verification, error) {
		options := PullOptions{Auth: o.Auth, NamedBy: o.NamedBy, Requested: o.Requested}
		if o.Digest != "" {
			d := digest.Digest(o.Digest)
			if err := checkDigest(d); err != nil {
				return nil, err
			}
			return s.verify(ctx, named, d, options, limits)
		}
		accepted, err := s.outright(named)
		if err != nil {
			return nil, err
		}
		if accepted && o.Outright {
			r := requestOf(named)
			r.Artifacts = func(string) ([]*Artifacts, error) {
				return nil, fmt.Errorf("the policy changed while it decided on %s", named)
			}
			v, err := s.config.Verifier.Verify(ctx, r)
			if err != nil && KindOf(err) != Unverified {
				return nil, undecided{err}
			}
			return v, err
		}
		found, err := s.resolve(ctx, named, o.Auth, limits)
		if err != nil {
			return nil, err
		}
		return s.verify(ctx, named, found.digest, options, limits)
	})
}

// outright asks the Verifier about an image by tag before its digest is asked
// for. It refuses when the Verifier does.
func (s *Store) outright(named reference.Named) (accepted bool, err error) {
	verifier, ok := s.config.Verifier.(OutrightVerifier)
	if _, canonical := named.(reference.Canonical); !ok || canonical {
		return false, nil
	}
	return verifier.Outright(requestOf(named))
}

// requestOf is a request for what named stands for, without its digest.
func requestOf(named reference.Named) VerifyRequest {
	r := VerifyRequest{Ref: named.String(), Repository: reference.TrimNamed(named).Name()}
	if tagged, ok := named.(reference.Tagged); ok {
		r.Tag = tagged.Tag()
	}
	return r
}

// verify asks the Verifier, when there is one, about what named was resolved to.
func (s *Store) verify(ctx context.Context, named reference.Named, d digest.Digest, o PullOptions, limits Limits) (*Verification, error) {
	if s.config.Verifier == nil {
		return nil, nil
	}
	if o.Requested != "" { // which policies are matched with
		if !StandsFor(named.String(), o.Requested) {
			return nil, problem(InvalidReference, "it is said to be what %s stands for, which it cannot be: pull that repository by a digest", o.Requested)
		}
		requested, err := parseReference(o.Requested)
		if err != nil {
			return nil, err
		}
		named = requested
	}
	r := requestOf(named)
	r.Digest = d.String()
	r.Artifacts = func(ref string) ([]*Artifacts, error) {
		named, err := parseReference(ref)
		if err != nil {
			return nil, err
		}
		endpoints, err := s.config.endpoints(named, o.Auth)
		if err != nil {
			return nil, err
		}
		all := make([]*Artifacts, 0, len(endpoints))
		for _, e := range endpoints {
			a, err := newArtifacts(newWatch(ctx, limits.Stall), e)
			if err != nil {
				return nil, err
			}
			all = append(all, a)
		}
		return all, nil
	}
	if canonical, ok := named.(reference.Canonical); ok {
		if canonical.Digest() != d {
			return nil, problem(Unverified, "the reference has another digest than %s, which is to be verified", d)
		}
		r.NamedBy = o.NamedBy
	}
	v, err := patiently(ctx, s.config.Retries, func() (*Verification, error) { return s.config.Verifier.Verify(ctx, r) })
	if err != nil && KindOf(err) != Unverified {
		return nil, undecided{err}
	}
	return v, err
}
