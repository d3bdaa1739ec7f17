package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// accounts gives clients that act as service accounts.
type accounts interface {
	Client(ctx context.Context, namespace, name string) (client.Client, error)
}

// actor carries out what the table decides. It alone writes to the cluster, but for the status, and returns what it has changed.
type actor struct {
	client   client.Client
	live     client.Reader
	accounts accounts
	clock    clock.PassiveClock
	limits   limits
	issued   *serving.Issues
	tell     func(csv *v1alpha1.ClusterServiceVersion, kind string, because reason, message string)
	wrote    func(before, after *v1alpha1.ClusterServiceVersion)
}

// do carries out an action.
func (a *actor) do(ctx context.Context, what action, s *snapshot) (effect, error) {
	switch what {
	case adopt:
		return a.adopt(ctx, s)
	case withdraw:
		// Remove the permissions outside of what the group targets now.
		groups, err := s.groups(ctx)
		if err != nil {
			return effect{}, err
		}
		beyond, err := rights{s.observer, groups}.beyondTargets(ctx)
		if err != nil {
			return effect{}, err
		}
		if err := remove(ctx, a.client, beyond...); err != nil {
			return effect{}, fmt.Errorf("take away the permissions of ClusterServiceVersion %s outside of the target namespaces: %w", s.name(), err)
		}
		return effect{withdrawn: true}, nil
	case install:
		return a.install(ctx, s)
	case correct:
		// Apply again what another client has changed. A rollout that this begins does not count as one of an install: where that happens
		// again and again, the operator is to be called late some time.
		made, err := a.applyAll(ctx, s)
		out := effect{corrected: true, applied: made.applied}
		if err == nil {
			return out, nil
		}
		if !reconcile.IsTransient(err) {
			a.tell(s.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonComponentUnhealthy, "a change of another client cannot be reverted: "+err.Error())
		}
		return out, fmt.Errorf("correct the drift of ClusterServiceVersion %s: %w", s.name(), err)
	case stage:
		return a.stage(ctx, s, unstaged)
	case stageOwn:
		return a.stage(ctx, s, unstaged.ownedBy(s.csv))
	case renewOwn:
		return a.renewOwn(ctx, s)
	case registerHook:
		return a.registerWebhooks(ctx, s), nil
	case retire:
		// Remove the admission webhooks of a version that the next one has registered as well. What the old ones lead to goes later.
		live, err := s.registered(ctx)
		return effect{}, errors.Join(err, remove(ctx, a.client, live...))
	case stop:
		// Delete the Deployments of a CSV that competes with another one.
		live, err := s.formerDeployments(ctx, nil)
		return effect{}, errors.Join(err, remove(ctx, a.client, live...))
	case deleteSelf:
		return effect{}, remove(ctx, a.client, s.csv.DeepCopy())
	default:
		return effect{}, fmt.Errorf("action %q is not known", what)
	}
}

// labelled reports whether the name of the CSV can be the value of labels. Where it cannot, nothing is ever made for the CSV
// that a finalizer would have to remove.
func labelled(csv *v1alpha1.ClusterServiceVersion) bool {
	return bundle.CheckOperatorName(csv.Name) == nil
}

// marksMissing looks for the finalizer, for the labels of the APIs, and for the annotations through which the pods
// learn about the group. The finalizer does not wait for a group: an InstallPlan makes objects without namespace for the
// CSV whether the group is in order or not, and nothing else removes them.
func marksMissing(csv *v1alpha1.ClusterServiceVersion, annotations map[string]string) finding {
	if labelled(csv) && !controllerutil.ContainsFinalizer(csv, v1alpha1.CSVCleanupFinalizer) {
		return seen("finalizer " + v1alpha1.CSVCleanupFinalizer)
	}
	labels := maps.Clone(csv.Labels)
	maps.DeleteFunc(labels, func(name, _ string) bool { return !strings.HasPrefix(name, v1alpha1.APILabelPrefix) })
	if !maps.Equal(labels, bundle.APILabels(csv)) {
		return seen("labels of its APIs")
	}
	for name, value := range annotations {
		if have, ok := csv.Annotations[name]; !ok || have != value {
			return seen("annotation " + name)
		}
	}
	return seenNot
}

