package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is who the program runs as.
const user = 1001

// entry is a file or a directory of the image.
type entry struct {
	name  string
	mode  int64
	owner int
	data  []byte // nil for a directory
}

// contents is the root file system: no shell, no package manager, no base image.
func contents(name string, program, bundle []byte) []entry {
	passwd := fmt.Sprintf("root:x:0:0:root:/:/nonexistent\nfairlead:x:%d:%d:Fairlead:/:/nonexistent\n", user, user)
	group := fmt.Sprintf("root:x:0:\nfairlead:x:%d:\n", user)
	return []entry{
		{name: "etc/", mode: 0o755}, {name: "etc/group", mode: 0o644, data: []byte(group)}, {name: "etc/passwd", mode: 0o644, data: []byte(passwd)},
		{name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755}, {name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: bundle},
		{name: name, mode: 0o755, data: program},
		{name: "tmp/", mode: 0o1777},
		{name: "var/", mode: 0o755}, {name: "var/lib/", mode: 0o755}, {name: "var/lib/fairlead/", mode: 0o700, owner: user},
	}
}

// platformContent is the root file system of the image for an architecture.
type platformContent struct {
	arch    string
	entries []entry
}

// writeImages writes an OCI layout with an index of the images of all architectures, and records their digests and sizes.
func writeImages(dir string, content []platformContent, o Options, name string, made *Release) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, c := range content {
		image, err := newImage(c, o, name)
		if err != nil {
			return fmt.Errorf("make the image for linux/%s: %w", c.arch, err)
		}
		if err := made.Images[i].measure(image); err != nil {
			return fmt.Errorf("measure the image for linux/%s: %w", c.arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: c.arch}}})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	path, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = path.AppendIndex(index)
	}
	if err != nil {
		return fmt.Errorf("write the image to %s: %w", dir, err)
	}
	digest, err := index.Digest()
	made.ImageDigest = digest.String()
	return err
}

// measure records the digest of an image, and how much a node downloads.
func (p *PlatformImage) measure(image v1.Image) error {
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	p.Digest, p.Size = digest.String(), manifest.Config.Size
	for _, layer := range manifest.Layers {
		p.Size += layer.Size
	}
	return nil
}

// newImage is the image for one architecture: one layer, and how it is run.
func newImage(c platformContent, o Options, name string) (v1.Image, error) {
	content, err := newLayer(c.entries, o)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	live, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	made := v1.Time{Time: o.Time.UTC()}
	return mutate.ConfigFile(image, &v1.ConfigFile{OS: "linux", Architecture: c.arch, Created: made, RootFS: live.RootFS,
		Config: v1.Config{
			User: fmt.Sprintf("%d:%d", user, user), Entrypoint: []string{"/" + name},
			Labels: map[string]string{
				"org.opencontainers.image.title": name, "org.opencontainers.image.version": o.Version, "org.opencontainers.image.revision": o.Commit,
			},
		},
		History: []v1.History{{Created: made, CreatedBy: "fairlead-release"}},
	})
}

// newLayer is a layer of the entries in their order, all of the same time.
func newLayer(entries []entry, o Options) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.data)), ModTime: o.Time.UTC(), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if e.data == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("write %s into the image: %w", e.name, err)
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, fmt.Errorf("write %s into the image: %w", e.name, err)
		}
	}
	err := w.Close() // before the bytes are taken: it writes the end of the archive
	return out.Bytes(), err
}
