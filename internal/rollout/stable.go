package rollout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// DefaultStableAfter is how long a workload has to be available without a restart until a rollout has succeeded, where its author gives it neither a readiness
	// probe nor minReadySeconds: Kubernetes calls its pods ready as soon as their processes have started, be it for a second.
	DefaultStableAfter = 10 * time.Second
	// restartsInRow is how many restarts of a container in a row are a failure. The first ones are none: many programs end when something that they need is
	// a moment late.
	restartsInRow = 3
	// backOffReset is how long a container runs until the kubelet begins to count its restarts from zero.
	backOffReset = 10 * time.Minute
	// podsInterval is how often the pods of a workload that does not work are read: they are not watched.
	podsInterval = 30 * time.Second
)

// Judge judges live workloads, with the help of their pods where the status of the workload is not enough. Deployments and StatefulSets of both APIs are
// judged alike.
type Judge struct {
	// Reader reads pods and what belongs to them past the caches.
	Reader client.Reader
	Clock  clock.PassiveClock
	// StableAfter is how long a workload without a probe has to be available without a restart; 0 is not at all.
	StableAfter time.Duration
	// Proven says that the workload has been stable before, and that nothing has gone wrong since: then it is healthy as soon as its status has it.
	Proven bool
	// Doubtful says that its rollout has failed: its pods are read at once, and whatever its status and its probes say, it is not healthy while it is begun again and again.
	Doubtful bool
	// Again is called with the time at which the workload is to be judged again although no event may come.
	Again func(at time.Time)
}

// Deployment judges a live Deployment; nil is none. Desired is its manifest.
func (j Judge) Deployment(ctx context.Context, desired, live *appsv1.Deployment) Health {
	if live == nil {
		return DeploymentHealth(desired, nil, "")
	}
	return j.judge(ctx, live, func(cause string) Health { return DeploymentHealth(desired, live, cause) })
}

// judge adds to what the status of a workload comes to what its pods do.
func (j Judge) judge(ctx context.Context, live client.Object, status func(cause string) Health) Health {
	h := status("")
	switch h.State {
	case Healthy:
		if j.Proven {
			return h
		}
		return j.stable(ctx, live)
	case Unready, Stuck:
	default:
		return h
	}
	now, due := j.Clock.Now(), unreadySince(live).Add(podsDelay)
	early := now.Before(due)
	if !early {
		due = now.Add(podsInterval)
	}
	j.again(due)
	if early && !j.Doubtful {
		return h
	}
	pods, known := podsOf(ctx, j.Reader, live)
	if !known {
		return h
	}
	events := func(pod *corev1.Pod) []corev1.Event { return complaints(ctx, j.Reader, pod) }
	if loops, _ := j.loops(pods, events); loops != "" {
		return Health{CrashLooping, reasonCrashLoop, loops}
	}
	if early {
		return h
	}
	return status(podsCause(pods, events))
}

func (j Judge) again(at time.Time) {
	if j.Again != nil {
		j.Again(at)
	}
}

// reasonCrashLoop is the word of the kubelet for a container that is begun again and again.
const reasonCrashLoop = "CrashLoopBackOff"

// stable judges whether a workload that is available stays so.
func (j Judge) stable(ctx context.Context, live client.Object) Health {
	vouched, since := vouchedFor(live), availableSince(live)
	if !j.Doubtful && (vouched || j.StableAfter <= 0) {
		return Health{}
	}
	now := j.Clock.Now()
	switch age := now.Sub(since); {
	case !j.Doubtful && age < j.StableAfter: // its pods cannot have been stable for longer
		return j.unproven("available since "+since.UTC().Format(time.RFC3339), since)
	case !j.Doubtful && !since.IsZero() && age >= backOffReset:
		return Health{}
	}
	pods, _ := podsOf(ctx, j.Reader, live)
	events := func(pod *corev1.Pod) []corev1.Event { return complaints(ctx, j.Reader, pod) }
	if loops, until := j.loops(pods, events); loops != "" {
		if until.IsZero() {
			until = now.Add(podsInterval)
		}
		j.again(until)
		return Health{CrashLooping, reasonCrashLoop, loops}
	}
	if vouched {
		return Health{}
	}
	what := ""
	for i := range pods {
		if ready := readySince(&pods[i]); ready.After(since) {
			since = ready
		}
		if text, at := restarted(&pods[i], events, now); text != "" && !at.Before(since) {
			what, since = text, at
		}
	}
	if now.Sub(since) < j.StableAfter {
		return j.unproven(cmp.Or(what, "available since "+since.UTC().Format(time.RFC3339)), since)
	}
	return Health{}
}

