package installplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/claims"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errInvalid marks plans that no retry will help.
var errInvalid = errors.New("the InstallPlan contains invalid data")

// pass is what is known of a plan while its steps are carried out.
type pass struct {
	claims.Claimant // set when it is known what the plan installs, but for its reader
	cached          client.Reader
	plan            *v1alpha1.InstallPlan
	manifests       manifests

	steps    []*stepRun
	err      error                                      // what kept the pass from doing anything
	group    *operatorsv1.OperatorGroup                 // of the namespace
	incoming map[string]*v1alpha1.ClusterServiceVersion // what the plan installs, by name
}

// execution is one pass over the steps of a plan.
type execution struct {
	*pass
	writer   *stepWriter
	verifier *verifier
	replaced *replacements

	held string // which group the operators of the plan wait for
}

// stepRun is one step in a pass.
type stepRun struct {
	step   *v1alpha1.Step
	rule   rule
	due    bool                       // left for this pass to do
	object *unstructured.Unstructured // from the manifest, where it was read
	spared bool                       // left out when its kind is not known
	taken  string                     // says whose the object was, where a user has to know
	result stepResult
}

// finished tells whether an earlier pass did the step.
func finished(s v1alpha1.StepStatus) bool {
	return s == v1alpha1.StepStatusCreated || s == v1alpha1.StepStatusPresent || s == v1alpha1.StepStatusNotCreated
}

func (c *Controller) newExecution(plan *v1alpha1.InstallPlan) *execution {
	everywhere := client.Reader(c.client) // of plans in any namespace: the cache, unless it is limited
	if len(c.Namespaces) > 0 {
		everywhere = c.live
	}
	p := &pass{
		Claimant: claims.Claimant{Live: c.live, Namespace: plan.Namespace}, cached: c.client, plan: plan, manifests: manifests{Manifests: c.Manifests, bundles: c.Bundles, plan: plan},
		incoming: map[string]*v1alpha1.ClusterServiceVersion{},
	}
	replaced := &replacements{pass: p, definitions: &claims.Definitions{Claimant: &p.Claimant, Groups: c.client, Everywhere: everywhere, Incoming: p.incoming}}
	return &execution{pass: p, replaced: replaced, writer: &stepWriter{pass: p, replaced: replaced, secrets: c.OperatorNamespace}, verifier: &verifier{pass: p}}
}

// execute makes one pass: everything that can be done at once is done. For a plan that waited it only finds out whether the plan may begin: the
// policy may still refuse what it installs.
func (x *execution) execute(ctx context.Context, c *Controller, seen observation, hasWaited bool) outcome {
	x.group = seen.group
	left := false // whether a step is due
	x.steps = make([]*stepRun, len(x.plan.Status.Plan))
	for i, step := range x.plan.Status.Plan {
		s := &stepRun{step: step, result: stepResult{status: step.Status}}
		x.steps[i] = s
		s.due = !finished(step.Status) && !x.awaits(ctx, s)
		left = left || s.due
	}
	if left && x.verifier.verify(ctx, c) && !hasWaited && x.readAll(ctx) {
		x.apply(ctx, c, seen)
	}
	return x.outcome()
}

// readAll reads the manifests of the steps that are due, and of all ClusterServiceVersions, which the others are judged by. One step that
// cannot be read stops the pass: nothing may be half installed because of it.
func (x *execution) readAll(ctx context.Context) bool {
	ready := true
	for _, s := range x.steps {
		if !s.due && s.step.Resource.Kind != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		if err := x.writer.read(ctx, s); err != nil {
			var fetching *fetchError
			if errors.As(err, &fetching) && fetching.state.Err == nil {
				s.result.waiting = err.Error()
			} else {
				s.result.err = err
			}
			ready = false
		}
	}
	return ready
}

