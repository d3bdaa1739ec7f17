package crd

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// heldLooked is how many objects are looked at for their finalizers.
	heldLooked = 500
	// heldTold is how many of them are named.
	heldTold = 5
)

// Held says which objects of a CRD have finalizers, which somebody has to take away before they can go, and what these are. It looks at the
// first 500 objects, and names five.
func Held(ctx context.Context, reader client.Reader, crd *definition) ([]string, error) {
	version := ReadVersion(crd)
	if version == "" {
		return nil, unserved("read", crd)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(listIn(crd, version))
	if err := reader.List(ctx, list, client.Limit(heldLooked)); apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the finalizers of the %s objects that are stored: %w", crd.Name, err)
	}
	var all []string
	for i := range list.Items {
		if o := &list.Items[i]; len(o.Finalizers) > 0 {
			all = append(all, fmt.Sprintf("%s %s waits for its finalizers %s", crd.Spec.Names.Kind, nameOf(o), bounded(strings.Join(o.Finalizers, ", "))))
		}
	}
	if more := len(all) - heldTold; more > 0 {
		all = append(all[:heldTold], fmt.Sprintf("%d more objects of %s wait for theirs", more, crd.Name))
	}
	return all, nil
}
