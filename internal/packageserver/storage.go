package packageserver

import (
	"context"
	"fmt"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// storage answers requests for PackageManifests.
type storage struct {
	view      *view
	revisions *revisions
	// ended is closed when the server stops: watches end then.
	ended <-chan struct{}
}

var (
	_ rest.Storage              = &storage{}
	_ rest.Scoper               = &storage{}
	_ rest.SingularNameProvider = &storage{}
	_ rest.Getter               = &storage{}
	_ rest.Lister               = &storage{}
	_ rest.Watcher              = &storage{}
)

// New returns an empty object.
func (s *storage) New() runtime.Object { return &packagesv1.PackageManifest{} }

// NewList returns an empty list.
func (s *storage) NewList() runtime.Object { return &packagesv1.PackageManifestList{} }

// Destroy gives nothing back: nothing is held.
func (s *storage) Destroy() {}

// NamespaceScoped says that packages are seen from namespaces.
func (s *storage) NamespaceScoped() bool { return true }

// GetSingularName is what one of them is called.
func (s *storage) GetSingularName() string { return singular }

// Get returns the package of that name that comes first in lists.
func (s *storage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	revision := s.revisions.now()
	o, err := s.view.find(ctx, request.NamespaceValue(ctx), name)
	if err != nil {
		return nil, err
	}
	return o.whole(revisionText(revision))
}

// find is the first package of a name that a namespace sees.
func (v *view) find(ctx context.Context, namespace, name string) (*offer, error) {
	offers, err := v.offers(ctx, namespace)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("find package %s in namespace %s: %w", name, namespace, err))
	}
	for i := range offers {
		if offers[i].doc.name == name {
			return &offers[i], nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: packagesv1.GroupName, Resource: resource}, name)
}

// List returns what a namespace sees.
func (s *storage) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	revision := s.revisions.now() // before the look, so that a watch from here misses nothing
	if options == nil || options.Continue == "" {
		if err := checkRevision(options, revision); err != nil {
			return nil, err
		}
	}
	offers, err := s.view.offers(ctx, request.NamespaceValue(ctx))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	p, err := paginate(selectionOf(options).of(offers), options, revision)
	if err != nil {
		return nil, err
	}
	return newList(p), nil
}

// Watch follows what a namespace sees.
func (s *storage) Watch(ctx context.Context, options *internalversion.ListOptions) (watch.Interface, error) {
	return newWatcher(ctx, s, request.NamespaceValue(ctx), options)
}
