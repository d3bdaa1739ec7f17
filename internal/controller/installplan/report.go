package installplan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// report writes the status, if it says something new, and then makes the Events of the pass. Those that could not be made because the
// status could not be written are made when it is: the next pass finds everything done, and has nothing to warn of.
func (c *Controller) report(ctx context.Context, plan *v1alpha1.InstallPlan, next planStatus, done outcome) error {
	c.memory.warned(plan, done.warnings)
	next = withVerdict(bounded(next), plan.Generation, metav1.NewTime(c.Clock.Now().Truncate(time.Second)))
	if !equality.Semantic.DeepEqual(plan.Status, next) && isDetail(&plan.Status, &next) && c.Clock.Since(c.memory.recall(client.ObjectKeyFromObject(plan)).wroteAt) < detailInterval {
		return nil // the next pass finds the same, and comes before long
	}
	// Write what changes of the status. A plan that has got a label or an annotation meanwhile is still the plan that the pass was about:
	// what the pass did is not lost because of that. One whose status or spec is another by now is for the next pass.
	w := c.statusWriter()
	w.Patch = patchOf
	err := c.write(ctx, w, plan, next)
	for attempt := 0; apierrors.IsConflict(err) && attempt < 3; attempt++ {
		current := &v1alpha1.InstallPlan{}
		if c.live.Get(ctx, client.ObjectKeyFromObject(plan), current) != nil || current.UID != plan.UID || !current.DeletionTimestamp.IsZero() ||
			!equality.Semantic.DeepEqual(current.Spec, plan.Spec) || !equality.Semantic.DeepEqual(current.Status, plan.Status) {
			break
		}
		err = c.write(ctx, w, current, next)
	}
	if err != nil {
		return c.unreportable(plan, next, err)
	}
	// Make Events of warnings, by step, and count them.
	warnings := c.memory.untold(plan)
	keys := make([]int, 0, len(warnings))
	for k := range warnings {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, i := range keys {
		step, texts := plan.Status.Plan[i], warnings[i]
		about := &corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.InstallPlanKind,
			Namespace: plan.Namespace, Name: plan.Name, UID: plan.UID, ResourceVersion: plan.ResourceVersion,
			FieldPath: fmt.Sprintf("status.plan[%d]", i),
		}
		what := fmt.Sprintf("(%s %q)", step.Resource.Kind, step.Resource.Name)
		if step.Resolving != "" {
			what = fmt.Sprintf("of operator %q %s", step.Resolving, what)
		}
		c.events.Event(about, corev1.EventTypeWarning, warningReason,
			fmt.Sprintf("%d warning(s) generated during installation %s: %s", len(texts), what, strings.Join(texts, ", ")))
		c.Metrics.Warned()
	}
	return nil
}

// statusWriter writes the statuses of plans that are still as they were read.
func (c *Controller) statusWriter() reconcile.StatusWriter[*v1alpha1.InstallPlan, planStatus] {
	return reconcile.StatusWriter[*v1alpha1.InstallPlan, planStatus]{Client: c.client, Owner: client.FieldOwner(fieldOwner), Memory: &c.written, Optimistic: true,
		Status: func(plan *v1alpha1.InstallPlan) *planStatus { return &plan.Status }, States: states}
}

// states are the transitions of a plan: of its phase, and of what is in its way.
func states(s *planStatus) []reconcile.State {
	phase := reconcile.State{Type: "Phase", Status: string(s.Phase), Message: s.Message}
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionFalse && !slices.Contains(reconcile.VerdictTypes, string(c.Type)) {
			phase.Reason = string(c.Reason)
		}
	}
	return []reconcile.State{phase}
}

// write writes a status, and notes that an event follows that reports nothing else. None follows a write that makes no version, so that what it
// wrote is not relied on.
func (c *Controller) write(ctx context.Context, w reconcile.StatusWriter[*v1alpha1.InstallPlan, planStatus], plan *v1alpha1.InstallPlan, next planStatus) error {
	updated, err := w.Write(ctx, plan, next)
	switch key := client.ObjectKeyFromObject(plan); {
	case err != nil:
		return err
	case updated.ResourceVersion == plan.ResourceVersion:
		c.written.Forget(key)
	default:
		c.memory.update(key, func(p *remembered) { p.made, p.wroteAt = updated.ResourceVersion, c.Clock.Now() })
	}
	return nil
}

