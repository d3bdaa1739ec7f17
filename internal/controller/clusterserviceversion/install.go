package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// attempt is what came out of installing in this pass.
type attempt struct {
	err error
	// deployments are the Deployments as the cluster answered.
	deployments map[string]*appsv1.Deployment
	// began is whether a rollout of one of them began.
	began bool
}

// notInstalled says that this pass has not tried to install yet.
func (f *facts) notInstalled(context.Context) (finding, error) {
	return finding{holds: f.attempt == nil}, nil
}

// installRefused says that the attempt failed in a way that only somebody else can mend.
func (f *facts) installRefused(context.Context) (finding, error) {
	if f.attempt == nil || f.attempt.err == nil || !isRefusal(f.attempt.err) {
		return seenNot, nil
	}
	f.unwatched = true
	return seen(f.attempt.err.Error()), nil
}

// installFailed says that the attempt failed.
func (f *facts) installFailed(context.Context) (finding, error) {
	if f.attempt == nil || f.attempt.err == nil {
		return seenNot, nil
	}
	return seen(f.attempt.err.Error()), nil
}

// stillRefused tries an install that was refused before without changing anything.
func (f *facts) stillRefused(ctx context.Context) (finding, error) {
	changes, err := f.changes(ctx)
	if err == nil {
		_, err = f.make(ctx, slices.DeleteFunc(changes, func(c change) bool { return c.apply == nil }), true)
	}
	if err != nil && isRefusal(err) {
		f.unwatched = true // a quota or a policy may be the cause
		return seen(err.Error()), nil
	}
	return seenNot, err
}

// install applies everything that the install strategy asks for and that is not there as wanted. A failure is a fact
// for the table, unless it tells nothing about the install.
func (f *facts) install(ctx context.Context) error {
	f.attempt = &attempt{deployments: map[string]*appsv1.Deployment{}}
	err := f.installAll(ctx)
	if err != nil && reconcile.IsTransient(err) {
		return fmt.Errorf("install ClusterServiceVersion %s: %w", f.name(), err)
	}
	f.attempt.err = err
	if err != nil && !isRefusal(err) {
		f.retry = fmt.Errorf("install ClusterServiceVersion %s: %w", f.name(), err)
	}
	return nil
}

func (f *facts) installAll(ctx context.Context) error {
	if err := f.renewCertificates(ctx); err != nil {
		return err
	}
	return f.makeChanges(ctx)
}

// makeChanges makes the components as wanted and notes the Deployments that the cluster answers with.
func (f *facts) makeChanges(ctx context.Context) error {
	changes, err := f.changes(ctx)
	if err != nil {
		return err
	}
	before, err := f.generations(ctx, changes)
	if err != nil {
		return err
	}
	applied, err := f.make(ctx, changes, false)
	for _, d := range applied {
		if f.attempt != nil {
			f.attempt.began = f.attempt.began || before[d.Name] != d.Generation
			f.attempt.deployments[d.Name] = d
		}
	}
	return err
}

// generations are those of the Deployments that are about to be changed, by name. Of one that is not there there is none.
func (f *facts) generations(ctx context.Context, changes []change) (map[string]int64, error) {
	out := map[string]int64{}
	for _, c := range changes {
		wanted, ok := c.apply.(*appsv1.Deployment)
		if !ok {
			continue
		}
		live, err := f.readDeployment(ctx, wanted.Name)
		if err != nil {
			return nil, err
		}
		if live != nil {
			out[live.Name] = live.Generation
		}
	}
	return out, nil
}

// oldDeployments are the Deployments that belong to the CSV and are not in its strategy any more.
func (f *facts) oldDeployments(ctx context.Context, wanted []*appsv1.Deployment) ([]client.Object, error) {
	var list appsv1.DeploymentList
	if err := f.c.client.List(ctx, &list, client.InNamespace(f.csv.Namespace), client.MatchingFields{indexByOwner: f.name()}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the Deployments of ClusterServiceVersion %s: %w", f.name(), err)
	}
	var out []client.Object
	for i := range list.Items {
		live := &list.Items[i]
		inStrategy := slices.ContainsFunc(wanted, func(d *appsv1.Deployment) bool { return d.Name == live.Name })
		if !inStrategy && hasOwner(live, f.csv.UID) && live.DeletionTimestamp.IsZero() {
			out = append(out, live)
		}
	}
	return out, nil
}

// heal applies again what somebody has changed.
func (f *facts) heal(ctx context.Context) error {
	f.healed = true
	err := f.makeChanges(ctx)
	if err != nil && !reconcile.IsTransient(err) {
		f.c.tell(f.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonComponentUnhealthy, "a change of another client cannot be reverted: "+err.Error())
	}
	if err != nil {
		return fmt.Errorf("heal the components of ClusterServiceVersion %s: %w", f.name(), err)
	}
	return nil
}

// rolloutBegan says whether the install of this pass began a rollout. One that heals what somebody changed does not count, nor does an install
// that changed nothing but marks: where that is done again and again, the operator is to be called late some time.
func (f *facts) rolloutBegan() bool { return f.attempt != nil && f.attempt.began }

// installTimedOut says that the components are not healthy although they had their time.
func (f *facts) installTimedOut(ctx context.Context) (finding, error) {
	since := f.csv.Status.LastTransitionTime
	if f.rolloutBegan() || f.csv.Status.Phase != toInstalling || since == nil || f.c.clock.Now().Before(since.Add(f.c.limits.install)) {
		return seenNot, nil
	}
	for _, unhealthy := range []func(*facts, context.Context) (finding, error){
		(*facts).deploymentsUnready, (*facts).apiServicesUnready, (*facts).webhooksFailed,
	} {
		if found, err := unhealthy(f, ctx); err != nil || found.holds {
			return found, err
		}
	}
	return seenNot, nil
}