// adopt marks the CSV: with the finalizer, before anything is made for it, the labels of its APIs, and the annotations
// of its group. That the cluster refuses them is for the table, so that the status reports it; the pass is repeated with back-off, as no event announces
// when they would be accepted.
func (a *actor) adopt(ctx context.Context, s *snapshot) (effect, error) {
	groups, err := s.groups(ctx)
	if err != nil {
		return effect{}, err
	}
	updated := s.csv.DeepCopy()
	bundle.MarkOperator(updated, s.csv)
	if updated.Annotations == nil {
		updated.Annotations = map[string]string{}
	}
	maps.Copy(updated.Annotations, groups.annotations())
	patch := client.MergeFromWithOptions(s.csv, client.MergeFromWithOptimisticLock{})
	if err := a.client.Patch(ctx, updated, patch, fieldManager); err != nil {
		err = fmt.Errorf("mark ClusterServiceVersion %s with its finalizer, the labels of its APIs and its OperatorGroup: %w", s.name(), err)
		if isRefusal(err) {
			return effect{refusedMarks: err, retry: err}, nil
		}
		return effect{}, err
	}
	a.wrote(s.csv, updated)
	return effect{csv: updated}, nil
}

// install applies everything that the install strategy asks for and that is not there as desired. A failure is for the table, unless it is a transient one,
// which shows nothing about the install.
func (a *actor) install(ctx context.Context, s *snapshot) (effect, error) {
	out, err := a.renew(ctx, s, replaceable)
	out.attempted = true
	if err == nil {
		var made effect
		made, err = a.applyAll(ctx, s.after(out))
		out.applied, out.began = made.applied, made.began
	}
	if err == nil {
		return out, nil
	}
	err, failure := fmt.Errorf("install ClusterServiceVersion %s: %w", s.name(), err), err
	if reconcile.IsTransient(err) {
		return out, err
	}
	if out.failure = failure; !isRefusal(failure) {
		out.retry = err
	}
	return out, nil
}

// applyAll makes the components as desired and returns the Deployments that the cluster answers with.
func (a *actor) applyAll(ctx context.Context, s *snapshot) (effect, error) {
	changes, err := s.changes(ctx)
	if err != nil {
		return effect{}, err
	}
	before, err := s.deployments(ctx)
	if err != nil {
		return effect{}, err
	}
	out := effect{}
	out.applied, err = a.apply(ctx, s, changes, false)
	for name, d := range out.applied {
		was := before[name]
		out.began = out.began || was == nil && d.Generation != 0 || was != nil && was.Generation != d.Generation
	}
	return out, err
}

// installer is the client that the install strategy is carried out with: the manager's own, or one that has the rights
// of the service account that the OperatorGroup names and no others.
func (a *actor) installer(ctx context.Context, s *snapshot) (client.Client, error) {
	groups, err := s.groups(ctx)
	if err != nil {
		return nil, err
	}
	group, err := groups.decider(s.csv.Namespace)
	if err != nil {
		return nil, err
	}
	if group.Spec.ServiceAccountName == "" {
		return a.client, nil
	}
	if missing := groups.accountMissing(s.csv); missing.holds {
		return nil, refused(errors.New(missing.detail))
	}
	return a.accounts.Client(ctx, group.Namespace, group.Status.ServiceAccountRef.Name)
}

// tryOut makes changes as an install does, without an effect.
func (a *actor) tryOut(ctx context.Context, s *snapshot, changes []change) error {
	_, err := a.apply(ctx, s, slices.DeleteFunc(changes, func(c change) bool { return c.apply == nil }), true)
	return err
}

