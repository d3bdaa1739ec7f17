package grpccatalog

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var serviceKind = corev1.SchemeGroupVersion.WithKind("Service")

// fromPods are the controllers of Kubernetes that write EndpointSlices: from the pods that a Service selects, and from what an older
// controller made of those. Both leave a Service alone that selects nothing, with what they wrote while it did.
var fromPods = []string{"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}

// removeSlices ends what leads clients elsewhere than to the pod. What leads to the pod belongs to the Service, not to the catalog.
func (k *Keeper) removeSlices(ctx context.Context, source *v1alpha1.CatalogSource, changes *[]string) error {
	slices, err := k.slices(ctx, source)
	if err != nil {
		return err
	}
	for i := range slices {
		if owns(source, &slices[i]) {
			if err := k.removeLive(ctx, source, &slices[i], changes); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeAddresses ends what leads clients of a Service, which selects no pods any more, to the pods that it selected.
func (k *Keeper) removeAddresses(ctx context.Context, source *v1alpha1.CatalogSource, changes *[]string) error {
	endpoints := &metav1.PartialObjectMetadata{}
	endpoints.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Endpoints"))
	err := k.Reader.Get(ctx, client.ObjectKey{Namespace: source.Namespace, Name: ServiceName(source.Name)}, endpoints)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Endpoints %s/%s, to see whether they are of the catalog's pod: %w", source.Namespace, ServiceName(source.Name), err)
	}
	if err == nil {
		endpoints.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Endpoints"))
		if err := k.removeLive(ctx, source, endpoints, changes); err != nil {
			return err
		}
	}
	slices, err := k.slices(ctx, source)
	if err != nil {
		return err
	}
	for i := range slices {
		for _, writer := range fromPods {
			if slices[i].Labels[discoveryv1.LabelManagedBy] == writer {
				if err := k.removeLive(ctx, source, &slices[i], changes); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// slices are those of the catalog's Service.
func (k *Keeper) slices(ctx context.Context, source *v1alpha1.CatalogSource) ([]metav1.PartialObjectMetadata, error) {
	kind := discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind("EndpointSliceList"))
	err := k.Reader.List(ctx, list, client.InNamespace(source.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: ServiceName(source.Name)})
	if err != nil {
		return nil, fmt.Errorf("list the EndpointSlices of Service %s/%s: %w", source.Namespace, ServiceName(source.Name), err)
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(kind)
	}
	return list.Items, nil
}
