package catalogsource

import (
	"context"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/image"
	"fairlead.dev/fairlead/internal/unpack"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// imageReader reads catalogs from a registry, each content once.
type imageReader interface {
	Digest(ctx context.Context, ref string, auth image.Auth) (string, error)
	Read(ctx context.Context, ref string, auth image.Auth) (*catalog.Index, string, error)
}

// secretError is trouble with a Secret that the spec names.
type secretError struct{ err error }

// Error names the field that is about Secrets.
func (e secretError) Error() string { return "use spec.secrets: " + e.err.Error() }

// Unwrap returns the cause.
func (e secretError) Unwrap() error { return e.err }

// images is the origin of catalogs in images.
type images struct {
	reader  imageReader
	secrets client.Reader // uncached: pull secrets are read when they are needed and not kept
}

func (o images) read(ctx context.Context, source *v1alpha1.CatalogSource, known content) (reading, error) {
	auth, err := unpack.PullSecrets(ctx, o.secrets, source.Namespace, source.Spec.Secrets)
	if err != nil {
		return reading{}, secretError{err}
	}
	if known.index != nil {
		digest, err := o.reader.Digest(ctx, source.Spec.Image, auth)
		if err != nil || known.has(digest) {
			// A reference with a digest says itself what it stands for.
			return reading{asked: !strings.Contains(source.Spec.Image, "@")}, err
		}
	}
	index, digest, err := o.reader.Read(ctx, source.Spec.Image, auth)
	return reading{index: index, digest: digest, asked: true}, err
}
