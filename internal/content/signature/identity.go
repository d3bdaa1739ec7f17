package signature

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"fairlead.dev/fairlead/internal/content/image"
)

// identityMatch judges the reference that a signature names against the one
// that was requested. It is a signedIdentity of policy.json.
type identityMatch func(r image.VerifyRequest, signed string) error

func parseIdentity(n node) (identityMatch, error) {
	var kind, ref, repository, prefix, signedPrefix string
	err := n.fields(map[string]func(node) error{
		"type": text(&kind), "dockerReference": text(&ref), "dockerRepository": text(&repository),
		"prefix": text(&prefix), "signedPrefix": text(&signedPrefix),
	})
	if err != nil {
		return nil, err
	}
	fields := map[string]string{"dockerReference": ref, "dockerRepository": repository, "prefix": prefix, "signedPrefix": signedPrefix}
	needs := func(names ...string) error {
		for _, name := range names {
			if fields[name] == "" {
				return n.errorf("type %s needs the field %s", kind, name)
			}
			delete(fields, name)
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if fields[name] != "" {
				return n.errorf("type %s has no field %s", kind, name)
			}
		}
		return nil
	}
	switch kind {
	case "matchExact":
		return sameReference(""), needs()
	case "matchRepoDigestOrExact":
		return matchRepoDigestOrExact, needs()
	case "matchRepository":
		return sameRepository(""), needs()
	case "exactReference":
		if err := needs("dockerReference"); err != nil {
			return nil, err
		}
		want, err := reference.ParseNormalizedNamed(ref)
		if err != nil || reference.IsNameOnly(want) {
			return nil, n.errorf("dockerReference %q is no reference with a tag or digest", ref)
		}
		return sameReference(want.String()), nil
	case "exactRepository":
		if err := needs("dockerRepository"); err != nil {
			return nil, err
		}
		want, err := reference.ParseNormalizedNamed(repository)
		if err != nil || !reference.IsNameOnly(want) {
			return nil, n.errorf("dockerRepository %q is no repository", repository)
		}
		return sameRepository(want.Name()), nil
	case "remapIdentity":
		return identityMatch(func(r image.VerifyRequest, signed string) error {
			rest, ok := strings.CutPrefix(r.Repository, prefix)
			if !ok || rest != "" && !strings.HasPrefix(rest, "/") {
				return matchRepoDigestOrExact(r, signed)
			}
			after := strings.TrimPrefix(r.Ref, prefix)
			return orRepository(signedPrefix+after, signedPrefix+rest, r.Tag == "", signed)
		}), needs("prefix", "signedPrefix")
	}
	return nil, n.errorf("signedIdentity has type %q, which is not known", kind)
}

// wrongIdentity is the error of all matches.
func wrongIdentity(signed, want string) error {
	return fmt.Errorf("it was made for %q instead of %s", signed, want)
}

// sameReference wants a reference; the requested one where none is given.
func sameReference(want string) identityMatch {
	return func(r image.VerifyRequest, signed string) error {
		want := cmp.Or(want, r.Ref)
		named, err := reference.ParseNormalizedNamed(signed)
		if err != nil || reference.IsNameOnly(named) || named.String() != want {
			return wrongIdentity(signed, want)
		}
		return nil
	}
}

// matchRepoDigestOrExact wants the same reference, or for an image requested by
// digest the same repository with any tag or digest.
func matchRepoDigestOrExact(r image.VerifyRequest, signed string) error {
	return orRepository(r.Ref, r.Repository, r.Tag == "", signed)
}

func orRepository(ref, repository string, byDigest bool, signed string) error {
	named, err := reference.ParseNormalizedNamed(signed)
	switch {
	case err != nil || reference.IsNameOnly(named):
		return fmt.Errorf("it was made for %q, without a tag or digest; signatures of cosign need signedIdentity matchRepository", signed)
	case byDigest && named.Name() != repository:
		return wrongIdentity(signed, "a tag or digest of "+repository)
	case !byDigest && named.String() != ref:
		return wrongIdentity(signed, ref)
	}
	return nil
}

// sameRepository wants a repository; the requested one where none is given.
func sameRepository(want string) identityMatch {
	return func(r image.VerifyRequest, signed string) error {
		want := cmp.Or(want, r.Repository)
		named, err := reference.ParseNormalizedNamed(signed)
		if err != nil || named.Name() != want {
			return wrongIdentity(signed, "repository "+want)
		}
		return nil
	}
}
