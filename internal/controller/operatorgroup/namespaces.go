package operatorgroup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// uidLabel is the label on the target namespaces of the group with this UID.
func uidLabel(uid string) string { return v1alpha1.OperatorGroupUIDLabelPrefix + uid }

// groupUIDs are the UIDs of the groups whose labels an object carries.
func groupUIDs(object metav1.Object) []string {
	var uids []string
	for key := range object.GetLabels() {
		if uid, ok := strings.CutPrefix(key, v1alpha1.OperatorGroupUIDLabelPrefix); ok {
			uids = append(uids, uid)
		}
	}
	slices.Sort(uids)
	return uids
}

// staleUIDs are the UIDs of groups that had the name of this one before, as their ClusterRoles remember them.
func staleUIDs(roles []rbacv1.ClusterRole, current types.UID) []string {
	var uids []string
	for i := range roles {
		for _, uid := range groupUIDs(&roles[i]) {
			if uid != string(current) {
				uids = append(uids, uid)
			}
		}
	}
	return sortedSet(uids)
}

// setLabels puts the label of the group on its target namespaces and takes it off all others. A group that targets all namespaces
// labels none.
func (c *Controller) setLabels(ctx context.Context, group *v1.OperatorGroup, seen *observed) error {
	if seen.invalid != nil {
		return nil
	}
	labelled, err := c.labelled(ctx, string(group.UID))
	if err != nil {
		return err
	}
	var errs []error
	var desired []string
	if !slices.Equal(seen.targets, []string{metav1.NamespaceAll}) {
		desired = seen.targets
	}
	have := map[string]bool{}
	for i := range labelled {
		name := labelled[i].Name
		have[name] = true
		if !slices.Contains(desired, name) {
			errs = append(errs, c.patchLabel(ctx, name, string(group.UID), false))
		}
	}
	for _, name := range desired {
		if !have[name] {
			errs = append(errs, c.patchLabel(ctx, name, string(group.UID), true))
		}
	}
	return errors.Join(errs...)
}

// removeLabels takes the labels of groups that are gone off all namespaces.
func (c *Controller) removeLabels(ctx context.Context, uids []string) error {
	var errs []error
	for _, uid := range uids {
		labelled, err := c.labelled(ctx, uid)
		errs = append(errs, err)
		for i := range labelled {
			errs = append(errs, c.patchLabel(ctx, labelled[i].Name, uid, false))
		}
	}
	return errors.Join(errs...)
}

// patchLabel sets or removes one label of a namespace. It is no apply request because groups share namespaces, and an
// apply request would have to know the labels of them all. A namespace that does not exist is left alone; it is labelled when
// it comes into being.
func (c *Controller) patchLabel(ctx context.Context, namespace, uid string, set bool) error {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := c.client.Get(ctx, client.ObjectKey{Name: namespace}, object); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("label namespace %s: %w", namespace, err)
	}
	var value *string
	if set {
		value = new(string)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]*string{uidLabel(uid): value}}})
	if err != nil {
		return fmt.Errorf("label namespace %s: %w", namespace, err)
	}
	err = c.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), fieldManager)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label namespace %s with %s: %w", namespace, uidLabel(uid), err)
	}
	return nil
}

// labelled reads the namespaces that carry the label of the group with this UID.
func (c *Controller) labelled(ctx context.Context, uid string) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := c.client.List(ctx, list, client.MatchingFields{indexNamespaceByGroup: uid}); err != nil {
		return nil, fmt.Errorf("list the namespaces of the OperatorGroup with UID %s: %w", uid, err)
	}
	return list.Items, nil
}

// sweeping asks for the labels of groups that are gone to be taken off namespaces. It can be no group: these have a namespace.
var sweeping = ctrl.Request{NamespacedName: types.NamespacedName{Name: "labels of groups that are gone"}}

// orphaned asks for a sweep when a namespace has the label of a group that is gone. That is how labels are found that stayed because the
// group was deleted while no manager ran.
func (c *Controller) orphaned(ctx context.Context, o client.Object) []ctrl.Request {
	for _, uid := range groupUIDs(o) {
		if !c.known(ctx, uid) {
			return []ctrl.Request{sweeping}
		}
	}
	return nil
}

// known reports whether the caches have a group of this UID. What cannot be read counts as known.
func (c *Controller) known(ctx context.Context, uid string) bool {
	var list v1.OperatorGroupList
	err := c.client.List(ctx, &list, client.MatchingFields{indexGroupByUID: uid}, client.UnsafeDisableDeepCopy)
	return err != nil || len(list.Items) > 0
}

// sweep takes the labels of all groups that are gone off the namespaces. It asks the cluster which groups there are, after it has read the
// labels: the caches may show a label sooner than its group.
func (c *Controller) sweep(ctx context.Context) error {
	namespaces := &metav1.PartialObjectMetadataList{}
	namespaces.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := c.client.List(ctx, namespaces, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the namespaces, to take the labels of deleted OperatorGroups off: %w", err)
	}
	var uids []string
	for i := range namespaces.Items {
		for _, uid := range groupUIDs(&namespaces.Items[i]) {
			if !c.known(ctx, uid) {
				uids = append(uids, uid)
			}
		}
	}
	if len(uids) == 0 {
		return nil
	}
	var groups v1.OperatorGroupList
	if err := c.live.List(ctx, &groups); err != nil {
		return fmt.Errorf("list the OperatorGroups, to take the labels of deleted ones off namespaces: %w", err)
	}
	there := map[string]bool{}
	for i := range groups.Items {
		there[string(groups.Items[i].UID)] = true
	}
	var gone []string
	for _, uid := range sortedSet(uids) {
		if !there[uid] {
			gone = append(gone, uid)
		}
	}
	return c.removeLabels(ctx, gone)
}
