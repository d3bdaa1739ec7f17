package clusterserviceversion

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
)

const (
	// disruptionLimit is how long the pods of a Deployment may take to be replaced, such as when a node is drained, before that counts
	// as a failure.
	disruptionLimit = 5 * time.Minute
	// settlingLimit is how long the cluster may take to reach a server again after its pod has become ready.
	settlingLimit = time.Minute
	// disruptionInterval is how often a disruption is looked at: what pods do is not watched.
	disruptionInterval = 10 * time.Second
)

// apisDisrupted looks for an owned API that is not available because pods behind it are just being replaced. That is no failure of the
// operator: nobody would have to do anything about it.
func (f *facts) apisDisrupted(ctx context.Context) (finding, error) {
	for _, description := range f.csv.OwnedAPIServices() {
		live, err := f.readAPIService(ctx, description.APIServiceName())
		if err != nil {
			return seenNot, err
		}
		if live == nil {
			continue
		}
		// The cluster finds out that an API is away a little later than that its pods are.
		away, err := f.firstDeployment(ctx, func(_ *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
			if wanted.Name != description.DeploymentName {
				return ""
			}
			return f.unready(ctx, wanted, live)
		})
		if err != nil {
			return seenNot, err
		}
		if available(live) && !away.holds {
			continue
		}
		detail, err := f.disruption(ctx, description.DeploymentName)
		if err != nil || detail == "" {
			return seenNot, err
		}
		f.again = f.c.clock.Now().Add(disruptionInterval)
		return seen(fmt.Sprintf("APIService %s is or goes away: %s", live.Name, detail)), nil
	}
	return seenNot, nil
}

// disruption is what happens to the pods of a Deployment that is over soon; empty when nothing does, or when one of them fails.
func (f *facts) disruption(ctx context.Context, deployment string) (string, error) {
	live, err := f.readDeployment(ctx, deployment)
	if err != nil || live == nil {
		return "", err
	}
	selector, err := metav1.LabelSelectorAsSelector(live.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("read the selector of Deployment %s/%s: %w", live.Namespace, live.Name, err)
	}
	// This is asked only while an API is not available, which is not worth a cache of pods.
	var pods corev1.PodList
	if err := f.c.live.List(ctx, &pods, client.InNamespace(live.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return "", fmt.Errorf("list the pods of Deployment %s/%s: %w", live.Namespace, live.Name, err)
	}
	detail := ""
	for i := range pods.Items {
		pod := &pods.Items[i]
		if rollout.PodFailure(pod) != "" {
			return "", nil
		}
		if what := replacement(pod, f.c.clock.Now()); what != "" && detail == "" {
			detail = fmt.Sprintf("pod %s %s", pod.Name, what)
		}
	}
	return detail, nil
}

// replacement is how a pod takes part in a disruption that is not older than it may be; empty when it does not.
func replacement(pod *corev1.Pod, now time.Time) string {
	if deleted := pod.DeletionTimestamp; deleted != nil {
		since := deleted.Time
		if grace := pod.DeletionGracePeriodSeconds; grace != nil {
			since = since.Add(-time.Duration(*grace) * time.Second)
		}
		if now.Sub(since) < disruptionLimit {
			return "is being deleted"
		}
		return ""
	}
	if now.Sub(pod.CreationTimestamp.Time) >= disruptionLimit {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodReady || c.Status != corev1.ConditionTrue {
			continue
		}
		if now.Sub(c.LastTransitionTime.Time) < settlingLimit {
			return "has only just become ready"
		}
		return ""
	}
	if pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning {
		return "is starting"
	}
	return ""
}
