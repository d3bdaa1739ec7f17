package image

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"

	"github.com/opencontainers/go-digest"
	"go.podman.io/image/v5/docker/reference"
)

// PullOptions say what to read of an image, and with which credentials.
type PullOptions struct {
	Auth

	// Filter says which regular files are wanted, by their path in the image,
	// such as "manifests/csv.yaml". It must depend on nothing else. Nil wants
	// all files.
	Filter func(path string) bool

	// Select, when set, chooses the filter from the image's labels instead. An
	// error means that the image is of the wrong kind. SelectCatalog and
	// SelectBundle are such functions.
	Select func(labels map[string]string) (func(path string) bool, error)

	// Progress, when set, is called while layers are read from the registry,
	// with their compressed bytes so far and altogether. It must be quick.
	Progress func(read, total int64)

	// NamedBy is the catalog that names the image by its digest. The signature
	// on that catalog may cover the image; the Verifier verifies the catalog
	// itself. It means nothing for a reference without a digest.
	NamedBy *Origin

	// Requested is the reference that was resolved to the digest which is
	// pulled, such as the tag in a spec. It is what a policy judges, because
	// policies may be about tags; empty is the pulled reference itself. It must
	// name the same repository.
	Requested string

	Limits Limits
}

// Image is an image whose wanted files are in the store.
type Image struct {
	Ref    string // as given to Pull
	Digest string // of the manifest, or of the index when there is one
	Pinned string // the repository with that digest
	Labels map[string]string
	// Verification is why the image may be used; nil when no policy is configured.
	Verification *Verification

	file *os.File
	tree *tree
}

// FS returns the wanted files, with the names that they have in the image.
// Every file is a regular one: links inside the image are resolved, and what
// they cannot be resolved to is left out. Open files have ReadAt and Seek. It
// is readable until Close, even when the store has dropped the image.
func (i *Image) FS() fs.FS { return i.tree }

// Close releases the image. It stays in the store.
func (i *Image) Close() error { return i.file.Close() }

// Pull returns the wanted files of an image. A tag is asked for at the registry
// each time, with a HEAD request. What its digest, or a reference with a digest,
// names is read from the store when it is there and these credentials have read
// it before, without the registry. With other credentials the registry is asked
// whether they may read it; while it does not answer they get nothing.
//
// Pulls of the same image at the same time, in this process or in another that
// shares the store, wait for each other and read it once.
func (s *Store) Pull(ctx context.Context, ref string, o PullOptions) (*Image, error) {
	image, err := limited(ctx, "pull", ref, o.Limits, func(ctx context.Context, named reference.Named, limits Limits) (*Image, error) {
		return s.pull(ctx, named, o, limits)
	})
	if err != nil {
		return nil, err
	}
	image.Ref = ref
	return image, nil
}

// limited does something with an image within its limits, the time that it may take included.
func limited[T any](ctx context.Context, op, ref string, limits Limits, do func(context.Context, reference.Named, Limits) (T, error)) (T, error) {
	limits = limits.withDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Duration,
		problem(Unavailable, "it took longer than the limit Duration = %s allows", limits.Duration))
	defer cancel()
	var result T
	named, err := parseReference(ref)
	if err == nil {
		result, err = do(ctx, named, limits)
	}
	if err != nil {
		var none T
		return none, complete(err, op, ref)
	}
	return result, nil
}

func (s *Store) pull(ctx context.Context, named reference.Named, o PullOptions, limits Limits) (*Image, error) {
	if _, err := s.outright(named); err != nil {
		return nil, err
	}
	found, err := s.resolve(ctx, named, o.Auth, limits)
	if err != nil {
		return nil, err
	}
	verification, err := s.verify(ctx, named, found.digest, o, limits)
	if err != nil {
		return nil, err
	}
	pinned, err := pin(named, found.digest)
	if err != nil {
		return nil, err
	}
	endpoints, err := s.config.endpoints(pinned, o.Auth)
	if err != nil {
		return nil, err
	}
	f := &fetching{store: s, digest: found.digest, said: found.by, endpoints: endpoints, options: o, limits: limits}
	p, err := f.image(ctx)
	if err != nil {
		return nil, err
	}
	// Show the wanted part of a pack. The pack may hold more, when others have wanted more.
	files := make(map[string]content, len(p.index.Files))
	for name, where := range p.index.Files {
		if f.wanted(name) {
			files[name] = content{p.file, where}
		}
	}
	return &Image{
		Digest:       pinned.Digest().String(),
		Pinned:       pinned.String(),
		Labels:       maps.Clone(p.index.Labels),
		Verification: verification,
		file:         p.file,
		tree:         newTree(files),
	}, nil
}

// filter returns the filter that the options mean for an image.
func (o PullOptions) filter(labels map[string]string) (func(string) bool, error) {
	switch {
	case o.Select != nil:
		wanted, err := o.Select(labels)
		if err != nil && KindOf(err) == "" {
			err = &Error{Kind: InvalidImage, Reason: steady(err.Error()), Err: err}
		}
		return wanted, err
	case o.Filter != nil:
		return o.Filter, nil
	}
	return func(string) bool { return true }, nil
}

// openPack opens the pack of an image, nil when there is none. A damaged one is
// removed, to be read from the registry again.
func (in directory) openPack(d digest.Digest) (*pack, error) {
	path := in.path(imagesDir, d)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := openPack(file)
	if errors.Is(err, errTorn) {
		return nil, os.Remove(path)
	}
	return p, err
}
