package clusterserviceversion

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// namespaceReady says whether a namespace is there and not on its way out.
func (c *Controller) namespaceReady(ctx context.Context, name string) (bool, error) {
	namespace, err := c.readNamespace(ctx, name)
	return namespace != nil && namespace.DeletionTimestamp.IsZero(), err
}

// namespaceGoing says whether a namespace is on its way out: nothing can be made in it any more.
func (c *Controller) namespaceGoing(ctx context.Context, name string) (bool, error) {
	namespace, err := c.readNamespace(ctx, name)
	return namespace != nil && !namespace.DeletionTimestamp.IsZero(), err
}

// readNamespace reads the metadata of a namespace; nil when it does not exist.
func (c *Controller) readNamespace(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := c.client.Get(ctx, client.ObjectKey{Name: name}, namespace)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read namespace %s: %w", name, err)
	}
	return namespace, nil
}
