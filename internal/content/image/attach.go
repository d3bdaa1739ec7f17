package image

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"go.podman.io/image/v5/docker/reference"
)

// Attachment is content to store beside an image, such as a signature.
type Attachment struct {
	MediaType   string
	Data        []byte
	Annotations map[string]string

	// Tag, when set, is where the content is added as a layer, beside what
	// others have put there. Else it becomes an artifact of type MediaType that
	// refers to the image.
	Tag string
}

// Attach stores content beside the image ref, which has a digest. Content that
// is there already is not added again.
func Attach(ctx context.Context, ref string, a Attachment, o PushOptions) error {
	named, err := parseReference(ref)
	if err != nil {
		return complete(err, "attach to", ref)
	}
	canonical, ok := named.(reference.Canonical)
	if !ok {
		return complete(invalidReference("it has no digest; content is attached to a digest"), "attach to", ref)
	}
	options, naming, err := o.options(ctx, canonical)
	if err != nil {
		return complete(err, "attach to", ref)
	}
	subject, err := name.NewDigest(canonical.String(), naming...)
	if err != nil {
		return complete(invalidReference("%v", err), "attach to", ref)
	}
	if a.Tag != "" {
		err = a.tag(subject.Context().Tag(a.Tag), options)
	} else {
		err = a.refer(subject, options)
	}
	if err != nil {
		return complete(classify(ctx, err), "attach to", ref)
	}
	return nil
}

// tag adds a layer to what is under the tag.
func (a Attachment) tag(tag name.Tag, options []remote.Option) error {
	image, err := remote.Image(tag, options...)
	var answer *transport.Error
	switch {
	case errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound:
		image = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	case err != nil:
		return err
	}
	layer := static.NewLayer(a.Data, types.MediaType(a.MediaType))
	digest, err := layer.Digest()
	if err != nil {
		return err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	there := slices.ContainsFunc(manifest.Layers, func(d v1.Descriptor) bool {
		return d.Digest == digest && maps.Equal(d.Annotations, a.Annotations)
	})
	if there {
		return nil
	}
	if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.MediaType(a.MediaType), Annotations: a.Annotations}); err != nil {
		return err
	}
	return remote.Write(tag, image, options...)
}

// Media types of artifacts without a configuration.
const (
	mediaEmptyConfig = "application/vnd.oci.empty.v1+json"
	mediaManifest    = "application/vnd.oci.image.manifest.v1+json"
)

// refer pushes an artifact that names the image as its subject. Where the
// registry does not list referrers, the client keeps their fallback tag.
func (a Attachment) refer(subject name.Digest, options []remote.Option) error {
	of, err := remote.Head(subject, options...)
	if err != nil {
		return err
	}
	config := static.NewLayer([]byte("{}"), mediaEmptyConfig)
	content := static.NewLayer(a.Data, types.MediaType(a.MediaType))
	m := artifactManifest{SchemaVersion: 2, MediaType: mediaManifest, ArtifactType: a.MediaType, Annotations: a.Annotations}
	m.Subject = v1.Descriptor{MediaType: of.MediaType, Digest: of.Digest, Size: of.Size}
	for _, layer := range []v1.Layer{config, content} {
		if err := remote.WriteLayer(subject.Context(), layer, options...); err != nil {
			return err
		}
		d, err := partial.Descriptor(layer)
		if err != nil {
			return err
		}
		if layer == config {
			m.Config = *d
		} else {
			m.Layers = append(m.Layers, *d)
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	hash, _, err := v1.SHA256(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return remote.Put(subject.Context().Digest(hash.String()), rawManifest(raw), options...)
}

// artifactManifest is an OCI manifest with an artifact type.
type artifactManifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	ArtifactType  string            `json:"artifactType"`
	Config        v1.Descriptor     `json:"config"`
	Layers        []v1.Descriptor   `json:"layers"`
	Subject       v1.Descriptor     `json:"subject"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// rawManifest is a manifest to push as it is.
type rawManifest []byte

// RawManifest implements remote.Taggable.
func (m rawManifest) RawManifest() ([]byte, error) { return m, nil }

// MediaType is what the client sends as the type of the manifest.
func (m rawManifest) MediaType() (types.MediaType, error) { return mediaManifest, nil }