// apply makes the changes in their order, all of them even when some fail, and returns the Deployments that were applied. Where one is refused nothing is
// written at all, so that what runs keeps all that it has.
func (a *actor) apply(ctx context.Context, s *snapshot, changes []change, dryRun bool) (deployments, error) {
	applied := deployments{}
	if len(changes) == 0 {
		return applied, nil
	}
	installer, err := a.installer(ctx, s)
	if err != nil {
		return applied, err
	}
	chain, err := s.chain(ctx)
	if err != nil {
		return applied, err
	}
	// One phase for each stretch of changes that are made with the same rights.
	var phases []rollout.Phase
	for i, c := range changes {
		if i == 0 || c.byManager != changes[i-1].byManager {
			phases = append(phases, rollout.Phase{Independent: true})
		}
		last := &phases[len(phases)-1]
		if c.byManager {
			last.Client = a.client
		}
		object, err := c.object(chain, a.client.GroupVersionKindFor)
		if err != nil {
			return applied, err
		}
		last.Objects = append(last.Objects, object)
	}
	if dryRun {
		installer = client.NewDryRunClient(installer)
	}
	engine := rollout.Engine{Client: installer, Reader: a.live, FieldManager: string(fieldManager), Parallel: 1}
	result := engine.Apply(ctx, phases)
	for _, p := range result.Phases {
		for _, o := range p.Objects {
			if o.Err != nil || o.Live == nil || o.Ref.Kind != "Deployment" || o.Outcome == rollout.Deleted || o.Outcome == rollout.NotAttempted {
				continue
			}
			live := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Live.Object, live); err != nil {
				return applied, fmt.Errorf("read the answer about %s: %w", o.Ref, err)
			}
			applied[live.Name] = live
		}
	}
	if err := result.Err(); err != nil {
		groups, _ := s.groups(ctx) // they were read for the installer
		return applied, fmt.Errorf("%w%s", err, groups.installedAs())
	}
	return applied, nil
}

// registerWebhooks registers what is missing and removes what is not desired any more.
func (a *actor) registerWebhooks(ctx context.Context, s *snapshot) effect {
	err := func() error {
		hooks, err := s.hooks(ctx)
		if err != nil {
			return err
		}
		drift, err := s.hookDrift(ctx, hooks)
		if err != nil {
			return err
		}
		changes, unanswered := servers{s.observer}.answered(ctx, drift.changes)
		_, err = a.apply(ctx, s, changes, false)
		errs := []error{unanswered, err}
		for _, conversion := range drift.conversions {
			errs = append(errs, a.convert(ctx, s, conversion))
		}
		return errors.Join(errs...)
	}()
	return effect{hooked: true, hookFailure: err, retry: err}
}

// convert makes a CRD be converted by the webhook.
func (a *actor) convert(ctx context.Context, s *snapshot, desired bundle.Conversion) error {
	live, err := s.crd(ctx, desired.CRD)
	if err != nil || live == nil {
		return err
	}
	if desired.Spec.Strategy == apiextensionsv1.NoneConverter {
		return crd.Convert(ctx, a.client, desired.CRD, desired.Spec, fieldManager)
	}
	if err := desired.Check(live); err != nil {
		return refused(err)
	}
	groups, err := s.groups(ctx)
	if err != nil {
		return err
	}
	if err := (conversions{s.observer}).mayConvert(ctx, groups, live, desired, func(ctx context.Context) (client.Client, error) { return a.installer(ctx, s) }); err != nil {
		return err
	}
	if err := (conversions{s.observer}).convertedElsewhere(ctx, live); err != nil {
		return err
	}
	if service := crd.ConverterOf(desired.Spec); service.IsService() && !crd.ConverterOf(live.Spec.Conversion).SameService(service) {
		what, until := "convert CRD "+desired.CRD+" by webhook", "the CRD is converted as before"
		if err := (servers{s.observer}).answers(ctx, service.NamespacedName, what, until); err != nil {
			return err
		}
		warning, err := servers{s.observer}.servesTrusted(ctx, desired.Spec.Webhook.ClientConfig.Service, desired.Spec.Webhook.ClientConfig.CABundle, what, until)
		if err != nil {
			return err
		}
		if warning != "" {
			a.tell(s.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonWaiting, warning)
		}
	}
	return crd.Convert(ctx, a.client, desired.CRD, desired.Spec, fieldManager)
}

// remove deletes objects as they were read: not one that has been made since under the same name. One that is gone already is fine.
func remove(ctx context.Context, as client.Client, objects ...client.Object) error {
	var errs []error
	for _, object := range objects {
		var that client.Preconditions
		if uid := object.GetUID(); uid != "" {
			that.UID = &uid
		}
		if err := as.Delete(ctx, object, that); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete %s: %w", describeObject(object), err))
		}
	}
	return errors.Join(errs...)
}
