package clusterextension

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// orphans are the revisions that are to leave their objects, because the extension was deleted so; nil when it was not. Kubernetes takes its
// finalizer and the references to the extension away, maybe before the controller comes to look: then there are only revisions that no one
// controls. As long as there are some of the extension, such others are strangers.
func (u *remover) orphans(ctx context.Context, ext *olmv1.ClusterExtension, owned []olmv1.ClusterObjectSet) (revision.History, error) {
	told := revision.Orphans(ext)
	if !told && len(owned) > 0 {
		return nil, nil
	}
	var list olmv1.ClusterObjectSetList
	labels := client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(ext.Name)}
	if err := u.live.List(ctx, &list, labels); err != nil {
		return nil, fmt.Errorf("list the orphaned revisions of ClusterExtension %s: %w", ext.Name, err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(set olmv1.ClusterObjectSet) bool {
		return metav1.GetControllerOfNoCopy(&set) != nil || set.Name != revision.Name(ext.Name, set.Spec.Revision) || set.CreationTimestamp.Before(&ext.CreationTimestamp)
	})
	if !told && len(list.Items) == 0 {
		return nil, nil
	}
	return revision.Sorted(append(append([]olmv1.ClusterObjectSet{}, owned...), list.Items...)), nil
}

// orphan lets the extension go without anything that was installed with it. The revisions go, too, and release their objects. All are marked
// before that, since what tells is removed meanwhile.
func (u *remover) orphan(ctx context.Context, ext *olmv1.ClusterExtension, all revision.History) error {
	if err := u.mark(ctx, ext); err != nil {
		return fmt.Errorf("note on ClusterExtension %s that its objects stay: %w", ext.Name, err)
	}
	for i := range all {
		if err := u.mark(ctx, &all[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("note on revision %s of ClusterExtension %s that its objects stay: %w", all[i].Name, ext.Name, err)
		}
	}
	if err := u.tearDown(ctx, ext, all, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		return err
	}
	return u.letGo(ctx, ext)
}

// mark notes on an object that what it has stays.
func (u *remover) mark(ctx context.Context, o client.Object) error {
	before := o.DeepCopyObject().(client.Object)
	if !revision.Orphan(o) {
		return nil
	}
	return u.client.Patch(ctx, o, client.MergeFrom(before), fieldOwner)
}
