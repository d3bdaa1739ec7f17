package image

import (
	"errors"
	"fmt"
	"strings"

	"github.com/opencontainers/go-digest"
	"go.podman.io/image/v5/docker/reference"
)

// parseReference reads an image reference the way container tools write it. A
// name without host means docker.io, one without tag means latest, and a tag
// beside a digest is a remark: the digest alone decides.
func parseReference(ref string) (reference.Named, error) {
	if scheme, _, ok := strings.Cut(ref, "://"); ok {
		return nil, invalidReference("it starts with %q; leave the scheme out", scheme+"://")
	}
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return nil, invalidReference("%v", err)
	}
	canonical, ok := named.(reference.Canonical)
	if !ok {
		return reference.TagNameOnly(named), nil
	}
	return pin(named, canonical.Digest())
}

// pin names the content d in named's repository.
func pin(named reference.Named, d digest.Digest) (reference.Canonical, error) {
	if err := checkDigest(d); err != nil {
		return nil, invalidReference("%v", err)
	}
	pinned, err := reference.WithDigest(reference.TrimNamed(named), d)
	if err != nil {
		return nil, invalidReference("%v", err)
	}
	return pinned, nil
}

// checkDigest refuses digests that cannot be verified.
func checkDigest(d digest.Digest) error {
	if err := d.Validate(); err != nil {
		return problem(InvalidImage, "digest %q: %v", string(d), err)
	}
	return nil
}

func invalidReference(format string, args ...any) error {
	e := problem(InvalidReference, format, args...)
	e.Reason = steady(e.Reason)
	return e
}

// StandsFor reports whether a reference by digest can be what another reference
// was resolved to.
func StandsFor(pinned, ref string) bool {
	named, err := parseReference(ref)
	if err != nil {
		return false
	}
	to, err := parseReference(pinned)
	if err != nil {
		return false
	}
	canonical, ok := to.(reference.Canonical)
	if !ok || named.Name() != to.Name() {
		return false
	}
	asked, ok := named.(reference.Canonical)
	return !ok || asked.Digest() == canonical.Digest()
}

// Pin returns a reference in the same repository by digest. What ref has of a
// tag or another digest is left out. It does not check ref.
func Pin(ref, digest string) string {
	repository, _, _ := strings.Cut(ref, "@")
	if colon := strings.LastIndexByte(repository, ':'); colon > strings.LastIndexByte(repository, '/') {
		repository = repository[:colon]
	}
	return repository + "@" + digest
}

// CheckReference tells what is wrong with an image reference, without asking anyone for the image.
func CheckReference(ref string) error {
	_, err := parseReference(ref)
	return err
}

// CheckPinned says in few words why a reference does not name an image by its digest.
func CheckPinned(ref string) error {
	named, err := parseReference(ref)
	var wrong *Error
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s; write it as host/repository@DIGEST", wrong.Reason)
	case err != nil:
		return err
	}
	if _, ok := named.(reference.Canonical); !ok {
		return fmt.Errorf("it has no digest; name the image as %s@DIGEST, as in sha256:0123abcd", reference.TrimNamed(named).Name())
	}
	return nil
}
