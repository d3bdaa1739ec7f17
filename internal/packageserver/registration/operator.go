package registration

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operator names the ClusterServiceVersion that owns the APIService, as that of another implementation's package server does; empty is none.
// As long as it is there its controller keeps the APIService as it wants it, whether anybody answers or not: to take it over would be undone.
func (r *Registration) operator(ctx context.Context) (string, error) {
	live, err := r.apiService(ctx)
	if err != nil || live == nil {
		return "", err
	}
	labels := live.GetLabels()
	if labels[v1alpha1.OwnerKindLabel] != v1alpha1.ClusterServiceVersionKind {
		return "", nil
	}
	key := client.ObjectKey{Namespace: labels[v1alpha1.OwnerNamespaceLabel], Name: labels[v1alpha1.OwnerLabel]}
	csv := &metav1.PartialObjectMetadata{}
	csv.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
	if err := r.reader.Get(ctx, key, csv); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return "", nil
		}
		return "", fmt.Errorf("find out whether ClusterServiceVersion %s, which owns APIService %s, is still there: %w", key, APIServiceName, err)
	}
	return key.String(), nil
}
