package extensionplan

import (
	"context"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/controller/clusterextension"
	"fairlead.dev/fairlead/internal/preflight/crdupgrade"
)

// dropped are the definitions that would be deleted with their custom resources. Those without any are just among what is removed.
func (p Planner) dropped(ctx context.Context, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, w *wanted, plan *Plan) error {
	findings, err := clusterextension.Dropped(ctx, p.Client, ext, revisions, w.version.Bundle, w.objects)
	if err != nil && len(findings) == 0 {
		return err
	}
	for _, f := range findings {
		verdict := CRD{Name: f.CRD, Verdict: Unsafe, Findings: []string{f.String()}}
		if len(crdupgrade.Blocking([]crdupgrade.Finding{f})) == 0 {
			verdict.Verdict = Unchecked
		}
		plan.CRDs = append(plan.CRDs, verdict)
	}
	if err := clusterextension.DroppedError(findings); err != nil {
		plan.Blocked = append(plan.Blocked, err.Error())
	}
	if err != nil && !slices.Contains(plan.Blocked, err.Error()) { // the annotation with exemptions is wrong
		plan.Blocked = append(plan.Blocked, err.Error())
	}
	return nil
}
