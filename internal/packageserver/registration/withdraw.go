package registration

import (
	"context"
	"errors"
	"fmt"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withdraw takes this process out of the registration, and the APIService with it when nobody else serves: the API server would go on asking
// it for what it offers, and delete no namespace without the answer.
func (r *Registration) withdraw(ctx context.Context) error {
	others, err := r.otherSlices(ctx)
	if err == nil && len(others) == 0 {
		err = r.deleteAPIService(ctx)
	}
	own := r.options.slice()
	if gone := client.IgnoreNotFound(r.client.Delete(ctx, own)); gone != nil {
		err = errors.Join(err, fmt.Errorf("delete EndpointSlice %s/%s: %w", own.GetNamespace(), own.GetName(), gone))
	}
	if err != nil {
		return fmt.Errorf("withdraw the package server, without which namespaces cannot be deleted; "+
			"when it stays away, delete APIService %s: %w", APIServiceName, err)
	}
	return nil
}

// deleteAPIService deletes it unless it leads to somebody else.
func (r *Registration) deleteAPIService(ctx context.Context) error {
	for {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(r.options.apiService(nil).GroupVersionKind())
		err := r.reader.Get(ctx, client.ObjectKey{Name: APIServiceName}, live)
		if apierrors.IsNotFound(err) || err == nil && !r.options.leadsHere(live) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read APIService %s: %w", APIServiceName, err)
		}
		uid, version := live.GetUID(), live.GetResourceVersion()
		err = r.client.Delete(ctx, live, client.Preconditions{UID: &uid, ResourceVersion: &version})
		if apierrors.IsConflict(err) {
			continue // it was changed in between: by whom, and to lead where, is to be seen first
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete APIService %s: %w", APIServiceName, err)
		}
		return nil
	}
}

// sweep removes the endpoints that earlier processes have left. One that still serves puts its own back.
func (r *Registration) sweep(ctx context.Context) error {
	others, err := r.otherSlices(ctx)
	if err != nil {
		return err
	}
	for i := range others {
		if err := r.client.Delete(ctx, &others[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete EndpointSlice %s/%s of another process: %w", others[i].Namespace, others[i].Name, err)
		}
	}
	return nil
}

// otherSlices are the endpoints of other processes.
func (r *Registration) otherSlices(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSliceList"))
	if err := r.reader.List(ctx, &list, client.InNamespace(r.options.Namespace), client.MatchingLabels(ourSlices)); err != nil {
		return nil, fmt.Errorf("list the EndpointSlices of Service %s/%s: %w", r.options.Namespace, ServiceName, err)
	}
	var others []metav1.PartialObjectMetadata
	for i := range list.Items {
		if list.Items[i].Name != r.options.sliceName() {
			list.Items[i].SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"))
			others = append(others, list.Items[i])
		}
	}
	return others, nil
}
