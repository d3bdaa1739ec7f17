package bundleio

import (
	"context"
	"encoding/json"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Origin is the catalog that a bundle comes from.
type Origin struct {
	Namespace string
	Secrets   []string // the names of the pull secrets of a CatalogSource
	Index     *catalog.Index
	// Image is the reference that Index was read by; empty for a catalog of another origin. A signature on it can cover its bundles.
	Image string
	// ByCatalog is that of the requests for its bundles.
	ByCatalog bool
}

// CatalogImage is the image that the catalog was read from. Its Ref is empty for a catalog of another origin.
func (o Origin) CatalogImage() image.Origin {
	return image.Origin{Ref: o.Image, Digest: o.Index.Digest()}
}

// namedBy is the catalog image that names the bundles of the origin; nil when there is none.
func (o Origin) namedBy() *image.Origin {
	if o.Image == "" || o.Index == nil {
		return nil
	}
	named := o.CatalogImage()
	return &named
}

// Bundle is the request for a bundle of the catalog, with the pull secrets that the CatalogSource names.
func (o Origin) Bundle(ctx context.Context, reader client.Reader, b *catalog.BundleInfo, p Policy) (Request, error) {
	r := Request{Name: b.Name, Image: b.Image, Policy: p, NamedBy: o.namedBy(), ByCatalog: o.ByCatalog}
	if r.Image == "" {
		r.Content = o.Index.Digest()
		r.Manifests = func() ([]json.RawMessage, error) { return o.Index.Manifests(b) }
	}
	if r.Image == "" && r.NamedBy == nil {
		return r, nil // no registry is asked for anything
	}
	auth, err := PullSecrets(ctx, reader, o.Namespace, o.Secrets)
	r.Auth = auth
	return r, err
}
