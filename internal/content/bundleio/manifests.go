package bundleio

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// InlineLimit is the size in bytes up to which a manifest is kept in the InstallPlan itself, unless it is a Secret.
const InlineLimit = 2048

// referenceKind marks a step's manifest as a reference to the content store.
const referenceKind = "ContentReference"

// ErrMissing says that the content store does not hold the manifest that a reference names.
var ErrMissing = errors.New("the content store no longer holds the manifest")

// Reference names a manifest in the content store.
type Reference struct {
	Kind   string `json:"kind"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// Blobs is the content store, as this package needs it. The error of Get is fs.ErrNotExist for what the store does not hold.
type Blobs interface {
	Put(ctx context.Context, data []byte) (digest string, err error)
	Get(ctx context.Context, digest string) ([]byte, error)
}

// Digest is the name under which the content store keeps a manifest.
func Digest(manifest []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(manifest)) }

// Manifests keeps the manifests of InstallPlan steps.
type Manifests struct {
	Blobs Blobs
}

// Refer returns what a step should hold for the manifest: the manifest itself when it is small and no secret, else a reference to it.
func (m Manifests) Refer(ctx context.Context, manifest []byte) (string, error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if len(manifest) > InlineLimit || json.Unmarshal(manifest, &head) == nil && head.Kind == "Secret" { // which fewer people may read than InstallPlans
		return m.Store(ctx, manifest)
	}
	return string(manifest), nil
}

// Store puts a manifest into the content store, whatever its size, and returns the reference that a step holds for it.
func (m Manifests) Store(ctx context.Context, manifest []byte) (string, error) {
	digest, err := m.Blobs.Put(ctx, manifest)
	if err != nil {
		return "", fmt.Errorf("keep a manifest of %d bytes in the content store: %w", len(manifest), err)
	}
	text, err := json.Marshal(Reference{Kind: referenceKind, Digest: digest, Size: len(manifest)})
	if err != nil {
		return "", fmt.Errorf("encode the reference to a manifest: %w", err)
	}
	return string(text), nil
}

// Resolve returns the manifest behind the text of a step. The error wraps ErrMissing when the content store has lost it, or never had it.
func (m Manifests) Resolve(ctx context.Context, text string) ([]byte, error) {
	if foreign, is := ParseForeign(text); is {
		return nil, fmt.Errorf("%w: another implementation kept it in ConfigMap %s/%s", ErrMissing, foreign.Namespace, foreign.Name)
	}
	ref, ok := ParseReference(text)
	if !ok {
		return []byte(text), nil
	}
	data, err := m.Blobs.Get(ctx, ref.Digest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: manifest %s of %d bytes: %w", ErrMissing, ref.Digest, ref.Size, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest %s of %d bytes: %w", ref.Digest, ref.Size, err)
	}
	return data, nil
}

// ParseReference tells whether the text of a step is a reference, and returns it.
func ParseReference(text string) (Reference, bool) {
	if len(text) > InlineLimit {
		return Reference{}, false
	}
	var ref Reference
	if err := json.Unmarshal([]byte(text), &ref); err != nil || ref.Kind != referenceKind || ref.Digest == "" {
		return Reference{}, false
	}
	return ref, true
}

// Foreign is what another implementation writes in place of a manifest: where it keeps that, and what it knows of the bundle.
type Foreign struct {
	APIVersion             string `json:"apiVersion"` // which a ConfigMap has, and this has not
	Kind                   string `json:"kind"`
	Name                   string `json:"name"`
	Namespace              string `json:"namespace"`
	CatalogSourceName      string `json:"catalogSourceName"`
	CatalogSourceNamespace string `json:"catalogSourceNamespace"`
	Replaces               string `json:"replaces"`
	Properties             string `json:"properties"`
}

// foreignLimit bounds what is read as such a reference, in bytes: it holds the properties of a bundle.
const foreignLimit = 1 << 20

// ParseForeign tells whether the text of a step is a reference of another implementation, and returns it.
func ParseForeign(text string) (Foreign, bool) {
	if len(text) > foreignLimit || !strings.Contains(text, `"catalogSourceName"`) {
		return Foreign{}, false
	}
	var ref Foreign
	if err := json.Unmarshal([]byte(text), &ref); err != nil {
		return Foreign{}, false
	}
	return ref, ref.Kind == "ConfigMap" && ref.APIVersion == "" && ref.Name != "" && ref.CatalogSourceName != ""
}
