package catalogsource

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adoptedValue of the label olm.managed marks objects of users that are watched and not written.
const adoptedValue = "false"

// configMapError is a problem with the ConfigMap rather than with a registry.
type configMapError struct{ error }

// Unwrap returns the cause.
func (e configMapError) Unwrap() error { return e.error }

// configMaps is the origin of catalogs in ConfigMaps. Only the metadata of ConfigMaps is cached, and only of those that catalogs are in;
// the content is read when it is needed.
type configMaps struct {
	live    client.Reader
	client  client.Client
	indexes *catalogstore.Cache
	clock   clock.PassiveClock
}

func (o configMaps) read(ctx context.Context, source *v1alpha1.CatalogSource, known content) (_ reading, err error) {
	defer func() {
		if err != nil {
			err = configMapError{err}
		}
	}()
	key := client.ObjectKey{Namespace: source.Namespace, Name: source.Spec.ConfigMap}
	var object corev1.ConfigMap
	if err := o.live.Get(ctx, key, &object); err != nil {
		return reading{}, fmt.Errorf("read ConfigMap %s, which spec.configMap names: %w", key, err)
	}
	err = o.adopt(ctx, source, &object)
	found := reading{configMap: &v1alpha1.ConfigMapResourceReference{Name: object.Name, Namespace: object.Namespace, UID: object.UID,
		ResourceVersion: object.ResourceVersion, LastUpdateTime: *stamp(o.clock.Now())}}
	if err != nil {
		return found, err
	}
	content, err := catalogstore.ReadConfigMap(ctx, object.Data, object.BinaryData)
	if err != nil {
		return found, fmt.Errorf("read the catalog in ConfigMap %s: %w", key, err)
	}
	if n := len(content.Warnings); n > 0 {
		found.notes = fmt.Sprintf("not all manifests in ConfigMap %s are served as they are written (%d warnings); %s", key, n, catalogstore.Some(content.Warnings))
	}
	if known.has(content.Digest) {
		return found, nil
	}
	index, err := o.indexes.FS(ctx, content.Digest, content.Files, content.Problems...)
	if err != nil {
		return found, fmt.Errorf("index the catalog in ConfigMap %s: %w", key, err)
	}
	if err := catalogstore.CheckImage(index, "ConfigMap "+key.String()); err != nil {
		return found, err
	}
	found.index, found.digest = index, content.Digest
	return found, nil
}

// adopt marks the ConfigMap as one to watch, and makes it go with the catalogs that use it, as it is documented.
func (o configMaps) adopt(ctx context.Context, source *v1alpha1.CatalogSource, object *corev1.ConfigMap) error {
	owned := slices.ContainsFunc(object.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == source.UID })
	if _, marked := object.Labels[v1alpha1.ManagedLabel]; marked && owned {
		return nil
	}
	before := object.DeepCopy()
	if object.Labels == nil {
		object.Labels = map[string]string{}
	}
	if _, marked := object.Labels[v1alpha1.ManagedLabel]; !marked {
		object.Labels[v1alpha1.ManagedLabel] = adoptedValue
	}
	if !owned {
		object.OwnerReferences = append(object.OwnerReferences, metav1.OwnerReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.CatalogSourceKind, Name: source.Name, UID: source.UID})
	}
	// Others may add owners at the same time: the version makes sure that none of them is lost.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := o.client.Patch(ctx, object, patch, fieldOwner); err != nil {
		return fmt.Errorf("mark ConfigMap %s/%s as the catalog of CatalogSource %s: %w", object.Namespace, object.Name, source.Name, err)
	}
	return nil
}
