package extensionplan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/controller/clusterextension"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// goesBack tells what would change for an extension that goes back by itself, because the rollout of a revision has failed. Where that is barred,
// the controller takes what catalogs have instead, if that is something else and can be had; so does the plan.
func (p Planner) goesBack(ctx context.Context, q *preview.Question, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, to, failed *olmv1.ClusterObjectSet, plan *Plan) (*Plan, error) {
	instead := *plan
	instead.Notes, instead.Blocked = slices.Clone(plan.Notes), slices.Clone(plan.Blocked)
	plan.Notes = append(plan.Notes, fmt.Sprintf("the rollout of revision %s has failed: it goes back to the objects of revision %s, as annotation %s asks for",
		failed.Name, to.Name, clusterextension.OnFailureKey))
	plan.Wanted = versionOf(to)
	objects, err := revision.Content(ctx, p.Client, to)
	switch {
	case errors.As(err, new(*revision.LostContentError)):
		plan.refuse(err)
	case err != nil:
		return nil, fmt.Errorf("read revision %s, which is to be restored: %w", to.Name, err)
	default:
		if plan, err = p.judged(ctx, ext, revisions, &wanted{version: versionOf(to), objects: objects, repeated: true}, plan); err != nil {
			return nil, err
		}
	}
	if len(plan.Blocked) == 0 {
		return plan, nil
	}
	other, err := p.forward(ctx, q, ext, revisions, &instead)
	if err != nil || other.Wanted == (Version{}) || other.Wanted.Bundle == failed.Annotations[olmv1.BundleNameKey] || len(other.Blocked) > 0 {
		return plan, nil // catalogs have nothing that the controller could take instead
	}
	for _, reason := range plan.Blocked {
		other.Notes = append(other.Notes, fmt.Sprintf("revision %s cannot be restored: %s", to.Name, reason))
	}
	return other, nil
}
