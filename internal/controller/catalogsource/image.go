package catalogsource

import (
	"context"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// imageReader reads catalogs from a registry, each content once.
type imageReader interface {
	Digest(ctx context.Context, ref string, auth image.Auth) (string, error)
	Read(ctx context.Context, ref string, auth image.Auth) (*catalog.Index, string, error)
}

// secretError is a problem with a Secret that the spec names.
type secretError struct{ err error }

// Error names the field that is about Secrets.
func (e secretError) Error() string { return "use spec.secrets: " + e.err.Error() }

// Unwrap returns the cause.
func (e secretError) Unwrap() error { return e.err }

// images is the origin of catalogs in images.
type images struct {
	reader  imageReader
	secrets client.Reader // uncached: pull secrets are read when they are needed and not kept
	// verifier verifies what is read, and what is served; nil for a process without signature policies.
	verifier image.Images
}

func (o images) read(ctx context.Context, source *v1alpha1.CatalogSource, known content) (reading, error) {
	var found reading
	attempt := image.BeginAttempt(o.verifier, source.Spec.Image, image.Auth{})
	auth, err := bundleio.PullSecrets(ctx, o.secrets, source.Namespace, source.Spec.Secrets)
	if err != nil {
		err = secretError{err}
	} else {
		attempt.Auth = auth
		found, err = o.find(ctx, attempt, source.Spec.Image, auth, known)
	}
	var before ranImage // that the content was read from; its digest is empty where that is not known
	switch {
	case known.index == nil:
	case known.pod != "" || known.setAside:
		before = known.ran
	default:
		before = ranImage{Image: known.signatures.Image, Digest: known.digest}
	}
	found.signatures = attempt.Judgement(ctx, err, image.Content{Image: before.Image}, before.Digest)
	if err != nil {
		found.ran = before
	}
	return found, err
}

// find reads what the reference stands for now, unless that is known. In both cases it is verified first: the policy may be another.
func (o images) find(ctx context.Context, attempt *image.Attempt, ref string, auth image.Auth, known content) (reading, error) {
	if known.index != nil {
		// A reference with a digest says itself what it stands for.
		asked := reading{asked: !strings.Contains(ref, "@")}
		digest, err := o.reader.Digest(ctx, ref, auth)
		if err != nil {
			return asked, err
		}
		if known.has(digest) {
			return asked, attempt.Verify(ctx, image.VerifyOptions{Digest: digest})
		}
	}
	index, digest, err := o.reader.Read(ctx, ref, auth) // which verifies what it hands out
	if err == nil {
		err = attempt.Verify(ctx, image.VerifyOptions{Digest: digest})
	}
	return reading{index: index, digest: digest, asked: true}, err
}
