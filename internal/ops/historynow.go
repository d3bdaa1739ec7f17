package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// now is what a step back starts from: the objects of the newest revision, and of every other one that is not archived. While a revision is
// rolled out, or is stuck, the one before has still the objects that the new one does without. Of several the newest counts.
func (h *History) now(ctx context.Context, reader client.Reader, newest int64) ([]*unstructured.Unstructured, error) {
	type key struct {
		kind schema.GroupKind
		client.ObjectKey
	}
	seen := map[key]bool{}
	var all []*unstructured.Unstructured
	for i := range slices.Backward(h.sets) {
		set := &h.sets[i]
		if set.Spec.Revision != newest && set.Spec.LifecycleState == olmv1.LifecycleStateArchived {
			continue
		}
		objects, err := revision.Content(ctx, reader, set)
		if errors.As(err, new(*revision.LostContentError)) {
			return nil, fmt.Errorf("compare with revision %d, to see what would be lost: %w; %s", set.Spec.Revision, err, revision.Restore)
		}
		if err != nil {
			return nil, fmt.Errorf("compare with revision %d: %w", set.Spec.Revision, err)
		}
		for _, u := range objects {
			k := key{u.GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(u)}
			if !seen[k] {
				seen[k] = true
				all = append(all, u)
			}
		}
	}
	return all, nil
}
