package clusterserviceversion

import (
	"cmp"
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
	return f.firstDeployment(ctx, stuck)
}

// deploymentsUnready looks for Deployments that are not available. That the cluster has not yet looked at a change to a
// Deployment that runs does not mean that it stops running: its answer is an event.
func (f *facts) deploymentsUnready(ctx context.Context) (finding, error) {
	runs := f.csv.Status.Phase == toSucceeded && f.attempt == nil
	return f.firstDeployment(ctx, func(csv *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
		if runs && live != nil && live.DeletionTimestamp.IsZero() && !current(live) {
			return ""
		}
		return unready(csv, wanted, live)
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
func stuck(_ *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
	if live == nil || !current(live) {
		return ""
	}
	if c := condition(live, appsv1.DeploymentProgressing); c != nil && c.Reason == "ProgressDeadlineExceeded" {
		return fmt.Sprintf("deployment %s not ready before timeout: %s", wanted.Name, cmp.Or(c.Message, c.Reason))
	}
	return ""
}

// unready: it is not available, or old pods of it are still there. That its replicas may be unavailable in part is for
// the Deployment itself to judge.
func unready(_ *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
	if live == nil {
		return "missing deployment with name=" + wanted.Name
	}
	detail := ""
	c := condition(live, appsv1.DeploymentAvailable)
	scaled := rollout.ScaledToZero("Deployment", wanted.Name, wanted.Spec.Replicas, live.Spec.Replicas)
	switch failure := condition(live, appsv1.DeploymentReplicaFailure); {
	case !live.DeletionTimestamp.IsZero():
		detail = "it is being deleted"
	case !current(live):
		detail = "the cluster has not looked at its latest spec yet"
	case failure != nil && failure.Status == corev1.ConditionTrue:
		detail = failure.Message
	case live.Status.Replicas > live.Status.UpdatedReplicas:
		detail = fmt.Sprintf("%d old replicas are pending termination", live.Status.Replicas-live.Status.UpdatedReplicas)
	case c == nil:
		detail = "no pod is available yet"
	case c.Status != corev1.ConditionTrue:
		detail = cmp.Or(c.Message, c.Reason, "it is not available")
	case scaled != "":
		detail = scaled
	default:
		return ""
	}
	return fmt.Sprintf("waiting for deployment %s to become ready: %s", wanted.Name, detail)
}

// current says whether the status of a Deployment is about its latest spec.
func current(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration >= d.Generation }

func condition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == kind {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}
