package revision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// Retention is how many revisions of an extension are kept, the active ones included.
const Retention = 5

// List returns the revisions of an extension, the oldest first. Labels say where to look, and no more: a set is a revision of the extension
// that is its controller.
func List(ctx context.Context, reader client.Reader, extension string, uid types.UID) ([]olmv1.ClusterObjectSet, error) {
	var list olmv1.ClusterObjectSetList
	if err := reader.List(ctx, &list, client.MatchingLabels{olmv1.OwnerNameKey: olmv1.LabelValue(extension)}); err != nil {
		return nil, fmt.Errorf("list the revisions of ClusterExtension %s: %w", extension, err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(set olmv1.ClusterObjectSet) bool {
		name, of := ExtensionOf(&set)
		return name != extension || of != uid
	})
	slices.SortFunc(list.Items, func(a, b olmv1.ClusterObjectSet) int {
		return cmp.Or(cmp.Compare(a.Spec.Revision, b.Spec.Revision), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// ExtensionOf is the name and the UID of the ClusterExtension that a set is a revision of: of its controller. Both are empty for a set that
// is none. Whoever may make sets can give them any labels; who may name an extension as the controller is decided by the policies in config.
func ExtensionOf(set metav1.Object) (name string, uid types.UID) {
	owner := metav1.GetControllerOfNoCopy(set)
	if owner == nil || owner.Kind != olmv1.ClusterExtensionKind || !strings.HasPrefix(owner.APIVersion, olmv1.GroupName+"/") {
		return "", ""
	}
	return owner.Name, owner.UID
}

// NameOf is the name of the ClusterExtension that a set is of, for people to read and for events of it: that of its controller, or, where it has
// none, the one that its labels give.
func NameOf(set metav1.Object) string {
	if name, _ := ExtensionOf(set); name != "" {
		return name
	}
	labels := set.GetLabels()
	if kind := labels[olmv1.OwnerKindKey]; kind != "" && kind != olmv1.ClusterExtensionKind {
		return ""
	}
	return labels[olmv1.OwnerNameKey]
}

// Retain deletes the archived revisions of an extension that are not among its newest. The revisions are those of List; active ones stay.
func Retain(ctx context.Context, c client.Client, revisions []olmv1.ClusterObjectSet) error {
	for i := range revisions[:max(0, len(revisions)-Retention)] {
		r := &revisions[i]
		if r.Spec.LifecycleState != olmv1.LifecycleStateArchived || r.DeletionTimestamp != nil {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, r, client.Preconditions{UID: &r.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))); err != nil {
			return fmt.Errorf("delete revision %s, which is archived and not among the %d newest: %w", r.Name, Retention, err)
		}
	}
	return nil
}
