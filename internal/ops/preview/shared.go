package preview

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Held is the content of catalogs that a program has anyway, because it serves them. It is asked only for catalogs that the user has been allowed to read.
// What it returns is closed by who asks; nil is that it has none.
type Held interface {
	// ClusterCatalog has the content with a digest.
	ClusterCatalog(ctx context.Context, name, digest string) *catalog.Index
	// CatalogSource has the content that is served now.
	CatalogSource(ctx context.Context, ref catalog.Ref) *catalog.Index
}

// OpenShared opens a library in a directory of its own, for the questions of many users. Nothing of the program and nothing of one user serves the
// others: images are pulled with the credentials that come with a question and no others, the connections of one user are not used for another, and no
// file of the machine is read.
func OpenShared(dir string, images image.Config, limits catalog.Limits, held Held) (*Library, error) {
	images.Anonymous = true
	store, err := image.Open(filepath.Join(dir, "images"), images)
	if err != nil {
		return nil, err
	}
	indexes, err := catalogstore.OpenCache(filepath.Join(dir, "indexes"))
	if err != nil {
		return nil, fmt.Errorf("keep the indexes of catalogs: %w", err)
	}
	indexes.Limits = limits
	return &Library{Images: func(context.Context) (*image.Store, error) { return store, nil }, indexes: indexes, held: held, shared: true}, nil
}

// Collect removes what was used least recently, until images take no more than so many bytes, and indexes that no one has asked for in a while.
func (l *Library) Collect(ctx context.Context, most int64) error {
	store, err := l.Images(ctx)
	if err == nil {
		_, err = store.GC(ctx, func(string) bool { return false }, most)
	}
	_, failed := l.indexes.GC(ctx, keepIndexes)
	return errors.Join(err, failed)
}

// heldClustered is the content of a ClusterCatalog that the user has read, where it need not be read any more.
func (l *Library) heldClustered(ctx context.Context, name, digest string) *catalog.Index {
	if l.held == nil || digest == "" {
		return nil
	}
	return l.held.ClusterCatalog(ctx, name, digest)
}

// heldSource is the same for a CatalogSource. The objects of a question may come from the user: what the cluster has, only the cluster allows to be read.
func (q *Question) heldSource(ctx context.Context, l *Library, source *v1alpha1.CatalogSource) *catalog.Index {
	if l.held == nil || q.Secrets == nil {
		return nil
	}
	var mine v1alpha1.CatalogSource
	if err := q.Secrets.Get(ctx, client.ObjectKeyFromObject(source), &mine); err != nil || mine.UID != source.UID {
		return nil
	}
	return l.held.CatalogSource(ctx, catalog.Ref{Namespace: source.Namespace, Name: source.Name})
}

// heldNamed is heldClustered for a ClusterCatalog among the objects of a question.
func (q *Question) heldNamed(ctx context.Context, l *Library, object *olmv1.ClusterCatalog) *catalog.Index {
	if l.held == nil || q.Secrets == nil {
		return nil
	}
	var mine olmv1.ClusterCatalog
	if err := q.Secrets.Get(ctx, client.ObjectKey{Name: object.Name}, &mine); err != nil || mine.UID != object.UID {
		return nil
	}
	return l.heldClustered(ctx, mine.Name, snapshot.CatalogDigest(&mine))
}
