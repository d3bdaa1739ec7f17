package image

import (
	"context"
	"encoding/json"
	"io"

	"go.podman.io/image/v5/docker/reference"
)

// Platform is what an image, or one of several under a name, runs on.
type Platform struct {
	OS, Architecture string
}

// Platforms asks the registry for which platforms an image is offered: those of
// its index, or the one in the configuration of a single image. No layer is
// read.
func (s *Store) Platforms(ctx context.Context, ref string, auth Auth) ([]Platform, error) {
	limits := Limits{}.withDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Duration,
		problem(Unavailable, "it took longer than the limit Duration = %s allows", limits.Duration))
	defer cancel()
	platforms, err := s.platforms(ctx, ref, auth, limits)
	if err != nil {
		return nil, complete(err, "inspect", ref)
	}
	return platforms, nil
}

func (s *Store) platforms(ctx context.Context, ref string, auth Auth, limits Limits) ([]Platform, error) {
	named, err := parseReference(ref)
	if err != nil {
		return nil, err
	}
	found, err := s.resolve(ctx, named, auth, limits)
	if err != nil {
		return nil, err
	}
	pinned, err := pin(named, found.digest)
	if err != nil {
		return nil, err
	}
	endpoints, err := s.config.endpoints(pinned, auth)
	if err != nil {
		return nil, err
	}
	return patiently(ctx, s.config.Retries, func() ([]Platform, error) {
		return first(ctx, endpoints, func(e endpoint) ([]Platform, error) { return platformsAt(ctx, e, pinned, limits) })
	})
}

func platformsAt(ctx context.Context, e endpoint, pinned reference.Canonical, limits Limits) ([]Platform, error) {
	w := newWatch(ctx, limits.Stall)
	defer w.stop()
	src, err := openSource(w, e, pinned.Digest())
	if err != nil {
		return nil, err
	}
	defer src.close()
	data, err := src.document(nil, src.want)
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	if d.Manifests == nil {
		p, err := src.platform(*d.Config, limits.ConfigBytes)
		return []Platform{p}, err
	}
	platforms := []Platform{}
	for _, each := range d.Manifests {
		if each.Platform != nil {
			platforms = append(platforms, Platform{OS: each.Platform.OS, Architecture: each.Platform.Architecture})
		}
	}
	return platforms, nil
}

// platform reads the image configuration.
func (s *source) platform(config descriptor, limit int64) (Platform, error) {
	if config.Size > limit {
		return Platform{}, exceeded("ConfigBytes", limit, "its configuration has %d bytes", config.Size)
	}
	blob, err := s.blob(config)
	if err != nil {
		return Platform{}, err
	}
	defer blob.close()
	data, err := io.ReadAll(blob)
	if err != nil {
		return Platform{}, err
	}
	var p platform
	if err := json.Unmarshal(data, &p); err != nil {
		return Platform{}, problem(InvalidImage, "its configuration is not JSON: %s", steady(err.Error()))
	}
	return Platform{OS: p.OS, Architecture: p.Architecture}, nil
}
