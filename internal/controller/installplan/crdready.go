package installplan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/claims"
	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crdReason is that of Events about what an upgrade of a CRD breaks without being stopped for it.
const crdReason = "CRDValidation"

// crdStep is a step that replaces a CRD which the cluster has.
type crdStep struct {
	*stepRun
	claim   claims.Claim
	change  crd.Change
	verdict crd.Verdict
}

// replacements are the CRDs of a plan that the cluster has.
type replacements struct {
	*pass
	definitions *claims.Definitions
	crds        map[string]*crdStep // what was found out about them, by name
}

// readyCRDs prepares the cluster for the CRDs of the plan: nothing at all is written as long as one of them or of the other objects is
// refused, the account of the plan may not create its ClusterServiceVersion, or the objects of the CRDs are not all checked, and none is replaced
// before its objects are rewritten. It tells whether the pass may go on.
func (x *execution) readyCRDs(ctx context.Context, c *Controller, account client.Client) bool {
	if err := x.replaced.definitions.ReadGroups(ctx); err != nil {
		x.err = err
		return false
	}
	steps := x.replaced.crdSteps(ctx)
	isHeld := func(s *stepRun) bool {
		return s.due && s.step.Resource.Kind == crdKind && (s.result.err != nil && !s.step.Optional || s.result.waiting != "")
	}
	prepare := func(do func(context.Context, *Controller, *crdStep)) bool {
		if slices.ContainsFunc(x.steps, isHeld) {
			return false
		}
		for _, s := range steps {
			do(ctx, c, s)
		}
		return !slices.ContainsFunc(x.steps, isHeld)
	}
	if !prepare(x.replaced.checkObjects) || !x.mayInstall(ctx, account) || !x.replaced.mayPatchCRDs(ctx, account, steps) {
		return false
	}
	// Check the other objects too if a CRD is going to be changed ahead of them: its objects rewritten, or its webhook taken off. Otherwise
	// nothing is written before they are all checked anyway.
	if slices.ContainsFunc(steps, func(s *crdStep) bool { return len(s.verdict.Leaving) > 0 || s.verdict.Unconverted }) {
		phases, runs := x.writer.phases(ctx)
		phases[definitions].Objects = nil
		if result, mayContinue := c.engine.Look(ctx, phases); !mayContinue {
			for w, phase := range result.Phases {
				for i, r := range phase.Objects {
					runs[w][i].record(r, x.plan)
				}
			}
			return false
		}
	}
	return prepare(x.replaced.migrate) && prepare(x.replaced.endConversion)
}

// crdSteps finds the CRDs that are replaced, and judges each.
func (x *replacements) crdSteps(ctx context.Context) []*crdStep {
	found := make([]*crdStep, len(x.steps))
	var group sync.WaitGroup
	for i, s := range x.steps {
		if s.due && s.step.Resource.Kind == crdKind {
			group.Go(func() { found[i] = x.crdStep(ctx, s) })
		}
	}
	group.Wait()
	found = slices.DeleteFunc(found, func(s *crdStep) bool { return s == nil })
	x.crds = map[string]*crdStep{}
	for _, s := range found {
		x.crds[s.change.Desired.Name] = s
	}
	return found
}

// crdStep judges one CRD. It returns nil when there is nothing more to do about it. The cache is asked first whether there is such a CRD
// at all: most plans bring new ones. Should it be wrong, the rules are applied once more when the CRD is written.
func (x *replacements) crdStep(ctx context.Context, s *stepRun) *crdStep {
	if err := claims.CheckCRD(s.object); err != nil {
		s.result.status = v1alpha1.StepStatusNotPresent
		s.result.err = err
		return nil
	}
	live := &apiextensionsv1.CustomResourceDefinition{}
	key := client.ObjectKey{Name: s.object.GetName()}
	err := x.cached.Get(ctx, key, live)
	if err == nil {
		live = &apiextensionsv1.CustomResourceDefinition{}
		err = x.Live.Get(ctx, key, live)
	}
	if client.IgnoreNotFound(err) != nil {
		s.result.err = fmt.Errorf("read %s %s: %w", crdKind, key.Name, err)
	}
	if err != nil || !live.DeletionTimestamp.IsZero() {
		return nil
	}
	change, claim, err := x.changeOf(ctx, s.step.Resolving, s.object, live)
	if err != nil {
		s.result.err = err
		return nil
	}
	step := &crdStep{stepRun: s, claim: claim, change: change}
	if step.verdict, err = crd.Judge(ctx, change, crd.Stored{}); err != nil {
		s.result.err = err
		return nil
	}
	if step.refuse(step.verdict.Err) {
		return nil
	}
	if claim.Leave {
		step.verdict = crd.Verdict{} // nothing of it is written
	}
	return step
}

// changeOf is the step from a live CRD to that of a manifest, with the claim of the plan on the CRD.
func (x *replacements) changeOf(ctx context.Context, csv string, object *unstructured.Unstructured, live *apiextensionsv1.CustomResourceDefinition) (u crd.Change, claim claims.Claim, err error) {
	wanted, err := crd.Read(object)
	if err != nil {
		return u, claim, fmt.Errorf("%w: %s %s cannot be read: %w", errInvalid, crdKind, object.GetName(), err)
	}
	return x.definitions.Change(ctx, csv, wanted, live)
}

// checkCRD makes sure that the CRD which is going to be replaced is the one whose objects were checked. Who owns it and what it has
// stored may have changed all the same, so the rules are applied once more.
func (x *replacements) checkCRD(ctx context.Context, csv string, wanted, live *unstructured.Unstructured) error {
	seen := x.crds[live.GetName()]
	if seen == nil || seen.change.Live.UID != live.GetUID() || seen.change.Live.Generation != live.GetGeneration() {
		return fmt.Errorf("%s %s has been changed since its objects were compared with the new schema; they are compared again", crdKind, live.GetName())
	}
	before, err := crd.Read(live)
	if err != nil {
		return fmt.Errorf("read %s %s: %w", crdKind, live.GetName(), err)
	}
	change, claim, err := x.changeOf(ctx, csv, wanted, before)
	if err != nil {
		return err
	}
	if claim != seen.claim {
		return fmt.Errorf("%s %s has got other owners since the plan's claim on it was judged; it is judged again", crdKind, live.GetName())
	}
	verdict, err := crd.Judge(ctx, change, crd.Stored{})
	if err = errors.Join(err, verdict.Err); err != nil {
		return err
	}
	if len(verdict.Leaving) > 0 {
		return fmt.Errorf("%s %s: %s is stored again, so its objects must be rewritten before it goes", crdKind, live.GetName(), verdict.Leaving[0])
	}
	return nil
}

// refuse fails the step if the verdict refuses it, and remembers the CRD: the plan is made again when that changes.
func (s *crdStep) refuse(refusal error) bool {
	if refusal == nil {
		return false
	}
	s.result.err = refusal
	s.result.obstacle = &obstacle{ref: rollout.RefOf(s.object), looks: looksOf(s.change.Live)}
	return true
}
