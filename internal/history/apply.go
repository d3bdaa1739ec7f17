package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Forward is what the annotations of a ClusterExtension are to be when it is kept at an earlier revision no more: those to change, where
// empty is to be removed.
func Forward(ext *olmv1.ClusterExtension) map[string]string {
	if ext.Annotations[RollbackToKey] == "" && ext.Annotations[ExemptionsKey] == "" {
		return nil
	}
	changes := map[string]string{RollbackToKey: ""}
	made, ok := ext.Annotations[ExemptionsKey]
	if !ok {
		return changes
	}
	changes[ExemptionsKey] = ""
	var left []string
	for _, one := range strings.Split(ext.Annotations[CRDExemptionsKey], ";") {
		if one = strings.TrimSpace(one); one != "" && !slices.Contains(strings.Split(made, separator), one) {
			left = append(left, one)
		}
	}
	changes[CRDExemptionsKey] = strings.Join(left, separator)
	return changes
}

// fieldOwner is the field manager of what commands write for their users.
const fieldOwner = client.FieldOwner("fairlead")

// Apply makes the manager go back: it is told the revision, and the version stays pinned when that is taken back. A ClusterExtension that
// has changed since it was judged is left alone.
func (r *Rollback) Apply(ctx context.Context, c client.Client) error {
	annotations := map[string]any{RollbackToKey: strconv.FormatInt(r.To.Number, 10)}
	if len(r.exemptions) > 0 {
		all := r.exemptions
		if there := r.ext.Annotations[CRDExemptionsKey]; there != "" {
			all = append([]string{there}, all...)
		}
		annotations[CRDExemptionsKey] = strings.Join(all, separator)
		annotations[ExemptionsKey] = strings.Join(r.exemptions, separator)
	}
	patch := map[string]any{"metadata": map[string]any{"annotations": annotations, "resourceVersion": r.ext.ResourceVersion}}
	if r.To.Version != "" {
		patch["spec"] = map[string]any{"source": map[string]any{"catalog": map[string]any{"version": r.To.Version}}}
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("write the patch of ClusterExtension %s: %w", r.Extension, err)
	}
	if err := c.Patch(ctx, r.ext.DeepCopy(), client.RawPatch(types.MergePatchType, text), fieldOwner); err != nil {
		return fmt.Errorf("tell ClusterExtension %s to go back to revision %d: %w", r.Extension, r.To.Number, err)
	}
	return nil
}
