package clusterextension

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/revision"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// orphanedKey is the annotation of a ClusterExtension that is being deleted and whose objects stay, once that is known: what tells is
// removed meanwhile.
const orphanedKey = prefix + "orphaned"

// orphans are the revisions that are to leave their objects, because the extension was deleted so; nil when it was not. Kubernetes takes its
// finalizer and the references to the extension away, maybe before the controller comes to look: then there are only revisions that nobody
// controls. As long as there are some of the extension, such others are strangers.
func (c *Controller) orphans(ctx context.Context, ext *olmv1.ClusterExtension, owned []olmv1.ClusterObjectSet) (revisions, error) {
	told := slices.Contains(ext.Finalizers, metav1.FinalizerOrphanDependents) || ext.Annotations[orphanedKey] != ""
	if !told && len(owned) > 0 {
		return nil, nil
	}
	var list olmv1.ClusterObjectSetList
	labels := client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(ext.Name)}
	if err := c.live.List(ctx, &list, labels); err != nil {
		return nil, fmt.Errorf("list the orphaned revisions of ClusterExtension %s: %w", ext.Name, err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(set olmv1.ClusterObjectSet) bool {
		return metav1.GetControllerOfNoCopy(&set) != nil || set.Name != revision.Name(ext.Name, set.Spec.Revision) || set.CreationTimestamp.Before(&ext.CreationTimestamp)
	})
	if !told && len(list.Items) == 0 {
		return nil, nil
	}
	return sorted(append(append([]olmv1.ClusterObjectSet{}, owned...), list.Items...)), nil
}

// orphan lets the extension go without anything that was installed with it. The revisions go, too, and release their objects.
func (c *Controller) orphan(ctx context.Context, ext *olmv1.ClusterExtension, all revisions) error {
	if ext.Annotations[orphanedKey] == "" {
		before := ext.DeepCopy()
		metav1.SetMetaDataAnnotation(&ext.ObjectMeta, orphanedKey, "true")
		if err := c.client.Patch(ctx, ext, client.MergeFrom(before), fieldOwner); err != nil {
			return fmt.Errorf("note on ClusterExtension %s that its objects stay: %w", ext.Name, err)
		}
	}
	if err := c.tearDown(ctx, ext, all, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		return err
	}
	return c.letGo(ctx, ext)
}
