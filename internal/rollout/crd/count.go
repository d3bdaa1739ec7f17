package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrUnserved says that the objects of a CRD cannot be read, because it serves no version.
var ErrUnserved = errors.New("the CustomResourceDefinition serves no version; set served: true for one of its versions")

func unserved(verb string, crd *definition) error {
	return fmt.Errorf("%s the %s objects that are stored: %w", verb, crd.Name, ErrUnserved)
}

// Count is how many objects of a CRD are stored, as the API server estimates it; there are none only where it is 0. It reads one of them.
// Where they cannot be read, it fails: to delete the CRD would delete them nevertheless.
func Count(ctx context.Context, reader client.Reader, crd *definition) (int64, error) {
	version := ReadVersion(crd)
	if version == "" { // there may be some from the time when one was served
		return 0, unserved("count", crd)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(listIn(crd, version))
	err := reader.List(ctx, list, client.Limit(1))
	switch {
	case (apierrors.IsNotFound(err) || meta.IsNoMatchError(err)) && !established(crd):
		return 0, nil // nobody can have written one
	case err != nil:
		return 0, fmt.Errorf("count the %s objects that are stored: %w", crd.Name, err)
	}
	n := int64(len(list.Items))
	if more := list.RemainingItemCount; more != nil {
		n += *more
	}
	if list.Continue != "" && n <= int64(len(list.Items)) {
		n = int64(len(list.Items)) + 1 // there is no estimate, but there are more
	}
	return n, nil
}

// Besides tells whether any object of a CRD is stored besides some. It reads as many as these are, and one.
func Besides(ctx context.Context, reader client.Reader, crd *definition, some map[client.ObjectKey]bool) (bool, error) {
	version := ReadVersion(crd)
	if version == "" {
		return false, unserved("look through", crd)
	}
	for p := (&pages{reader: reader}); !p.ended; {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(listIn(crd, version))
		if err := p.next(ctx, list, min(int64(len(some))+1, largestPage)); err != nil {
			return false, fmt.Errorf("look through the %s objects that are stored: %w", crd.Name, err)
		}
		for i := range list.Items {
			if !some[client.ObjectKeyFromObject(&list.Items[i])] {
				return true, nil
			}
		}
	}
	return false, nil
}

func established(crd *definition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}
