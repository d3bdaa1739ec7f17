package clusterserviceversion

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
)

// judgement is what is wrong with a Deployment; empty when nothing is.
type judgement func(csv *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string

// deploymentsMissing looks for Deployments that are not there. One that was applied in this pass is.
func (f *facts) deploymentsMissing(ctx context.Context) (finding, error) {
	if f.attempt != nil {
		return seenNot, nil
	}
	return f.firstDeployment(ctx, missing)
}

// deploymentsChanged looks for Deployments that were applied with another spec, before this pass.
func (f *facts) deploymentsChanged(ctx context.Context) (finding, error) {
	if f.attempt != nil {
		return seenNot, nil
	}
	return f.firstDeployment(ctx, changed)
}

func (f *facts) deploymentsStuck(ctx context.Context) (finding, error) {
	return f.firstDeployment(ctx, func(_ *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
		return f.stuck(ctx, wanted, live)
	})
}

// deploymentsUnready looks for Deployments that are not available. That the cluster has not reconciled yet a change to a
// Deployment that runs does not mean that it stops running: its answer is an event.
func (f *facts) deploymentsUnready(ctx context.Context) (finding, error) {
	runs := f.csv.Status.Phase == toSucceeded && f.attempt == nil
	return f.firstDeployment(ctx, func(_ *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
		if runs && rollout.DeploymentHealth(wanted, live, nil).State == rollout.Unobserved {
			return ""
		}
		return f.unready(ctx, wanted, live)
	})
}

// firstDeployment looks for the first Deployment of the strategy with something wrong.
func (f *facts) firstDeployment(ctx context.Context, judge judgement) (finding, error) {
	wanted, err := f.compute(ctx)
	if err != nil {
		return seenNot, err
	}
	for _, d := range wanted.deployments {
		live, err := f.readDeployment(ctx, d.Name)
		if err != nil {
			return seenNot, err
		}
		if detail := judge(f.csv, d, live); detail != "" {
			return seen(detail), nil
		}
	}
	return seenNot, nil
}

// readDeployment reads a Deployment as it was applied in this pass, else from the cache; nil when it does not exist.
func (f *facts) readDeployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	if f.attempt != nil && f.attempt.deployments[name] != nil {
		return f.attempt.deployments[name], nil
	}
	live := &appsv1.Deployment{}
	err := f.c.client.Get(ctx, key(f.csv.Namespace, name), live, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Deployment %s/%s: %w", f.csv.Namespace, name, err)
	}
	return live, nil
}

// missing: there is none, it is going, or it is not of this CSV.
func missing(csv *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
	if live == nil || !live.DeletionTimestamp.IsZero() || !ownedBy(live, csv) {
		return "missing deployment with name=" + wanted.Name
	}
	return ""
}

// changed: it was applied with another spec.
func changed(_ *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
	if live == nil {
		return ""
	}
	was, is := live.Labels[v1alpha1.DeploymentSpecHashLabel], wanted.Labels[v1alpha1.DeploymentSpecHashLabel]
	if was != is {
		return fmt.Sprintf("deployment changed old hash=%s, new hash=%s", was, is)
	}
	return ""
}

// stuck: the cluster gave the rollout up.
func (f *facts) stuck(ctx context.Context, wanted, live *appsv1.Deployment) string {
	if h := f.health(ctx, wanted, live); h.State == rollout.Stuck {
		return fmt.Sprintf("deployment %s not ready before timeout: %s", wanted.Name, h.Message)
	}
	return ""
}

// unready: it is not available, or old pods of it are still there.
func (f *facts) unready(ctx context.Context, wanted, live *appsv1.Deployment) string {
	h := f.health(ctx, wanted, live)
	switch h.State {
	case rollout.Healthy:
		return ""
	case rollout.Missing:
		return "missing deployment with name=" + wanted.Name
	}
	return fmt.Sprintf("waiting for deployment %s to become ready: %s", wanted.Name, h.Message)
}

// health judges a Deployment, with its pods where it lacks some. They are not watched, so it is judged again in a while.
func (f *facts) health(ctx context.Context, wanted, live *appsv1.Deployment) rollout.Health {
	h := rollout.DeploymentHealth(wanted, live, nil)
	if h.State != rollout.Stuck && h.State != rollout.Unready {
		return h
	}
	now := f.c.clock.Now()
	if at := now.Add(podsInterval); f.again.IsZero() || at.Before(f.again) {
		f.again = at
	}
	return rollout.DeploymentHealth(wanted, live, rollout.Pods(ctx, f.c.live, live, now))
}

// podsInterval is how often the pods of a Deployment that is not available are asked why.
const podsInterval = 30 * time.Second
