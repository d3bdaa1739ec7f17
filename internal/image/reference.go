package image

import (
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
