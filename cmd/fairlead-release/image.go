package main

import (
	"archive/tar"
	"bytes"
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
func contents(name string, program, authorities []byte) []entry {
	passwd := fmt.Sprintf("root:x:0:0:root:/:/nonexistent\nfairlead:x:%d:%d:Fairlead:/:/nonexistent\n", user, user)
	group := fmt.Sprintf("root:x:0:\nfairlead:x:%d:\n", user)
	return []entry{
		{name: "etc/", mode: 0o755}, {name: "etc/group", mode: 0o644, data: []byte(group)}, {name: "etc/passwd", mode: 0o644, data: []byte(passwd)},
		{name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755}, {name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: authorities},
		{name: name, mode: 0o755, data: program},
		{name: "tmp/", mode: 0o1777},
		{name: "var/", mode: 0o755}, {name: "var/lib/", mode: 0o755}, {name: "var/lib/fairlead/", mode: 0o700, owner: user},
	}
}

// writeImage writes an OCI layout with one image, and returns the digest of its manifest.
func writeImage(dir string, entries []entry, o Options, name string) (string, error) {
	// A layer: the entries in their order, all of the same time.
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.data)), ModTime: o.Time.UTC(), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if e.data == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return "", fmt.Errorf("write %s into the image: %w", e.name, err)
		}
		if _, err := w.Write(e.data); err != nil {
			return "", fmt.Errorf("write %s into the image: %w", e.name, err)
		}
	}
	content, err := out.Bytes(), w.Close()
	if err != nil {
		return "", err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return "", fmt.Errorf("make the layer of the image: %w", err)
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return "", fmt.Errorf("make the image: %w", err)
	}
	// How the image is run.
	made := v1.Time{Time: o.Time.UTC()}
	c := &v1.ConfigFile{OS: "linux", Architecture: o.Arch, Created: made, Config: v1.Config{
		User: fmt.Sprintf("%d:%d", user, user), Entrypoint: []string{"/" + name},
		Labels: map[string]string{"org.opencontainers.image.title": name, "org.opencontainers.image.revision": o.Commit},
	}}
	if live, err := image.ConfigFile(); err == nil { // of an image in memory, which can always be read
		c.RootFS = live.RootFS
	}
	c.History = []v1.History{{Created: made, CreatedBy: "fairlead-release"}}
	image, err = mutate.ConfigFile(image, c)
	if err != nil {
		return "", fmt.Errorf("make the configuration of the image: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("write the image: %w", err)
	}
	path, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = path.AppendImage(image, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: o.Arch}))
	}
	if err != nil {
		return "", fmt.Errorf("write the image to %s: %w", dir, err)
	}
	digest, err := image.Digest()
	return digest.String(), err
}
