package ops

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

// RollForward is what the annotations of a ClusterExtension are to be when it is kept at an earlier revision no more: those to change, where
// empty is to be removed.
func RollForward(ext *olmv1.ClusterExtension) map[string]string {
	_, pinned := ext.Annotations[VersionKey]
	if ext.Annotations[RollbackToKey] == "" && ext.Annotations[ExemptionsKey] == "" && !pinned {
		return nil
	}
	changes := map[string]string{RollbackToKey: ""}
	if pinned {
		changes[VersionKey] = ""
	}
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

// HistoryVersion is the version that a ClusterExtension asked for before it was rolled back, which it is to ask for again when it is kept there no
// more. It is nil when there is nothing to go back to asking for: no version was pinned, or a user has chosen another one since.
func HistoryVersion(ext *olmv1.ClusterExtension) *string {
	text, ok := ext.Annotations[VersionKey]
	if !ok || ext.Spec.Source.Catalog == nil {
		return nil
	}
	pinned, before, _ := strings.Cut(text, separator)
	if ext.Spec.Source.Catalog.Version != pinned {
		return nil
	}
	return &before
}

// pin is what VersionKey is to be when a version is pinned. Going back twice remembers what was asked for before the first time.
func pin(ext *olmv1.ClusterExtension, version string) string {
	if before := HistoryVersion(ext); before != nil {
		return version + separator + *before
	}
	if ext.Spec.Source.Catalog == nil {
		return version + separator
	}
	return version + separator + ext.Spec.Source.Catalog.Version
}

// historyOwner is the field manager of what commands write for their users.
const historyOwner = client.FieldOwner("fairlead")

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
	if r.To.Version != "" {
		annotations[VersionKey] = pin(r.ext, r.To.Version)
	}
	patch := map[string]any{"metadata": map[string]any{"annotations": annotations, "resourceVersion": r.ext.ResourceVersion}}
	if r.To.Version != "" {
		patch["spec"] = map[string]any{"source": map[string]any{"catalog": map[string]any{"version": r.To.Version}}}
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("write the patch of ClusterExtension %s: %w", r.Extension, err)
	}
	if err := c.Patch(ctx, r.ext.DeepCopy(), client.RawPatch(types.MergePatchType, text), historyOwner); err != nil {
		return fmt.Errorf("tell ClusterExtension %s to go back to revision %d: %w", r.Extension, r.To.Number, err)
	}
	return nil
}
