package registration

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watch tells when one of the objects was changed by anybody. Only these few are watched, and only their metadata kept, which can be read.
func (r *Registration) watch(ctx context.Context) (<-chan struct{}, client.Reader, error) {
	changed := make(chan struct{}, 1)
	tell := func() {
		select {
		case changed <- struct{}{}:
		default: // it is told already
		}
	}
	watched := r.options.watched()
	c, err := cache.New(r.options.REST, cache.Options{ByObject: watched, DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return nil, nil, fmt.Errorf("watch the registration of the package server: %w", err)
	}
	for object := range watched {
		informer, err := c.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, nil, fmt.Errorf("watch the registration of the package server: %w", err)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { tell() }, UpdateFunc: func(any, any) { tell() }, DeleteFunc: func(any) { tell() },
		}); err != nil {
			return nil, nil, fmt.Errorf("watch the registration of the package server: %w", err)
		}
	}
	go func() {
		if err := c.Start(ctx); err != nil {
			r.log.Error(err, "changes of the registration of the package server are not noticed before the next start")
		}
	}()
	return changed, c, nil
}

// watched are the objects by their names.
func (o Options) watched() map[client.Object]cache.ByObject {
	kind := func(gv schema.GroupVersion, kind string) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(gv.WithKind(kind))
		return m
	}
	named := func(name string) cache.ByObject {
		return cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", name)}
	}
	here := func(b cache.ByObject) cache.ByObject {
		b.Namespaces = map[string]cache.Config{o.Namespace: {}}
		return b
	}
	return map[client.Object]cache.ByObject{
		kind(corev1.SchemeGroupVersion, "Secret"):                here(named(secretName)),
		kind(corev1.SchemeGroupVersion, "Service"):               here(named(ServiceName)),
		kind(discoveryv1.SchemeGroupVersion, "EndpointSlice"):    here(cache.ByObject{Label: labels.SelectorFromSet(ourSlices)}),
		kind(rbacv1.SchemeGroupVersion, "ClusterRole"):           named(viewRoleName),
		kind(corev1.SchemeGroupVersion, "Namespace"):             named(o.home()),
		kind(apiregistrationv1.SchemeGroupVersion, "APIService"): named(APIServiceName),
	}
}

// ourSlices selects the EndpointSlices of the Service that processes like this one have written.
var ourSlices = map[string]string{discoveryv1.LabelServiceName: ServiceName, discoveryv1.LabelManagedBy: sliceManager}
