package catalogsource

import (
	"context"
	"errors"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/reconcile"
)

// origin is where the content of a catalog comes from.
type origin interface {
	// read reads the content when it is another than what is known, and says what it found out on the way.
	read(ctx context.Context, source *v1alpha1.CatalogSource, known content) (reading, error)
}

// reading is what an origin says.
type reading struct {
	index  *catalog.Index // nil when nothing is new
	digest string

	asked bool // whether the registry of the image was asked

	configMap *v1alpha1.ConfigMapResourceReference
	notes     string // what of its manifests is not served as it is written
	answer    string
	session   int
	complete  time.Time

	pod    string
	ran    ranImage // what that pod runs
	polled string

	signatures image.Judgement // of an image
}

// cluster reports whether an error is about objects of the cluster, and not about a registry.
func cluster(err error) bool {
	return errors.As(err, &configMapError{}) || errors.As(err, &secretError{})
}

// unanswered reports whether an error is that the API server did not answer about an object of the cluster. A registry that does not answer is a
// problem of the catalog.
func unanswered(err error) bool { return cluster(err) && reconcile.IsTransient(err) }
