package signature

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/sigstore/sigstore-go/pkg/bundle"

	"fairlead.dev/fairlead/internal/content/image"
)

// Annotations of artifacts that hold a bundle, as cosign writes them.
const (
	annotationContent   = "dev.sigstore.bundle.content"
	annotationPredicate = "dev.sigstore.bundle.predicateType"
)

// Sign signs the image of a digest, and stores the signature beside it in both
// layouts: under a signature tag, which every version of cosign and containers'
// policy.json read, and as a sigstore bundle that refers to the image, which
// cosign reads from version 3 on. No transparency log is written to.
func Sign(ctx context.Context, repository, digest string, key *Key, o image.PushOptions) error {
	named, err := reference.ParseNormalizedNamed(repository)
	if err != nil {
		return fmt.Errorf("sign %s at %s: %w", repository, digest, err)
	}
	name := reference.TrimNamed(named).Name()
	ref := name + "@" + digest
	tagged, err := signatureTag(name, digest, key)
	if err != nil {
		return fmt.Errorf("sign %s: %w", ref, err)
	}
	referring, err := signatureBundle(digest, key)
	if err != nil {
		return fmt.Errorf("sign %s: %w", ref, err)
	}
	for _, a := range []image.Attachment{tagged, referring} {
		if err := image.Attach(ctx, ref, a, o); err != nil {
			return fmt.Errorf("sign %s: %w", ref, err)
		}
	}
	return nil
}

// Attest signs an in-toto statement about the image of a digest, and stores it
// beside the image as a sigstore bundle that refers to it. The statement has to
// name the digest among its subjects: what it says of other images is not
// evidence for this one.
func Attest(ctx context.Context, repository, digest string, statement []byte, key *Key, o image.PushOptions) error {
	named, err := reference.ParseNormalizedNamed(repository)
	if err != nil {
		return fmt.Errorf("attest %s at %s: %w", repository, digest, err)
	}
	ref := image.Pin(named.String(), digest)
	predicate, err := predicateAbout(statement, digest)
	if err != nil {
		return fmt.Errorf("attest %s: %w", ref, err)
	}
	a, err := bundled(statement, predicate, key)
	if err == nil {
		err = image.Attach(ctx, ref, a, o)
	}
	if err != nil {
		return fmt.Errorf("attest %s: %w", ref, err)
	}
	return nil
}

// predicateAbout returns the type of the predicate of a statement about a digest.
func predicateAbout(statement []byte, digest string) (string, error) {
	var s struct {
		PredicateType string `json:"predicateType"`
		Subject       []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
	}
	if err := json.Unmarshal(statement, &s); err != nil {
		return "", fmt.Errorf("read the in-toto statement: %w", err)
	}
	if s.PredicateType == "" {
		return "", errors.New("the in-toto statement has no predicateType")
	}
	algorithm, value, _ := strings.Cut(digest, ":")
	for _, subject := range s.Subject {
		if subject.Digest[algorithm] == value {
			return s.PredicateType, nil
		}
	}
	return "", fmt.Errorf("the in-toto statement %s is about other content: none of its subjects has this digest", s.PredicateType)
}

// signatureTag is the signature of a payload that names the image.
func signatureTag(repository, digest string, key *Key) (image.Attachment, error) {
	data, err := newPayload(repository, digest)
	if err != nil {
		return image.Attachment{}, err
	}
	made, err := key.sign(data)
	if err != nil {
		return image.Attachment{}, err
	}
	return image.Attachment{
		Tag: tagOf(digest) + ".sig", MediaType: mediaSimpleSigning, Data: data,
		Annotations: map[string]string{annotationSignature: base64.StdEncoding.EncodeToString(made)},
	}, nil
}

func newPayload(repository, digest string) ([]byte, error) {
	type object map[string]any
	return json.Marshal(object{
		"critical": object{
			"identity": object{"docker-reference": repository},
			"image":    object{"docker-manifest-digest": digest},
			"type":     payloadType,
		},
		"optional": nil,
	})
}

// tagOf is the digest as tags are made of it.
func tagOf(digest string) string { return strings.Replace(digest, ":", "-", 1) }

// signatureBundle is a bundle with the statement that the image is signed.
func signatureBundle(digest string, key *Key) (image.Attachment, error) {
	statement, err := newStatement(digest, predicateSignature, map[string]any{})
	if err != nil {
		return image.Attachment{}, err
	}
	return bundled(statement, predicateSignature, key)
}

// bundled is a bundle with a signed statement, to be stored beside an image.
func bundled(statement []byte, predicate string, key *Key) (image.Attachment, error) {
	// Sign a statement.
	made, err := key.sign(dsse.PAE(bundle.IntotoMediaType, statement))
	if err != nil {
		return image.Attachment{}, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.private.Public())
	if err != nil {
		return image.Attachment{}, err
	}
	hint := sha256.Sum256(der)
	data, err := json.Marshal(map[string]any{
		"mediaType": mediaBundle,
		"verificationMaterial": map[string]any{
			"publicKey": map[string]any{"hint": base64.StdEncoding.EncodeToString(hint[:])},
		},
		"dsseEnvelope": map[string]any{
			"payload":     statement, // bytes are base64 in JSON
			"payloadType": bundle.IntotoMediaType,
			"signatures":  []any{map[string]any{"sig": made}},
		},
	})
	if err != nil {
		return image.Attachment{}, err
	}
	return image.Attachment{
		MediaType: mediaBundle, Data: data,
		Annotations: map[string]string{annotationContent: "dsse-envelope", annotationPredicate: predicate},
	}, nil
}

func newStatement(digest, predicateType string, predicate any) ([]byte, error) {
	algorithm, value, ok := strings.Cut(digest, ":")
	if !ok {
		return nil, fmt.Errorf("%q is no digest", digest)
	}
	return json.Marshal(map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       []any{map[string]any{"digest": map[string]string{algorithm: value}}},
		"predicateType": predicateType,
		"predicate":     predicate,
	})
}
