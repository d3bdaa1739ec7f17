package revision

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// Retention is how many revisions of an extension are kept, the active ones included.
const Retention = 5

// List returns the revisions of an extension, the oldest first.
func List(ctx context.Context, reader client.Reader, extension string) ([]olmv1.ClusterObjectSet, error) {
	var list olmv1.ClusterObjectSetList
	if err := reader.List(ctx, &list, client.MatchingLabels{olmv1.OwnerNameKey: extension}); err != nil {
		return nil, fmt.Errorf("list the revisions of ClusterExtension %s: %w", extension, err)
	}
	slices.SortFunc(list.Items, func(a, b olmv1.ClusterObjectSet) int {
		return cmp.Or(cmp.Compare(a.Spec.Revision, b.Spec.Revision), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// Retain deletes the archived revisions of an extension that are not among its newest. The revisions are those of List; active ones stay.
func Retain(ctx context.Context, c client.Client, revisions []olmv1.ClusterObjectSet) error {
	for i := range revisions[:max(0, len(revisions)-Retention)] {
		r := &revisions[i]
		if r.Spec.LifecycleState != olmv1.LifecycleStateArchived || r.DeletionTimestamp != nil {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, r, client.Preconditions{UID: &r.UID})); err != nil {
			return fmt.Errorf("delete revision %s, which is archived and not among the %d newest: %w", r.Name, Retention, err)
		}
	}
	return nil
}
