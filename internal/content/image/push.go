package image

import (
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/pkg/tlsclientconfig"
	"go.podman.io/image/v5/types"
)

// PushOptions say how to reach the registry, and with which credentials.
type PushOptions struct {
	Auth
	Config Config
}

// Push builds an OCI image of one layer from files, which it reads into memory,
// and pushes it under ref, a tag, which must name its registry: a misspelt
// word shall not go to a public one. It returns the digest of the manifest. The
// same files and labels give the same digest, and content that the registry has
// already is not sent again. Mirrors do not take part.
func Push(ctx context.Context, ref string, files fs.FS, labels map[string]string, o PushOptions) (digest string, err error) {
	return pushed(ctx, ref, o, func() (pushable, error) { return build(ctx, files, labels) })
}

// pushable is an image, or an index of images.
type pushable interface {
	remote.Taggable
	Digest() (v1.Hash, error)
}

// PushLayout pushes the only image of an OCI layout on disk under ref, a tag, as Push does; or the only index, with all images in it.
func PushLayout(ctx context.Context, ref, dir string, o PushOptions) (digest string, err error) {
	return pushed(ctx, ref, o, func() (pushable, error) {
		index, err := layout.ImageIndexFromPath(dir)
		if err != nil {
			return nil, fmt.Errorf("read the OCI layout %s: %w", dir, err)
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			return nil, fmt.Errorf("read the index of the OCI layout %s: %w", dir, err)
		}
		if len(manifest.Manifests) != 1 {
			return nil, fmt.Errorf("the OCI layout %s has %d images instead of one", dir, len(manifest.Manifests))
		}
		if manifest.Manifests[0].MediaType.IsIndex() {
			return index.ImageIndex(manifest.Manifests[0].Digest)
		}
		return index.Image(manifest.Manifests[0].Digest)
	})
}

func pushed(ctx context.Context, ref string, o PushOptions, built func() (pushable, error)) (digest string, err error) {
	named, err := parseReference(ref)
	if err != nil {
		return "", complete(err, "push", ref)
	}
	if reference.Domain(named) == "docker.io" && !strings.HasPrefix(ref, "docker.io/") {
		return "", complete(invalidReference("it has no registry host; write it, as in quay.io/org/name:tag, or docker.io/org/name:tag if that is meant"), "push", ref)
	}
	tagged, ok := named.(reference.NamedTagged)
	if !ok {
		return "", complete(invalidReference("it has a digest, which only the push itself can tell; give a tag"), "push", ref)
	}
	digest, err = push(ctx, tagged, o, built)
	if err != nil {
		return "", complete(classify(ctx, err), "push", ref)
	}
	return digest, nil
}

func push(ctx context.Context, tagged reference.NamedTagged, o PushOptions, image func() (pushable, error)) (string, error) {
	built, err := image()
	if err != nil {
		return "", &Error{Kind: InvalidImage, Reason: steady(err.Error()), Advice: "correct the files", Err: err}
	}
	options, naming, err := o.options(ctx, tagged)
	if err != nil {
		return "", err
	}
	tag, err := name.NewTag(tagged.String(), naming...)
	if err != nil {
		return "", invalidReference("%v", err)
	}
	if err := remote.Push(tag, built, options...); err != nil {
		return "", err
	}
	hash, err := built.Digest()
	return hash.String(), err
}

// options carries over how endpoints for pulling are configured, so that both
// directions find the same credentials and certificates.
func (o PushOptions) options(ctx context.Context, named reference.Named) ([]remote.Option, []name.Option, error) {
	secrets, err := parseAuth(o.Auth)
	if err != nil {
		return nil, nil, err
	}
	sys, err := o.Config.systemContext(named, false, secrets)
	if err != nil {
		return nil, nil, err
	}
	options, err := remoteOptions(ctx, reference.Domain(named), sys, nil)
	return options, naming(sys), err
}

// naming lets names of hosts that may be reached without TLS be.
func naming(sys *types.SystemContext) []name.Option {
	if sys.DockerInsecureSkipTLSVerify == types.OptionalBoolTrue {
		return []name.Option{name.Insecure}
	}
	return nil
}

// remoteOptions configures a client of a registry as the transport for images
// is configured. What it reads is bounded when bounded is set.
func remoteOptions(ctx context.Context, host string, sys *types.SystemContext, bounded *boundedTransport) ([]remote.Option, error) {
	insecure := sys.DockerInsecureSkipTLSVerify == types.OptionalBoolTrue // loopback, or asked for
	transport := tlsclientconfig.NewTransport()
	transport.ResponseHeaderTimeout = time.Minute
	transport.TLSClientConfig = &tls.Config{}
	if sys.BaseTLSConfig != nil {
		transport.TLSClientConfig = sys.BaseTLSConfig.Clone()
	}
	transport.TLSClientConfig.InsecureSkipVerify = insecure
	if sys.DockerProxy != nil {
		transport.Proxy = func(r *http.Request) (*url.URL, error) { return sys.DockerProxy(r.URL) }
	}
	if sys.DockerCertPath != "" {
		if err := tlsclientconfig.SetupCertificates(sys.DockerCertPath, transport.TLSClientConfig); err != nil {
			return nil, configurationError("the certificates of %s cannot be used: %v", host, err)
		}
	}
	var client http.RoundTripper = &secureTransport{transport, insecure}
	if bounded != nil {
		bounded.RoundTripper = client
		client = bounded
	}
	return []remote.Option{
		remote.WithContext(ctx),
		remote.WithTransport(client),
		remote.WithUserAgent(sys.DockerRegistryUserAgent),
		remote.WithAuth(authn.FromConfig(authn.AuthConfig{
			Username:      sys.DockerAuthConfig.Username,
			Password:      sys.DockerAuthConfig.Password,
			IdentityToken: sys.DockerAuthConfig.IdentityToken,
		})),
	}, nil
}

// secureTransport refuses plain HTTP, also where a registry redirects to,
// unless the registry itself may be reached so.
type secureTransport struct {
	base     http.RoundTripper
	insecure bool
}

// RoundTrip implements http.RoundTripper.
func (t *secureTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkScheme(req.URL, t.insecure); err != nil {
		return nil, err
	}
	return t.base.RoundTrip(req)
}

// checkScheme refuses to send a request in the clear.
func checkScheme(u *url.URL, insecure bool) error {
	if u.Scheme == "https" || insecure {
		return nil
	}
	return problem(Untrusted, "the registry leads to %s without TLS", u.Host)
}
