package unpack

import (
	"context"
	"encoding/json"

	"fairlead.dev/fairlead/catalog"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Origin is the CatalogSource that a bundle comes from.
type Origin struct {
	Namespace string
	Secrets   []string // the names of its pull secrets
	Index     *catalog.Index
}

// Bundle is the request for a bundle of the catalog, with the pull secrets that the CatalogSource names.
func (o Origin) Bundle(ctx context.Context, reader client.Reader, b *catalog.BundleInfo, p Policy) (Request, error) {
	r := Request{Name: b.Name, Image: b.Image, Policy: p}
	if r.Image == "" {
		r.Content = o.Index.Digest()
		r.Manifests = func() ([]json.RawMessage, error) { return o.Index.Manifests(b) }
		return r, nil
	}
	auth, err := PullSecrets(ctx, reader, o.Namespace, o.Secrets)
	r.Auth = auth
	return r, err
}
