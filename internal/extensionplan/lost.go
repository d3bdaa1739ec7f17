package extensionplan

import (
	"context"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// losses notes which revisions besides the one that is installed have lost their content: nothing of that is needed to tell what changes.
func (p Planner) losses(ctx context.Context, revisions []olmv1.ClusterObjectSet, installed *olmv1.ClusterObjectSet, plan *Plan) {
	for i := range revisions {
		set := &revisions[i]
		if installed != nil && set.Name == installed.Name {
			continue
		}
		switch losses, err := revision.Losses(ctx, p.Client, set); {
		case err != nil:
			plan.Notes = append(plan.Notes, "not checked whether its content is there: "+err.Error())
		case len(losses) > 0:
			plan.Notes = append(plan.Notes, fmt.Sprintf("revision %d cannot be restored: %v", set.Spec.Revision, &revision.LostContentError{Losses: losses}))
		}
	}
}

// installed is the content of the revision that is installed, which everything that changes is compared with.
func (p Planner) installed(ctx context.Context, ext *olmv1.ClusterExtension, installed *olmv1.ClusterObjectSet, wanted Version) ([]*unstructured.Unstructured, error) {
	if installed == nil {
		return nil, nil
	}
	now, err := revision.Content(ctx, p.Client, installed)
	if errors.As(err, new(*revision.LostContentError)) {
		err = fmt.Errorf("%w; %s", err, revision.Restore)
		// A version that is named is installed without being compared; the same one again would be no new revision.
		if ext.Annotations[snapshot.BundleImageKey] == "" && wanted.Version != installed.Annotations[olmv1.BundleVersionKey] {
			err = fmt.Errorf("%w, or, to have a version with new content without a plan, fairlead upgrade %s --version %s", err, ext.Name, wanted.Version)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("compare %s with what is installed, revision %d: %w", wanted.Bundle, installed.Spec.Revision, err)
	}
	return now, nil
}
