package catalogsource

import (
	"context"
	"errors"
	"fmt"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// GiveWay is for a pod that is about to end: it removes what leads the clients of catalogs there, as far as they are led to another manager as well, and
// returns how many Services lead to this pod alone. Its controllers must have ended: they would put back what is removed.
func (s *Serving) GiveWay(ctx context.Context, reader client.Reader, writer client.Writer) (alone int, err error) {
	if s.Pod == "" {
		return 0, nil // its clients cannot be told from those of other managers
	}
	var all metav1.PartialObjectMetadataList
	all.SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSliceList"))
	if err := reader.List(ctx, &all, client.MatchingLabels{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue, discoveryv1.LabelManagedBy: sliceManager}); err != nil {
		return 0, fmt.Errorf("list the EndpointSlices of catalogs, to have their clients led elsewhere: %w", err)
	}
	service := func(slice *metav1.PartialObjectMetadata) client.ObjectKey {
		return client.ObjectKey{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}
	}
	elsewhere := map[client.ObjectKey]bool{}
	for i := range all.Items {
		if slice := &all.Items[i]; slice.Annotations[podAnnotation] != s.Pod {
			elsewhere[service(slice)] = true
		}
	}
	for i := range all.Items {
		slice := &all.Items[i]
		if slice.Annotations[podAnnotation] != s.Pod {
			continue
		}
		if !elsewhere[service(slice)] {
			alone++
			continue
		}
		if failed := writer.Delete(ctx, slice, client.Preconditions{UID: &slice.UID}); client.IgnoreNotFound(failed) != nil {
			err = errors.Join(err, fmt.Errorf("delete EndpointSlice %s/%s, by which clients of a catalog come to a manager that ends: %w", slice.Namespace, slice.Name, failed))
		}
	}
	return alone, err
}
