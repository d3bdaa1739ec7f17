package image

import (
	"context"
	"errors"
	"net/http"

	"github.com/opencontainers/go-digest"
	"go.podman.io/image/v5/docker"
	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/manifest"
)

// Digest returns the digest that a reference stands for now: that of its
// manifest, or of its index. For a tag it is asked for with a HEAD request; a
// reference with a digest needs no request.
func (s *Store) Digest(ctx context.Context, ref string, auth Auth) (string, error) {
	named, err := parseReference(ref)
	if err != nil {
		return "", complete(err, "resolve", ref)
	}
	found, err := s.resolve(ctx, named, auth, Limits{}.withDefaults())
	if err != nil {
		return "", complete(err, "resolve", ref)
	}
	return found.digest.String(), nil
}

// Exists proves that the registry has the image, also when the reference has
// a digest. The error says why it cannot be had.
func (s *Store) Exists(ctx context.Context, ref string, auth Auth) error {
	named, err := parseReference(ref)
	if err == nil {
		_, err = s.ask(ctx, named, auth, Limits{}.withDefaults())
	}
	if err != nil {
		return complete(err, "find", ref)
	}
	return nil
}

// resolved is what a reference stands for, and who said so: no one, when it has
// a digest itself.
type resolved struct {
	digest digest.Digest
	by     *endpoint
}

func (s *Store) resolve(ctx context.Context, named reference.Named, auth Auth, limits Limits) (resolved, error) {
	if canonical, ok := named.(reference.Canonical); ok {
		return resolved{digest: canonical.Digest()}, nil
	}
	return s.ask(ctx, named, auth, limits)
}

// ask gets the digest from the first endpoint that knows it.
func (s *Store) ask(ctx context.Context, named reference.Named, auth Auth, limits Limits) (resolved, error) {
	endpoints, err := s.config.endpoints(named, auth)
	if err != nil {
		return resolved{}, err
	}
	return patiently(ctx, s.config.Retries, func() (resolved, error) {
		return first(ctx, endpoints, func(e endpoint) (resolved, error) {
			w := newWatch(ctx, limits.Stall)
			defer w.stop()
			d, err := ask(w, e)
			return resolved{d, &e}, err
		})
	})
}

// ask gets the digest from one endpoint. The answer to a HEAD request has no
// words; when it is a refusal, or has no digest, the manifest is asked for.
func ask(w *watch, e endpoint) (digest.Digest, error) {
	ref, err := docker.NewReference(e.named)
	if err != nil {
		return "", invalidReference("%v", err)
	}
	var d digest.Digest
	err = w.open(func(ctx context.Context) error {
		d, err = docker.GetDigest(ctx, w.context(e), ref)
		return err
	})
	if err == nil {
		return d, checkDigest(d)
	}
	status := statusOf(err)
	refused := status >= 400 && status < 500 && status != http.StatusTooManyRequests
	if refused || errors.Is(err, digest.ErrDigestInvalidFormat) {
		// Read the manifest and compute its digest
		from, err := openTransport(w, e, e.named)
		if err != nil {
			return "", err
		}
		defer from.Close()
		var data []byte
		err = w.open(func(ctx context.Context) error { data, _, err = from.GetManifest(ctx, nil); return err })
		if err != nil {
			return "", err
		}
		return manifest.Digest(data)
	}
	return "", err
}
