package clustercatalog

import (
	"context"
	"sync/atomic"

	"fairlead.dev/fairlead/internal/image"
	"fairlead.dev/fairlead/internal/unpack"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// credentials are those that all catalogs are read with. They are read when they are needed, and not kept.
type credentials struct {
	from    unpack.Credentials
	reader  client.Reader // uncached
	changes atomic.Int64
}

func (c *credentials) auth(ctx context.Context) (image.Auth, error) {
	return c.from.Read(ctx, c.reader)
}

// sign is a number that grows when the pull secret changes.
func (c *credentials) sign() int { return int(c.changes.Load()) }

// follow watches the pull secret, without its content, so that new credentials are tried at once.
func (c *credentials) follow(ctx context.Context, server metadata.Interface, changed func()) {
	if c.from.Secret.Name == "" {
		return
	}
	informer := metadatainformer.NewFilteredMetadataInformer(server, corev1.SchemeGroupVersion.WithResource("secrets"), c.from.Secret.Namespace, 0,
		cache.Indexers{}, func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, c.from.Secret.Name).String()
		}).Informer()
	note := func() {
		c.changes.Add(1)
		changed()
	}
	version := func(object any) string { return object.(*metav1.PartialObjectMetadata).ResourceVersion }
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{ // fails only once the informer was stopped
		AddFunc: func(_ any, first bool) {
			if !first {
				note()
			}
		},
		UpdateFunc: func(before, after any) {
			if version(before) != version(after) {
				note()
			}
		},
		DeleteFunc: func(any) { note() },
	})
	go informer.RunWithContext(ctx)
}
