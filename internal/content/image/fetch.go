package image

import (
	"cmp"
	"context"
	"os"
	"runtime"

	"github.com/opencontainers/go-digest"
)

// fetching is one image on its way out of the store, or into it.
type fetching struct {
	store     *Store
	digest    digest.Digest
	said      *endpoint // which named the digest just now; nil when the reference has it
	endpoints []endpoint
	options   PullOptions
	limits    Limits
	wanted    func(string) bool // known once the labels are
}

// image takes the image from the store, or reads it from the first endpoint
// that has it into the store.
func (f *fetching) image(ctx context.Context) (*pack, error) {
	if p, err := f.cached(ctx); p != nil || err != nil {
		return p, err
	}
	unlock, err := Lock(ctx, f.store.dir.path(locksDir, f.digest))
	if err != nil {
		return nil, err
	}
	defer unlock()
	// The one who held the lock before has probably fetched just this.
	if p, err := f.cached(ctx); p != nil || err != nil {
		return p, err
	}
	return patiently(ctx, f.store.config.Retries, func() (*pack, error) {
		return first(ctx, f.endpoints, func(e endpoint) (*pack, error) {
			p, err := f.from(ctx, e)
			if err == nil {
				f.store.dir.grant(f.digest, e)
			}
			return p, err
		})
	})
}

// cached takes the image from the store. It returns nil when the store does not
// hold all that is wanted, or not for these credentials.
func (f *fetching) cached(ctx context.Context) (*pack, error) {
	p, err := f.store.dir.openPack(f.digest)
	if p == nil || err != nil {
		return nil, err
	}
	wanted, err := f.options.filter(p.index.Labels)
	lacks := false
	if err == nil {
		lacks, err = p.lacks(wanted)
	}
	if lacks || err != nil {
		_ = p.file.Close()
		return nil, err
	}
	touch(p.file.Name())
	if !f.store.dir.mayRead(ctx, f.digest, f.said, f.endpoints, f.limits) {
		return nil, p.file.Close()
	}
	f.wanted = wanted
	return p, nil
}

// from reads the image from one endpoint.
func (f *fetching) from(ctx context.Context, e endpoint) (*pack, error) {
	w := newWatch(ctx, f.limits.Stall)
	defer w.stop()
	src, err := openSource(w, e, f.digest)
	if err != nil {
		return nil, err
	}
	defer src.from.Close()
	manifest, err := src.manifest(cmp.Or(f.store.config.Architecture, runtime.GOARCH))
	if err != nil {
		return nil, err
	}
	// Apply the limits that can be seen to be exceeded beforehand.
	if len(manifest.Layers) > f.limits.Layers {
		return nil, exceeded("Layers", f.limits.Layers, "it has %d layers", len(manifest.Layers))
	}
	left := budget{limits: f.limits}
	for _, layer := range manifest.Layers {
		if err := left.takeCompressed(layer.Size); err != nil {
			return nil, err
		}
	}
	c, err := readConfig[configuration](src, *manifest.Config, f.limits.ConfigBytes)
	if err != nil {
		return nil, err
	}
	labels := c.Config.Labels
	if f.wanted, err = f.options.filter(labels); err != nil {
		return nil, err
	}
	// Write the wanted files of the layers to a pack, and store it.
	out, err := f.store.dir.temp()
	if err != nil {
		return nil, storeFailure(err)
	}
	defer func() { _ = os.Remove(out.Name()) }()
	if err := f.write(out, src, manifest.Layers, labels); err != nil {
		_ = out.Close()
		return nil, err
	}
	if err := os.Rename(out.Name(), f.store.dir.path(imagesDir, f.digest)); err != nil {
		_ = out.Close()
		return nil, storeFailure(err)
	}
	return openPack(out)
}

// write reads the layers and writes what is kept of them to out.
func (f *fetching) write(out *os.File, src *source, layers []descriptor, labels map[string]string) error {
	names, err := f.store.dir.temp()
	if err != nil {
		return storeFailure(err)
	}
	defer discard(names)
	// The new pack holds what is wanted now, and what the pack that it replaces holds because others wanted it.
	old, err := f.store.dir.openPack(f.digest)
	if err != nil {
		return err
	}
	keep := f.wanted
	if old != nil {
		_ = old.file.Close()
		keep = func(path string) bool {
			_, held := old.index.Files[path]
			return held || f.wanted(path)
		}
	}
	x := extraction{
		budget:   budget{limits: f.limits},
		wanted:   keep,
		merge:    newMerger(),
		out:      newPackWriter(out, names),
		progress: f.options.Progress,
	}
	for _, layer := range layers {
		x.total += layer.Size
	}
	for _, layer := range layers {
		b, err := src.blob(layer)
		if err != nil {
			return err
		}
		err = x.layer(b)
		_ = b.Close()
		if err != nil {
			return err
		}
	}
	files, err := x.files()
	if err != nil {
		return err
	}
	return storeFailure(x.out.finish(packIndex{Digest: f.digest.String(), Labels: labels, Files: files}))
}
