package image

import (
	"context"
	"encoding/json"
	"io"

	"github.com/opencontainers/go-digest"
	"go.podman.io/image/v5/docker"
	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/pkg/blobinfocache/none"
	"go.podman.io/image/v5/types"
)

// source reads one image from one endpoint. Everything it returns has been
// checked against its digest.
type source struct {
	w    *watch
	from types.ImageSource
	want digest.Digest
}

// openSource asks the endpoint for the manifest with the digest want.
func openSource(w *watch, e endpoint, want digest.Digest) (*source, error) {
	pinned, err := pin(e.named, want)
	if err != nil {
		return nil, err
	}
	from, err := openTransport(w, e, pinned)
	if err != nil {
		return nil, err
	}
	return &source{w: w, from: from, want: want}, nil
}

// openTransport opens named, tagged or pinned, at an endpoint.
func openTransport(w *watch, e endpoint, named reference.Named) (types.ImageSource, error) {
	ref, err := docker.NewReference(named)
	if err != nil {
		return nil, invalidReference("%v", err)
	}
	var from types.ImageSource
	err = w.open(func(ctx context.Context) error {
		from, err = ref.NewImageSource(ctx, w.context(e))
		return err
	})
	return from, err
}

// maxNesting bounds how deep indexes may refer to each other.
const maxNesting = 3

// manifest returns the image manifest, chosen out of indexes by platform.
func (s *source) manifest(architecture string) (*document, error) {
	data, err := s.document(nil, s.want)
	for range maxNesting {
		if err != nil {
			return nil, err
		}
		d, err := parseDocument(data)
		if err != nil || d.Manifests == nil {
			return d, err
		}
		instance, err := choose(d.Manifests, architecture)
		if err != nil {
			return nil, err
		}
		if data, err = s.document(&instance.Digest, instance.Digest); err != nil {
			return nil, err
		}
	}
	return nil, problem(InvalidImage, "its indexes are nested more than %d deep", maxNesting)
}

func (s *source) document(instance *digest.Digest, want digest.Digest) (data []byte, err error) {
	err = s.w.open(func(ctx context.Context) error {
		data, _, err = s.from.GetManifest(ctx, instance)
		return err
	})
	if err == nil && want.Algorithm().FromBytes(data) != want {
		err = problem(DigestMismatch, "the registry sent another manifest than %s", want)
	}
	return data, err
}

// readConfig reads a part of the image configuration.
func readConfig[T configuration | platform](s *source, config descriptor, limit int64) (c T, err error) {
	if config.Size > limit {
		return c, exceeded("ConfigBytes", limit, "its configuration has %d bytes", config.Size)
	}
	blob, err := s.blob(config)
	if err != nil {
		return c, err
	}
	defer blob.Close()
	data, err := io.ReadAll(blob)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, problem(InvalidImage, "its configuration is not JSON: %s", steady(err.Error()))
	}
	return c, nil
}

// blob opens a blob for streaming. Its URLs elsewhere, if any, are not followed.
func (s *source) blob(d descriptor) (*blob, error) {
	var body io.ReadCloser
	err := s.w.open(func(ctx context.Context) (err error) {
		body, _, err = s.from.GetBlob(ctx, types.BlobInfo{Digest: d.Digest, Size: d.Size}, none.NoCache)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newBlob(&watchedBody{w: s.w, r: body}, body, d), nil
}