func (x *stepWriter) read(ctx context.Context, s *stepRun) error {
	known := false
	if s.rule, known = ruleOf(s.step.Resource.Kind); !known {
		s.result.status = v1alpha1.StepStatusUnsupportedResource
		return fmt.Errorf("%w: steps of kind %s are not supported (%s)", errInvalid, s.step.Resource.Kind, s.step.Resource.Name)
	}
	object, err := x.objectOf(ctx, s)
	if err != nil {
		return err
	}
	s.object = object
	if s.step.Resource.Kind == v1alpha1.ClusterServiceVersionKind {
		// Note a ClusterServiceVersion that the plan installs.
		text, err := json.Marshal(object)
		csv := &v1alpha1.ClusterServiceVersion{}
		if err == nil {
			err = json.Unmarshal(text, csv)
		}
		if err != nil {
			return fmt.Errorf("%w: ClusterServiceVersion %s cannot be read: %w", errInvalid, object.GetName(), err)
		}
		if err := bundle.CheckOwned(csv); err != nil {
			return fmt.Errorf("%w: ClusterServiceVersion %s: %w", errInvalid, csv.Name, err)
		}
		csv.Namespace = x.plan.Namespace
		x.incoming[csv.Name] = csv
	}
	return nil
}

// apply writes what is left to do.
func (x *execution) apply(ctx context.Context, c *Controller, seen observation) {
	if x.err = x.findOperators(ctx, c); x.err != nil {
		return
	}
	// Do nothing when something newer is installed than what the plan has left to install: the plan was approved, or revived, too late. Carried
	// out, it would put an old operator beside the new one, and old CRDs, roles and Services in the place of new ones.
	for _, s := range x.steps {
		incoming, known := x.incoming[s.step.Resolving]
		if !s.due || !known {
			continue
		}
		if newer, how := x.Operators.NewerThan(claims.Of(incoming), func(name string) bool { return x.incoming[name] != nil }); how != "" {
			x.err = fmt.Errorf("the InstallPlan is out of date, and nothing of it is done: it would install %s %s, but namespace %s has %s %s, which %s. "+
				"Delete the InstallPlan; to go back to %s, remove %s and its Subscription first",
				v1alpha1.ClusterServiceVersionKind, incoming.Name, x.plan.Namespace, v1alpha1.ClusterServiceVersionKind, newer, how, incoming.Name, newer)
			return
		}
	}
	var account client.Client // nil is the manager's own
	if seen.account != nil {
		if account, x.err = c.Accounts.Client(ctx, seen.account.Namespace, seen.account.Name); x.err != nil {
			return
		}
	}
	if !x.readyCRDs(ctx, c, account) {
		return
	}
	phases, steps := x.writer.phases(ctx)
	phases[operatorsUp].Client, phases[belongings].Client = account, account
	result := c.engine.Apply(ctx, phases)
	for w, phase := range result.Phases {
		for i, r := range phase.Objects {
			steps[w][i].record(r, x.plan)
		}
	}
}

// phases returns the waves of the pass, and the step of each of their objects.
func (x *stepWriter) phases(ctx context.Context) ([]rollout.Phase, [waves][]*stepRun) {
	phases := []rollout.Phase{{Name: "definitions"}, {Name: "operators"}, {Name: "belongings"}}
	var steps [waves][]*stepRun
	for _, s := range x.steps {
		if !s.due {
			continue
		}
		phase := &phases[s.rule.wave]
		phase.Objects = append(phase.Objects, x.wanted(ctx, s))
		steps[s.rule.wave] = append(steps[s.rule.wave], s)
	}
	return phases, steps
}

// awaits tells whether there is nothing to do about a step but to wait until its CRD is served, or to note that it is now. A plan may
// wait for a hundred CRDs, each of which changes several times until then: the cache, without their schemas, is good enough here.
func (x *execution) awaits(ctx context.Context, s *stepRun) bool {
	if s.step.Status != v1alpha1.StepStatusWaitingForAPI || s.step.Resource.Kind != crdKind {
		return false
	}
	crd, err := x.writer.lookAtCRD(s.step.Resource.Name)(ctx)
	if err != nil || crd == nil || crd.GetDeletionTimestamp() != nil {
		return false // it has gone, so it is made again
	}
	if missing := rollout.Established(crd); missing != "" {
		s.result.waiting = fmt.Sprintf("%s %s: %s", crdKind, crd.GetName(), missing)
	} else {
		s.result.status = v1alpha1.StepStatusCreated
	}
	return true
}

// lookAtCRD reads a CRD from the cache. It returns nil when there is none.
func (x *stepWriter) lookAtCRD(name string) func(context.Context) (*unstructured.Unstructured, error) {
	return func(ctx context.Context) (*unstructured.Unstructured, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := x.cached.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
		if err != nil {
			return nil, fmt.Errorf("read the conditions of %s %s: %w", crdKind, name, err)
		}
		return &unstructured.Unstructured{Object: content}, nil
	}
}