// unproven is the health of a workload that is available since a time that is not long ago.
func (j Judge) unproven(what string, since time.Time) Health {
	j.again(since.Add(j.StableAfter))
	return Health{Unproven, "Unproven", fmt.Sprintf("%s; as it has no readiness probe, it has to run for %s without a restart", what, j.StableAfter)}
}

// vouchedFor reports whether the author of a workload has given it what tells Kubernetes that it works: a readiness probe, or how long its pods have to be ready. One
// without pods needs nothing.
func vouchedFor(live client.Object) bool {
	var template corev1.PodTemplateSpec
	var minReady int32
	var replicas *int32
	switch w := live.(type) {
	case *appsv1.Deployment:
		template, minReady, replicas = w.Spec.Template, w.Spec.MinReadySeconds, w.Spec.Replicas
	case *appsv1.StatefulSet:
		template, minReady, replicas = w.Spec.Template, w.Spec.MinReadySeconds, w.Spec.Replicas
	}
	return minReady > 0 || replicas != nil && *replicas == 0 || slices.ContainsFunc(template.Spec.Containers, func(c corev1.Container) bool { return c.ReadinessProbe != nil })
}

// availableSince is since when a workload has been available with its latest template, as far as its status has that.
func availableSince(live client.Object) (since time.Time) {
	d, ok := live.(*appsv1.Deployment)
	if !ok {
		return since
	}
	for _, c := range d.Status.Conditions {
		at := c.LastTransitionTime.Time
		if c.Type == appsv1.DeploymentProgressing && c.Reason == "NewReplicaSetAvailable" {
			at = c.LastUpdateTime.Time
		} else if c.Type != appsv1.DeploymentAvailable {
			continue
		}
		if at.After(since) {
			since = at
		}
	}
	return since
}

// readySince is since when a pod has been ready; zero of one that is not: how many may be that is for the workload to judge.
func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// restarted is how that container of a pod ended that was begun again last, with the time of that: now of one that waits for it.
func restarted(pod *corev1.Pod, events func(*corev1.Pod) []corev1.Event, now time.Time) (how string, at time.Time) {
	for _, s := range pod.Status.ContainerStatuses {
		if s.RestartCount == 0 && s.State.Terminated == nil || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		began := now
		if s.State.Running != nil {
			began = s.State.Running.StartedAt.Time
		}
		if how == "" || began.After(at) {
			how, at = exited(pod, s, events), began
		}
	}
	return how, at
}

// loops is how a container ends that was begun again several times in a row, with the time at which it is stable after all if it runs on; empty when there is none.
func (j Judge) loops(pods []corev1.Pod, events func(*corev1.Pod) []corev1.Event) (loops string, until time.Time) {
	for i := range pods {
		pod := &pods[i]
		if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			is, runsUntil := j.inRow(pod, s)
			if is && loops == "" {
				loops = exited(pod, s, events)
			}
			if is && runsUntil.After(until) {
				until = runsUntil
			}
		}
	}
	return loops, until
}

// inRow reports whether a container was begun again several times in a row. Where it runs now, that is over when it has run for longer than a chance: twice as
// long as the last time, and not less than any workload has to.
func (j Judge) inRow(pod *corev1.Pod, s corev1.ContainerStatus) (is bool, until time.Time) {
	last := lastRun(s)
	if s.RestartCount < restartsInRow || last == nil {
		return s.RestartCount >= restartsInRow && s.State.Waiting != nil && s.State.Waiting.Reason == reasonCrashLoop, time.Time{}
	}
	ran := last.FinishedAt.Sub(last.StartedAt.Time)
	done := s.State.Terminated != nil && s.State.Terminated.ExitCode == 0 &&
		slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == s.Name && c.RestartPolicy == nil })
	switch {
	case ran >= backOffReset || done:
		return false, time.Time{}
	case s.State.Running == nil:
		return true, time.Time{}
	}
	until = s.State.Running.StartedAt.Add(min(max(2*ran, j.StableAfter), backOffReset))
	return j.Clock.Now().Before(until), until
}

// podsOf are the pods of the latest template of a workload; not known without the right to read them, and while the API server cannot answer.
func podsOf(ctx context.Context, reader client.Reader, live client.Object) (pods []corev1.Pod, known bool) {
	selects, err := metav1.LabelSelectorAsSelector(selectorOf(live))
	if err != nil || selects.Empty() {
		return nil, false
	}
	var list corev1.PodList
	if err := reader.List(ctx, &list, client.InNamespace(live.GetNamespace()), client.MatchingLabelsSelector{Selector: selects}); err != nil {
		return nil, false
	}
	pods = latest(ctx, reader, live, list.Items)
	slices.SortFunc(pods, byName)
	return pods, true
}
