package image

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/opencontainers/go-digest"
	"go.podman.io/image/v5/docker/reference"
)

// Bounds of what is read beside one image at one endpoint, whatever the
// registry sends.
const (
	artifactBytes      = 4 * mib  // one answer
	artifactTotalBytes = 32 * mib // all answers together
)

// Artifacts reads what is stored beside an image, such as its signatures, at
// one of its endpoints, with the credentials, certificates and proxies that the
// image is read with, while the request lasts that it was made for. What it
// reads is bounded. Its errors are of type Error; what does not exist is
// NotFound.
type Artifacts struct {
	Host string // host[:port] of the endpoint

	w      *watch
	e      endpoint
	repo   name.Repository
	puller *remote.Puller
	listed []remote.Option // for the referrers, which a Puller does not list
}

// Manifest is a manifest as far as artifacts use it.
type Manifest struct {
	MediaType    string       `json:"mediaType"`
	ArtifactType string       `json:"artifactType"`
	Layers       []Descriptor `json:"layers"`
	// Raw is the manifest as the registry sent it.
	Raw []byte `json:"-"`
}

// Descriptor names content of a repository.
type Descriptor struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType"`
	Digest       string            `json:"digest"`
	Size         int64             `json:"size"`
	Annotations  map[string]string `json:"annotations"`
}

// newArtifacts makes no request. The watch ends with the context of the request.
func newArtifacts(w *watch, e endpoint) (*Artifacts, error) {
	sys := w.context(e)
	options, err := remoteOptions(w.ctx, e.host(), sys, &boundedTransport{left: artifactTotalBytes})
	if err != nil {
		return nil, err
	}
	// When to try again is decided by those who asked, as for the image itself.
	options = append(options, remote.WithRetryBackoff(remote.Backoff{Steps: 1}), remote.WithRetryStatusCodes())
	a := &Artifacts{Host: e.host(), w: w, e: e, listed: options}
	if a.repo, err = name.NewRepository(reference.TrimNamed(e.named).Name(), naming(sys)...); err != nil {
		return nil, invalidReference("%v", err)
	}
	if a.puller, err = remote.NewPuller(options...); err != nil {
		return nil, err
	}
	return a, nil
}

// Manifest reads the manifest under a tag, or one with a digest, which it then has.
func (a *Artifacts) Manifest(target string) (*Manifest, error) {
	var ref name.Reference = a.repo.Tag(target)
	if digest.Digest(target).Validate() == nil {
		ref = a.repo.Digest(target)
	}
	var m Manifest
	err := a.w.open(func(ctx context.Context) error {
		found, err := a.puller.Get(ctx, ref)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(found.Manifest, &m); err != nil {
			return problem(InvalidImage, "the manifest %s beside it is not JSON: %s", target, steady(err.Error()))
		}
		m.Raw = found.Manifest
		return nil
	})
	if err != nil {
		return nil, a.e.explain(err)
	}
	return &m, nil
}

// Blob reads a whole blob and checks it against its digest.
func (a *Artifacts) Blob(d Descriptor) ([]byte, error) {
	want := descriptor{Digest: digest.Digest(d.Digest), Size: d.Size}
	if err := checkDescriptor(want); err != nil {
		return nil, err
	}
	if d.Size > artifactBytes {
		return nil, tooLarge(artifactBytes)
	}
	var data []byte
	err := a.w.open(func(ctx context.Context) error {
		layer, err := a.puller.Layer(ctx, a.repo.Digest(d.Digest))
		if err != nil {
			return err
		}
		body, err := layer.Compressed()
		if err != nil {
			return err
		}
		defer body.Close()
		data, err = io.ReadAll(newBlob(body, body, want))
		return err
	})
	return data, a.e.explain(err)
}

// Referrers lists the manifests of a type that name the digest as their subject,
// from the Referrers API, or where the registry has none from its fallback tag.
// Those of which the registry does not say the type are listed too.
func (a *Artifacts) Referrers(subject, artifactType string) ([]Descriptor, error) {
	var found []Descriptor
	err := a.w.open(func(ctx context.Context) error {
		index, err := remote.Referrers(a.repo.Digest(subject), append(slices.Clone(a.listed), remote.WithContext(ctx))...)
		if err != nil {
			return err
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			return problem(InvalidImage, "its list of referrers cannot be read: %s", steady(err.Error()))
		}
		for _, d := range manifest.Manifests {
			if d.ArtifactType == artifactType || d.ArtifactType == "" || d.ArtifactType == mediaEmptyConfig {
				found = append(found, Descriptor{MediaType: string(d.MediaType), ArtifactType: d.ArtifactType, Digest: d.Digest.String(),
					Size: d.Size, Annotations: d.Annotations})
			}
		}
		return nil
	})
	return found, a.e.explain(err)
}

// boundedTransport ends answers that are too large, alone or together.
type boundedTransport struct {
	http.RoundTripper
	left int64
}

// RoundTrip implements http.RoundTripper.
func (t *boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(req)
	if err == nil {
		answer.Body = &boundedBody{ReadCloser: answer.Body, transport: t, left: artifactBytes}
	}
	return answer, err
}

type boundedBody struct {
	io.ReadCloser
	transport *boundedTransport
	left      int64
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.transport.left -= int64(n)
	switch {
	case b.left < 0:
		return 0, tooLarge(artifactBytes)
	case b.transport.left < 0:
		return 0, tooLarge(artifactTotalBytes)
	}
	return n, err
}

func tooLarge(limit int64) error {
	e := problem(LimitExceeded, "what is stored beside it, such as signatures, is larger than %d bytes", limit)
	e.Advice = "remove what does not belong there from the repository"
	return e
}
