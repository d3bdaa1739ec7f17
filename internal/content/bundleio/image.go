package bundleio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
)

// Published is an image that was made of a bundle.
type Published struct {
	// Image is the reference by digest, or the place on disk.
	Image string `json:"image"`
	// Digest is that of the manifest.
	Digest string `json:"digest"`
}

// Prefixes of destinations on disk. Both can be followed by :TAG.
const (
	layoutPrefix  = "oci:"
	archivePrefix = "oci-archive:"
)

// Publish makes the image of a bundle, without Docker, and puts it where destination says: an image reference in a registry,
// oci:DIRECTORY[:TAG] or oci-archive:FILE[:TAG].
func Publish(ctx context.Context, files fs.FS, labels map[string]string, destination string, o image.PushOptions) (Published, error) {
	prefix, place := "", ""
	for _, onDisk := range []string{layoutPrefix, archivePrefix} {
		if rest, ok := strings.CutPrefix(destination, onDisk); ok {
			prefix, place = onDisk, rest
		}
	}
	path, tag := splitTag(place)
	switch {
	// Refuse what would end up where no one meant it to: in the current directory, or in a registry that is not named.
	case prefix != "" && path == "":
		return Published{}, fmt.Errorf("publish bundle to %q: %s needs a path after it", destination, prefix)
	case prefix == "" && !HasHost(destination):
		return Published{}, fmt.Errorf("publish bundle to %q: write the host of the registry, too, as in quay.io/org/name:tag; "+
			"or write oci:DIRECTORY or oci-archive:FILE for an image on disk", destination)
	case prefix == layoutPrefix:
		digest, err := image.WriteLayout(ctx, path, tag, files, labels)
		return Published{Image: destination, Digest: digest}, err
	case prefix == archivePrefix:
		digest, err := writeArchive(ctx, path, tag, files, labels)
		return Published{Image: destination, Digest: digest}, err
	}
	digest, err := image.Push(ctx, destination, files, labels, o)
	if err != nil {
		return Published{}, err
	}
	return Published{Image: image.Pin(destination, digest), Digest: digest}, nil
}

// OnDisk reports whether a destination is an image on disk, rather than in a registry.
func OnDisk(destination string) bool {
	return strings.HasPrefix(destination, layoutPrefix) || strings.HasPrefix(destination, archivePrefix)
}

// splitTag takes the tag off a path; a colon in a directory above belongs to the path.
func splitTag(text string) (path, tag string) {
	if i := strings.LastIndex(text, ":"); i > strings.LastIndexAny(text, `/\`) {
		return text[:i], text[i+1:]
	}
	return text, ""
}

func writeArchive(ctx context.Context, file, tag string, files fs.FS, labels map[string]string) (digest string, err error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("write OCI archive %s: it is there already; remove it, or name another file", file)
	}
	if err != nil {
		return "", fmt.Errorf("write OCI archive: %w", err)
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			_ = os.Remove(file)
		}
	}()
	return image.WriteArchive(ctx, out, tag, files, labels)
}

// maxContent is how many bytes the image of a bundle may hold before it is compressed; the limits of bundles themselves are lower.
const maxContent = 256 << 20

// contentOf is a directory with only what belongs to a bundle in it: manifests, metadata and tests.
func contentOf(files fs.FS, manifests string) (fs.FS, error) {
	content, left := map[string][]byte{}, int64(maxContent)
	for _, dir := range []string{manifests, "metadata", "tests"} {
		if _, err := fs.Stat(files, dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if left -= info.Size(); left < 0 {
				return fmt.Errorf("%s: the bundle is larger than %d bytes; remove what does not belong to it", name, maxContent)
			}
			content[name], err = fs.ReadFile(files, name)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read bundle: %w", err)
		}
	}
	return image.Files(content)
}

// ImageOf is what the image of a bundle directory holds, and its labels.
func ImageOf(dir string) (files fs.FS, labels map[string]string, err error) {
	tree := os.DirFS(dir)
	in := bundle.Inspect(tree)
	labels = map[string]string{}
	for key, value := range in.Bundle.Annotations {
		if strings.HasPrefix(key, v1alpha1.BundleAnnotationPrefix) {
			labels[key] = value
		}
	}
	switch {
	case len(labels) > 0:
		files, err = contentOf(tree, in.ManifestsDir)
	case len(in.Problems) > 0:
		err = in.Problems[0].Err
	default:
		err = errors.New("its annotations are not those of a bundle; write them with: fairlead bundle generate")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bundle %s: %w", dir, err)
	}
	return files, labels, nil
}

// manifestProperty carries a manifest. A bundle with an image needs none of them in its catalog.
const manifestProperty = "olm.bundle.object"

// Linear makes a catalog in which every package has one channel, its bundles one after the other by version. That is not what
// their authors meant by replaces and skips, but it is a valid graph for any set of bundles.
func Linear(published []PublishedBundle) (*catalog.Catalog, error) {
	c := &catalog.Catalog{}
	for i, p := range published {
		b, err := p.Bundle.ToCatalog(p.Image)
		if err != nil {
			return nil, fmt.Errorf("describe bundle %s for a catalog: %w", p.Bundle.Name, err)
		}
		b.Properties = slices.DeleteFunc(b.Properties, func(p catalog.Property) bool { return p.Type == manifestProperty })
		c.Bundles = append(c.Bundles, b)
		entry := catalog.Entry{Name: p.Bundle.Name}
		if i > 0 && published[i-1].Bundle.Package == p.Bundle.Package {
			entry.Replaces = published[i-1].Bundle.Name
			last := &c.Channels[len(c.Channels)-1]
			last.Entries = append(last.Entries, entry)
			continue
		}
		channel := p.Bundle.DefaultChannel
		c.Packages = append(c.Packages, catalog.Package{Schema: catalog.SchemaPackage, Name: p.Bundle.Package, DefaultChannel: channel})
		c.Channels = append(c.Channels, catalog.Channel{Schema: catalog.SchemaChannel, Name: channel, Package: p.Bundle.Package, Entries: []catalog.Entry{entry}})
	}
	return c, nil
}

// Relocate makes the bundles of a catalog point at the published images. It is an error if a bundle was not published.
func Relocate(c *catalog.Catalog, published []PublishedBundle) error {
	images := map[string]string{}
	for _, p := range published {
		images[p.Bundle.Name] = p.Image
	}
	for i := range c.Bundles {
		b := &c.Bundles[i]
		image, ok := images[b.Name]
		if !ok {
			return fmt.Errorf("relocate the catalog: bundle %s of package %s is not among the published bundles", b.Name, b.Package)
		}
		for j := range b.RelatedImages {
			if b.RelatedImages[j].Image == b.Image {
				b.RelatedImages[j].Image = image
			}
		}
		b.Image = image
	}
	return nil
}
