package clustercatalog

import (
	"errors"
	"fmt"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
)

// target is what a manager is to have of a catalog; empty when that is not known yet.
type target struct {
	ref   string
	leads bool // the reference is that of the spec; otherwise it is what the manager that leads has resolved it to
}

// check tells what is wrong with the spec, whatever registries say.
func check(object *olmv1.ClusterCatalog) error {
	source := object.Spec.Source
	if source.Type != olmv1.CatalogSourceTypeImage || source.Image == nil {
		return terminalError{fmt.Errorf("spec.source.type is %.40q: set it to %s, and spec.source.image.ref to the image of a catalog", source.Type, olmv1.CatalogSourceTypeImage)}
	}
	return nil
}

// resolvedRef is the image by digest that the status names; empty when it names none.
func resolvedRef(object *olmv1.ClusterCatalog) string {
	if resolved := object.Status.ResolvedSource; resolved != nil && resolved.Image != nil && pinned(resolved.Image.Ref) {
		return resolved.Image.Ref
	}
	return ""
}

// pinned reports whether a reference has a digest: what it stands for never changes.
func pinned(ref string) bool { return strings.Contains(ref, "@") }

// digestOf is the digest of a reference that has one.
func digestOf(ref string) string {
	_, digest, _ := strings.Cut(ref, "@")
	return digest
}

// requested is the reference of the spec that led to an image by digest, which is what a signature policy is about. Where the spec asks for
// another repository by now, it is the image itself.
func requested(object *olmv1.ClusterCatalog, resolved string) string {
	if source := object.Spec.Source.Image; source != nil && image.Pin(source.Ref, digestOf(resolved)) == resolved {
		return source.Ref
	}
	return resolved
}

// terminalError is what trying again cannot mend: the spec has to change.
type terminalError struct{ error }

// Unwrap returns the cause.
func (e terminalError) Unwrap() error { return e.error }

// isTerminal reports whether trying again can mend an error about an image. The content behind a digest stays what it is.
func isTerminal(ref string, err error) bool {
	var terminal terminalError
	if errors.As(err, &terminal) {
		return true
	}
	switch kind := image.KindOf(err); {
	case kind == image.InvalidReference:
		return true
	case !pinned(ref):
		return false
	case kind == image.InvalidImage, kind == image.NoPlatform, kind == image.LimitExceeded:
		return true
	}
	return errors.Is(err, image.ErrNoCatalog) || errors.Is(err, catalogstore.ErrNoPackage)
}
