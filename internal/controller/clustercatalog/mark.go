package clustercatalog

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// foreignFinalizer is what another implementation keeps a ClusterCatalog with. Nothing here needs one: the one who holds content of a catalog
// sees that the object is gone. It is taken away, because no other client would.
const foreignFinalizer = olmv1.GroupName + "/delete-server-cache"

// mark gives a catalog the label with its name, by which extensions select it, where the name is not too long for a label, and takes away what would keep it from being deleted.
func (c *Controller) mark(ctx context.Context, object *olmv1.ClusterCatalog) error {
	deleted, kept := !object.DeletionTimestamp.IsZero(), slices.Contains(object.Finalizers, foreignFinalizer)
	labelled := object.Labels[olmv1.MetadataNameKey] == object.Name || len(object.Name) > validation.LabelValueMaxLength
	if !kept && (deleted || labelled) {
		return nil
	}
	changed := object.DeepCopy()
	changed.Finalizers = slices.DeleteFunc(changed.Finalizers, func(f string) bool { return f == foreignFinalizer })
	if !deleted && !labelled {
		if changed.Labels == nil {
			changed.Labels = map[string]string{}
		}
		changed.Labels[olmv1.MetadataNameKey] = object.Name
	}
	// A list is replaced as a whole: no one's finalizer may get lost that was added meanwhile.
	patch := client.MergeFromWithOptions(object.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if !kept {
		patch = client.MergeFrom(object.DeepCopy())
	}
	if err := c.client.Patch(ctx, changed, patch, fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the label %s of ClusterCatalog %s: %w", olmv1.MetadataNameKey, object.Name, err)
	}
	*object = *changed
	return nil
}
