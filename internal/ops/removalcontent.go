package ops

import (
	"context"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// content is what a revision consists of. One whose content is lost is taken out by the manager nevertheless, which looks for its objects in the
// cluster; of such a one it is the definitions, which are what matters most, and a warning says so.
func (r *Removal) content(ctx context.Context, reader client.Reader, set *olmv1.ClusterObjectSet) ([]*unstructured.Unstructured, error) {
	objects, err := revision.Content(ctx, reader, set)
	if err == nil {
		return objects, nil
	}
	lost := (*revision.LostContentError)(nil)
	if !errors.As(err, &lost) {
		return nil, fmt.Errorf("find out what belongs to revision %s: %w", set.Name, err)
	}
	names, err := revision.OwnedCRDs(ctx, reader, []olmv1.ClusterObjectSet{*set}, nil)
	if err != nil {
		return nil, fmt.Errorf("find out what belongs to revision %s, whose content is lost: %w", set.Name, err)
	}
	for _, name := range names {
		live := Ref{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition", Name: name}.Object()
		if err := reader.Get(ctx, client.ObjectKeyFromObject(live), live); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
		}
		objects = append(objects, live)
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("revision %s cannot be read: %v; the manager looks in the cluster for what the revision controls, and takes that out: of it, only CustomResourceDefinitions are listed here",
		set.Name, lost))
	return objects, nil
}
