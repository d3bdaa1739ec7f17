package trigger

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// OnSecret calls changed for each change of a Secret from now on, until ctx ends. It watches that Secret alone, by its name and without its
// content: the Secrets of a cluster are many, and most are nobody's business.
func OnSecret(ctx context.Context, server metadata.Interface, namespace, name string, changed func()) {
	informer := metadatainformer.NewFilteredMetadataInformer(server, corev1.SchemeGroupVersion.WithResource("secrets"), namespace, 0,
		cache.Indexers{}, func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}).Informer()
	version := func(object any) string { return object.(*metav1.PartialObjectMetadata).ResourceVersion }
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{ // fails only once the informer was stopped
		AddFunc: func(_ any, first bool) {
			if !first {
				changed()
			}
		},
		UpdateFunc: func(before, after any) {
			if version(before) != version(after) {
				changed()
			}
		},
		DeleteFunc: func(any) { changed() },
	})
	go informer.RunWithContext(ctx)
}
