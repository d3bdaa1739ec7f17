package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
)

// servers observe what serves the APIs and webhooks of a CSV, and what leads to it.
type servers struct{ *observer }

// health judges whether a Deployment serves now, with its pods where it lacks some.
func (o servers) health(ctx context.Context, desired, live *appsv1.Deployment) rollout.Health {
	return rollout.Judge{Reader: o.live, Clock: o.clock, Proven: true}.Deployment(ctx, desired, live)
}

// handOver leaves out the APIServices that lead to another server, as long as the one that they are to lead to does not run: clients
// are served as before. For each that is left out it records what is missing.
func (o composer) handOver(ctx context.Context, w *workload, services []*apiregistrationv1.APIService) error {
	w.later = map[string]string{}
	for _, desired := range services {
		is, err := o.apiService(ctx, desired.Name)
		if err != nil {
			return err
		}
		if is != nil && is.Spec.Service != nil && (is.Spec.Service.Namespace != desired.Spec.Service.Namespace || is.Spec.Service.Name != desired.Spec.Service.Name) {
			if w.later[desired.Name], err = o.waitForServer(ctx, w, desired); err != nil {
				return err
			}
		}
		if w.later[desired.Name] == "" {
			w.apiServices = append(w.apiServices, desired)
		}
	}
	return nil
}

// waitForServer is what has to happen until the server of an APIService answers; empty when nothing has to.
func (o composer) waitForServer(ctx context.Context, w *workload, desired *apiregistrationv1.APIService) (string, error) {
	servers := servers{o.observer}
	service := key(desired.Spec.Service.Namespace, desired.Spec.Service.Name)
	for _, d := range w.deployments {
		if bundle.ServingServiceName(d.Name) != service.Name {
			continue
		}
		if detail := unready(d, servers.health(ctx, d, o.running[d.Name])); detail != "" {
			return detail, nil
		}
		if drifted, err := isDrifted(d, o.running[d.Name]); err != nil || drifted { // the pods that are available may serve another certificate
			return fmt.Sprintf("waiting for deployment %s to be as the install strategy asks for", d.Name), err
		}
	}
	if err := servers.answers(ctx, service, "let APIService "+desired.Name+" lead to it", "it leads where it did"); err != nil {
		w.unanswered = errors.Join(w.unanswered, err)
		return err.Error(), nil
	}
	return "", nil
}

// apiServicesForeign looks for an owned API that another owner has registered and keeps.
func (o servers) apiServicesForeign(ctx context.Context) (finding, error) {
	for _, description := range o.csv.OwnedAPIServices() {
		live, err := o.apiService(ctx, description.APIServiceName())
		if err != nil {
			return seenNot, err
		}
		if live == nil {
			continue
		}
		if keeper, err := o.keeper(ctx, live); err != nil || keeper != "" {
			return finding{holds: keeper != "", detail: fmt.Sprintf("APIService %s belongs to %s; delete it or them first", live.Name, keeper)}, err
		}
	}
	return seenNot, nil
}

// keeper names to whom an APIService belongs that the CSV cannot adopt; empty when it can: its own, and that of the
// CSV that it replaces, of one that is on its way out, and of one that no longer exists.
func (o servers) keeper(ctx context.Context, live *apiregistrationv1.APIService) (string, error) {
	owner, ok := ownerOf(live)
	if !ok {
		return "an owner that is no ClusterServiceVersion", nil
	}
	if owner.Namespace == o.csv.Namespace && (owner.Name == o.csv.Name || owner.Name == o.csv.Spec.Replaces) {
		return "", nil
	}
	csv, err := read[*v1alpha1.ClusterServiceVersion](ctx, o.readerFor(owner.Namespace), owner)
	if err != nil || csv == nil || csv.Status.Phase == toReplacing || csv.Status.Phase == toDeleting {
		return "", err
	}
	return fmt.Sprintf("ClusterServiceVersion %s", owner), nil
}

// apiServicesUnready looks for owned APIs that the cluster does not reach or serve yet.
func (o servers) apiServicesUnready(ctx context.Context, w *workload) (finding, error) {
	for _, description := range o.csv.OwnedAPIServices() {
		name := description.APIServiceName()
		if wait := w.later[name]; wait != "" {
			return seen(wait), nil
		}
		live, err := o.apiService(ctx, name)
		if err != nil {
			return seenNot, err
		}
		if live == nil || !available(live) {
			detail := fmt.Sprintf("waiting for APIService %s to become available", name)
			if live != nil {
				for _, c := range live.Status.Conditions {
					if c.Type == apiregistrationv1.Available && c.Message != "" {
						return seen(detail + ": " + c.Message), nil
					}
				}
			}
			return seen(detail), nil
		}
		if served, err := o.serves(apiKind(description)); err != nil || !served {
			return finding{holds: err == nil, detail: fmt.Sprintf("waiting for APIService %s to serve kind %s", name, description.Kind)}, err
		}
	}
	return seenNot, nil
}

const (
	// disruptionLimit is how long the pods of a Deployment may take to be replaced, such as when a node is drained, before that counts
	// as a failure.
	disruptionLimit = 5 * time.Minute
	// settlingLimit is how long the cluster may take to reach a server again after its pod has become ready.
	settlingLimit = time.Minute
	// disruptionInterval is how often a disruption is observed: what pods do is not watched.
	disruptionInterval = 10 * time.Second
)

// apisDisrupted looks for an owned API that is not available because pods behind it are just being replaced. That is no failure of the
// operator: no one would have to do anything about it.
func (o servers) apisDisrupted(ctx context.Context, w *workload, live deployments) (finding, error) {
	for _, description := range o.csv.OwnedAPIServices() {
		api, err := o.apiService(ctx, description.APIServiceName())
		if err != nil {
			return seenNot, err
		}
		if api == nil {
			continue
		}
		// The cluster finds out that an API is away a little later than that its pods are.
		away := w.first(func(d *appsv1.Deployment) string {
			if d.Name != description.DeploymentName {
				return ""
			}
			return unready(d, o.health(ctx, d, live[d.Name]))
		})
		if available(api) && !away.holds {
			continue
		}
		detail, err := o.disruption(ctx, live[description.DeploymentName])
		if err != nil || detail == "" {
			return seenNot, err
		}
		return seen(fmt.Sprintf("APIService %s is or goes away: %s", api.Name, detail)), nil
	}
	return seenNot, nil
}

// disruption is what happens to the pods of a Deployment that is over soon; empty when nothing does, or when one of them fails.
func (o servers) disruption(ctx context.Context, live *appsv1.Deployment) (string, error) {
	if live == nil {
		return "", nil
	}
	selector, err := metav1.LabelSelectorAsSelector(live.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("read the selector of Deployment %s/%s: %w", live.Namespace, live.Name, err)
	}
	// This is asked only while an API is not available, which is not worth a cache of pods.
	var pods corev1.PodList
	if err := list(ctx, o.live, &pods, "the pods of "+describeObject(live), client.InNamespace(live.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return "", err
	}
	detail := ""
	for i := range pods.Items {
		pod := &pods.Items[i]
		if rollout.PodFailure(pod) != "" {
			return "", nil
		}
		if what := replacement(pod, o.clock.Now()); what != "" && detail == "" {
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
