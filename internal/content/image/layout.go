package image

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// tagAnnotation is how tools find an image in a layout by name.
const tagAnnotation = "org.opencontainers.image.ref.name"

// WriteLayout builds the image that Push pushes and writes it into dir, which
// is made, as an OCI image layout. tag is its name there, and may be empty. Of
// the images that are there already, the one of that name is replaced; the
// others stay. It returns the digest of the manifest.
func WriteLayout(ctx context.Context, dir, tag string, files fs.FS, labels map[string]string) (string, error) {
	others, err := layoutImages(dir)
	if err != nil {
		return "", fmt.Errorf("write OCI layout %s: %w", dir, err)
	}
	digest, err := writeLayout(ctx, tag, others, files, labels, func(name string, data []byte) error {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o644)
	})
	if err != nil {
		return "", fmt.Errorf("write OCI layout %s: %w", dir, err)
	}
	return digest, nil
}

// WriteArchive is WriteLayout into a tar archive, which is always the same for
// the same image.
func WriteArchive(ctx context.Context, w io.Writer, tag string, files fs.FS, labels map[string]string) (string, error) {
	archive := tar.NewWriter(w)
	digest, err := writeLayout(ctx, tag, nil, files, labels, func(name string, data []byte) error {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(data)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		return "", fmt.Errorf("write OCI archive: %w", err)
	}
	return digest, nil
}

// writeLayout gives the files of a layout to put, the index last.
func writeLayout(ctx context.Context, tag string, others []v1.Descriptor, files fs.FS, labels map[string]string, put func(name string, data []byte) error) (string, error) {
	built, err := build(ctx, files, labels)
	if err != nil {
		return "", err
	}
	digest, err := built.Digest()
	if err != nil {
		return "", err
	}
	if err := putBlobs(built, put); err != nil {
		return "", err
	}
	size, err := built.Size()
	if err != nil {
		return "", err
	}
	mediaType, err := built.MediaType()
	if err != nil {
		return "", err
	}
	// The index lists the image, and the others that have another name.
	entry := v1.Descriptor{MediaType: mediaType, Size: size, Digest: digest, Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}
	if tag != "" {
		entry.Annotations = map[string]string{tagAnnotation: tag}
	}
	images := slices.DeleteFunc(slices.Clone(others), func(d v1.Descriptor) bool {
		name := d.Annotations[tagAnnotation]
		return name == tag && (name != "" || d.Digest == digest)
	})
	index, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: "application/vnd.oci.image.index.v1+json", Manifests: append(images, entry)})
	if err != nil {
		return "", err
	}
	if err := put("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return "", err
	}
	return digest.String(), put("index.json", index)
}

func putBlobs(built v1.Image, put func(name string, data []byte) error) error {
	layers, err := built.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		digest, err := layer.Digest()
		if err != nil {
			return err
		}
		content, err := layer.Compressed()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		if err := put(blobName(digest), data); err != nil {
			return err
		}
	}
	config, err := built.RawConfigFile()
	if err != nil {
		return err
	}
	configName, err := built.ConfigName()
	if err != nil {
		return err
	}
	if err := put(blobName(configName), config); err != nil {
		return err
	}
	manifest, err := built.RawManifest()
	if err != nil {
		return err
	}
	digest, err := built.Digest()
	if err != nil {
		return err
	}
	return put(blobName(digest), manifest)
}

func blobName(digest v1.Hash) string { return path.Join("blobs", digest.Algorithm, digest.Hex) }

// layoutImages are the images that a layout lists; none when there is no layout.
// It refuses to mix an image with other files.
func layoutImages(dir string) ([]v1.Descriptor, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err != nil {
		return nil, errors.New("the directory holds other files; name one that is empty, or does not exist")
	}
	file, err := os.Open(filepath.Join(dir, "index.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	index, err := v1.ParseIndexManifest(io.LimitReader(file, 4<<20))
	if err != nil {
		return nil, fmt.Errorf("read index.json, which lists the images that are there: %w; repair it, or name an empty directory", err)
	}
	return index.Manifests, nil
}
