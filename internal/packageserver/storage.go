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
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// storage answers requests for PackageManifests.
type storage struct {
	present *present
	global  string // the namespace of the catalogs that every namespace sees
	// opened is closed when everything that there is to be shown was checked once.
	opened chan struct{}
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

// ready tells why nothing can be answered yet.
func (s *storage) ready() error {
	select {
	case <-s.opened:
		return nil
	default:
		return apierrors.NewServiceUnavailable("the catalogs are still being read; retry")
	}
}

// Get returns the package of that name that comes first in lists.
func (s *storage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	o, revision, err := s.find(request.NamespaceValue(ctx), name)
	if err != nil {
		return nil, err
	}
	return o.whole(revisionText(revision))
}

// find is the first package of a name that a namespace sees, and the revision of what it was found in.
func (s *storage) find(namespace, name string) (*offer, uint64, error) {
	if err := s.ready(); err != nil {
		return nil, 0, err
	}
	now := s.present.now()
	o, ok := now.find(namespace, s.global, name)
	if !ok {
		return nil, 0, apierrors.NewNotFound(schema.GroupResource{Group: packagesv1.GroupName, Resource: resource}, name)
	}
	return &o, now.revision, nil
}

// List returns what a namespace sees.
func (s *storage) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	if options == nil || options.Continue == "" {
		if err := checkRevision(options, s.present); err != nil {
			return nil, err
		}
	}
	now := s.present.now()
	offers := now.offers(request.NamespaceValue(ctx), s.global)
	p, err := paginate(selectionOf(options).of(offers), options, now.revision)
	if err != nil {
		return nil, err
	}
	s.present.docs.use(p.offers)
	a, _ := ctx.Value(answerKey{}).(*answer)
	return newList(p, a), nil
}

// Watch follows what a namespace sees.
func (s *storage) Watch(ctx context.Context, options *internalversion.ListOptions) (watch.Interface, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	if options == nil {
		options = &internalversion.ListOptions{}
	}
	from, initial, err := begin(options, s.present)
	if err != nil {
		return nil, err
	}
	w := &watcher{storage: s, namespace: request.NamespaceValue(ctx), selection: selectionOf(options), bookmarks: options.AllowWatchBookmarks,
		events: make(chan watch.Event)}
	ctx, w.stop = context.WithCancel(ctx)
	go func() {
		defer close(w.events)
		defer w.stop()
		if initial {
			w.run(ctx, nil, options.SendInitialEvents != nil && *options.SendInitialEvents)
		} else {
			w.run(ctx, from.past(), false)
		}
	}()
	return w, nil
}

// The names of the resource.
const (
	resource     = "packagemanifests"
	singular     = "packagemanifest"
	iconResource = resource + "/icon"
)

var (
	scheme         = newScheme()
	codecs         = serializer.NewCodecFactory(scheme, serializer.WithStreamingCollectionEncodingToJSON())
	jsonIdentifier = identifyJSON()
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(packagesv1.AddToScheme(s))
	utilruntime.Must(s.SetVersionPriority(packagesv1.GroupVersion))
	kind := packagesv1.GroupVersion.WithKind(packagesv1.PackageManifestKind)
	utilruntime.Must(s.AddFieldLabelConversionFunc(kind, func(label, value string) (string, string, error) {
		if label != fieldName && label != fieldNamespace {
			return "", "", fmt.Errorf("field label not supported: %s", label)
		}
		return label, value, nil
	}))
	// What all API servers share: options of requests, statuses and discovery.
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(s, unversioned)
	s.AddUnversionedTypes(unversioned, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return s
}

// identifyJSON is how the API machinery calls the form in which it answers when nothing special is asked for.
func identifyJSON() runtime.Identifier {
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		return ""
	}
	return codecs.EncoderForVersion(info.Serializer, packagesv1.GroupVersion).Identifier()
}
