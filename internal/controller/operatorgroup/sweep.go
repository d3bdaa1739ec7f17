package operatorgroup

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
)

// sweeping asks for the labels of groups that are gone to be taken off namespaces. It can be no group: these have a namespace.
var sweeping = reconcile.Request{NamespacedName: types.NamespacedName{Name: "labels of groups that are gone"}}

// orphaned asks for a sweep when a namespace has the label of a group that is gone. That is how labels are found that stayed because the
// group was deleted while no manager ran.
func (c *Controller) orphaned(ctx context.Context, o client.Object) []reconcile.Request {
	for _, uid := range groupUIDs(o) {
		if !c.known(ctx, uid) {
			return []reconcile.Request{sweeping}
		}
	}
	return nil
}

// known says whether the caches have a group of this UID. What cannot be read counts as known.
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
	return c.unlabelNamespaces(ctx, gone)
}
