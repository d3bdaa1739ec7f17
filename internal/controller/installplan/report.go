package installplan

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// report writes the status, if it says something new, and then makes the Events of the pass. Those that could not be made because the
// status could not be written are made when it is: the next pass finds everything done, and has nothing to warn of.
func (c *Controller) report(ctx context.Context, plan *v1alpha1.InstallPlan, next planStatus, done outcome) error {
	c.memory.warned(plan, done.warnings)
	next = bounded(next)
	changes := changes(plan, next)
	if len(changes) > 0 && isDetail(&plan.Status, &next) && c.memory.wroteWithin(plan, c.Clock.Now(), detailInterval) {
		return nil // the next pass finds the same, and comes before long
	}
	if len(changes) > 0 {
		if err := c.write(ctx, plan, changes); err != nil {
			return c.unreportable(plan, next, err)
		}
	}
	c.warn(plan, c.memory.untold(plan))
	return nil
}

// write writes changes of the status. A plan that has got a label or an annotation meanwhile is still the plan that the pass was about: what
// the pass did is not lost because of that. One whose status or spec is another by now is for the next pass.
func (c *Controller) write(ctx context.Context, plan *v1alpha1.InstallPlan, changes []operation) error {
	err := c.writeOver(ctx, plan, changes)
	for attempt := 0; apierrors.IsConflict(err) && attempt < 3; attempt++ {
		current := &v1alpha1.InstallPlan{}
		if c.live.Get(ctx, client.ObjectKeyFromObject(plan), current) != nil || current.UID != plan.UID || !current.DeletionTimestamp.IsZero() ||
			!equality.Semantic.DeepEqual(current.Spec, plan.Spec) || !equality.Semantic.DeepEqual(current.Status, plan.Status) {
			return err
		}
		err = c.writeOver(ctx, current, changes)
	}
	return err
}

// writeOver writes changes of the status of a plan, if it is still as it was read.
func (c *Controller) writeOver(ctx context.Context, plan *v1alpha1.InstallPlan, changes []operation) error {
	patch, err := json.Marshal(append(changes, operation{Op: "replace", Path: "/metadata/resourceVersion", Value: plan.ResourceVersion}))
	if err != nil {
		return fmt.Errorf("encode the status of InstallPlan %s/%s: %w", plan.Namespace, plan.Name, err)
	}
	target := &v1alpha1.InstallPlan{}
	target.Namespace, target.Name = plan.Namespace, plan.Name
	err = c.client.Status().Patch(ctx, target, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(fieldOwner))
	if apierrors.IsNotFound(err) {
		return nil // it was deleted meanwhile
	}
	if err != nil {
		return fmt.Errorf("write the status of InstallPlan %s/%s: %w", plan.Namespace, plan.Name, err)
	}
	if target.ResourceVersion != plan.ResourceVersion {
		c.memory.wrote(plan, target.ResourceVersion, c.Clock.Now())
	}
	return nil
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// changes are the operations from the status of a plan to the next one. A plan may hold hundreds of steps with their manifests: only
// what changes is sent. The caller adds the resource version, without which the numbers of steps could be those of other steps.
func changes(plan *v1alpha1.InstallPlan, next planStatus) []operation {
	var ops []operation
	set := func(field string, old, new any, empty bool) {
		switch {
		case equality.Semantic.DeepEqual(old, new):
		case empty: // what another manager has removed meanwhile cannot be removed; that it has is for the resource version to say
			ops = append(ops, operation{Op: "add", Path: "/status/" + field, Value: ""}, operation{Op: "remove", Path: "/status/" + field})
		default:
			ops = append(ops, operation{Op: "add", Path: "/status/" + field, Value: new}) // add replaces a member that exists
		}
	}
	old := &plan.Status
	for i, step := range next.Plan {
		set(fmt.Sprintf("plan/%d/status", i), old.Plan[i].Status, step.Status, false)
	}
	for i, l := range next.BundleLookups {
		set(fmt.Sprintf("bundleLookups/%d/path", i), old.BundleLookups[i].Path, l.Path, false)
		set(fmt.Sprintf("bundleLookups/%d/properties", i), old.BundleLookups[i].Properties, l.Properties, false)
		set(fmt.Sprintf("bundleLookups/%d/conditions", i), old.BundleLookups[i].Conditions, l.Conditions, len(l.Conditions) == 0)
	}
	set("phase", old.Phase, next.Phase, false)
	set("message", old.Message, next.Message, next.Message == "")
	set("startTime", old.StartTime, next.StartTime, next.StartTime == nil)
	set("conditions", old.Conditions, next.Conditions, len(next.Conditions) == 0)
	set("attenuatedServiceAccountRef", old.AttenuatedServiceAccountRef, next.AttenuatedServiceAccountRef, next.AttenuatedServiceAccountRef == nil)
	return ops
}
