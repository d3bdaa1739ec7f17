package stored

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/preflight/crdupgrade"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Count is how many objects of a CRD are stored. It reads one of them.
func Count(ctx context.Context, reader client.Reader, crd *definition) (int64, error) {
	version := crdupgrade.ReadVersion(crd)
	if version == "" {
		return 0, nil // nobody can have written one
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: version, Kind: crd.Spec.Names.Kind + "List"})
	err := reader.List(ctx, list, client.Limit(1))
	switch {
	case apierrors.IsNotFound(err): // it is not established
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("count the %s objects that are stored: %w", crd.Name, err)
	}
	n := int64(len(list.Items))
	if more := list.RemainingItemCount; more != nil {
		n += *more
	}
	return n, nil
}
