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

// labelNamespaces puts the label of the group on its target namespaces and takes it off all others. A group that targets all namespaces
// labels none.
func (c *Controller) labelNamespaces(ctx context.Context, group *v1.OperatorGroup, seen *observed) error {
	if seen.invalid != nil {
		return nil
	}
	labelled, err := c.namespacesLabelled(ctx, string(group.UID))
	if err != nil {
		return err
	}
	var errs []error
	var wanted []string
	if !global(seen.targets) {
		wanted = seen.targets
	}
	have := map[string]bool{}
	for i := range labelled {
		name := labelled[i].Name
		have[name] = true
		if !slices.Contains(wanted, name) {
			errs = append(errs, c.patchLabel(ctx, name, string(group.UID), false))
		}
	}
	for _, name := range wanted {
		if !have[name] {
			errs = append(errs, c.patchLabel(ctx, name, string(group.UID), true))
		}
	}
	return errors.Join(errs...)
}

// unlabelNamespaces takes the labels of groups that are gone off all namespaces.
func (c *Controller) unlabelNamespaces(ctx context.Context, uids []string) error {
	var errs []error
	for _, uid := range uids {
		labelled, err := c.namespacesLabelled(ctx, uid)
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