// patchOf is the JSON patch from a plan to its next status.
func patchOf(plan *v1alpha1.InstallPlan, next *planStatus) (client.Patch, error) {
	patch, err := json.Marshal(append(changes(plan, *next), operation{Op: "replace", Path: "/metadata/resourceVersion", Value: plan.ResourceVersion}))
	return client.RawPatch(types.JSONPatchType, patch), err
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
	set("observedGeneration", old.ObservedGeneration, next.ObservedGeneration, next.ObservedGeneration == 0)
	set("attenuatedServiceAccountRef", old.AttenuatedServiceAccountRef, next.AttenuatedServiceAccountRef, next.AttenuatedServiceAccountRef == nil)
	return ops
}

// warningReason is that of Events about warnings of the API server.
const warningReason = "AppliedWithWarnings"

// eventSource is the component that Events come from.
const eventSource = "operator-lifecycle-manager"

const (
	// maxMessage bounds a message of a plan in bytes, and maxLookupMessage one of each bundle, of which a plan may have many.
	maxMessage       = 8 << 10
	maxLookupMessage = 1 << 10
	// notWrittenReason is that of the Event about a plan whose status does not fit into it.
	notWrittenReason = "StatusNotWritten"
)

// bounded shortens the messages of a status: no message makes a plan larger than resolution.MaxPlanContent leaves room for.
func bounded(s planStatus) planStatus {
	s = *s.DeepCopy()
	s.Message = safetext.Fit(s.Message, maxMessage)
	for i := range s.Conditions {
		s.Conditions[i].Message = safetext.Fit(s.Conditions[i].Message, maxMessage)
	}
	for i := range s.BundleLookups {
		for j := range s.BundleLookups[i].Conditions {
			s.BundleLookups[i].Conditions[j].Message = safetext.Fit(s.BundleLookups[i].Conditions[j].Message, maxLookupMessage)
		}
	}
	return s
}

// unreportable reports a status that the API server does not take because the plan is too large with it, as one that another program filled may be:
// an Event has the room that the plan has not, and another attempt would come to the same.
func (c *Controller) unreportable(plan *v1alpha1.InstallPlan, next planStatus, err error) error {
	if !rollout.IsTooLarge(err) {
		return err
	}
	c.events.Event(plan, corev1.EventTypeWarning, notWrittenReason, safetext.Fit(fmt.Sprintf("the InstallPlan is too large for its status to be written: "+
		"delete it to have a smaller one made; the status is %s: %s", next.Phase, next.Message), maxLookupMessage))
	return reconcile.Terminal(err)
}

// detailInterval is how often it is written at most how far the CRDs are that a plan waits for. A plan may bring a hundred of them, which the
// API server comes to serve one by one, and has no time for words meanwhile. All else is written at once.
const detailInterval = reconcile.StatusInterval

// waits begins the message of a plan that waits for something.
const waits = "waiting: "

// isDetail tells whether two statuses differ only in how far the CRDs are that the plan waits for.
func isDetail(before, after *planStatus) bool {
	if !strings.HasPrefix(before.Message, waits) || !strings.HasPrefix(after.Message, waits) {
		return false
	}
	same := after.DeepCopy()
	same.Message = before.Message
	for i, c := range same.Conditions { // the verdict repeats the message
		if old := before.GetCondition(c.Type); slices.Contains(reconcile.VerdictTypes, string(c.Type)) && old.Status == c.Status && old.Reason == c.Reason {
			same.Conditions[i] = old
		}
	}
	for i, step := range same.Plan {
		old := before.Plan[i]
		if old.Resource.Kind == crdKind && old.Status == v1alpha1.StepStatusWaitingForAPI && step.Status == v1alpha1.StepStatusCreated {
			step.Status = old.Status
		}
	}
	return equality.Semantic.DeepEqual(before, same)
}
