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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// State is the health of a workload.
type State int

const (
	// Healthy workloads run as their latest spec asks for.
	Healthy State = iota
	// Missing workloads do not exist.
	Missing
	// Terminating workloads are being deleted.
	Terminating
	// Unobserved workloads have a status that is not about their latest spec yet.
	Unobserved
	// Stuck workloads have a rollout that their controller has given up, though pods of it or of an earlier spec may run.
	Stuck
	// Unready workloads are not available, or have pods of an earlier spec.
	Unready
	// ScaledToZero workloads run no pods, although their manifest asks for some.
	ScaledToZero
)

// Health is what a workload's status comes to. Reason is one word for programs; Message is for people, and continues a sentence about the
// workload. Both are empty for Healthy.
type Health struct {
	State           State
	Reason, Message string
}

// DeploymentHealth judges a live Deployment; nil is none. Desired is its manifest; pods are those that are known of it, from which the cause is
// taken. How many replicas may be unavailable is for the Deployment itself to judge.
func DeploymentHealth(desired, live *appsv1.Deployment, pods []corev1.Pod) Health {
	if live == nil {
		return Health{Missing, "Missing", "it does not exist"}
	}
	conditions := map[appsv1.DeploymentConditionType]appsv1.DeploymentCondition{}
	for _, c := range live.Status.Conditions {
		conditions[c.Type] = c
	}
	available, known := conditions[appsv1.DeploymentAvailable]
	failure, progressing := conditions[appsv1.DeploymentReplicaFailure], conditions[appsv1.DeploymentProgressing]
	state, reason, detail := Unready, "Unavailable", ""
	switch old := live.Status.Replicas - live.Status.UpdatedReplicas; {
	case failure.Status == corev1.ConditionTrue:
		detail = failure.Message
	case old > 0:
		detail = fmt.Sprintf("%d old replicas are pending termination", old)
	case !known:
		detail = "no pod is available yet"
	case available.Status != corev1.ConditionTrue:
		detail = cmp.Or(available.Message, available.Reason, "it is not available")
	}
	if progressing.Reason == "ProgressDeadlineExceeded" {
		detail = cmp.Or(progressing.Message, progressing.Reason)
		state, reason = Stuck, progressing.Reason
	}
	return assess(live, Health{state, reason, detail}, pods, desired.Spec.Replicas, live.Spec.Replicas, live.Status.ObservedGeneration)
}

// StatefulSetHealth judges a live StatefulSet as DeploymentHealth does a Deployment. All of its replicas have to be ready: it has no condition
// that would allow for fewer. Those that its update strategy leaves to people, all of OnDelete and those below a partition, may be of an earlier
// template.
func StatefulSetHealth(desired, live *appsv1.StatefulSet, pods []corev1.Pod) Health {
	if live == nil {
		return Health{Missing, "Missing", "it does not exist"}
	}
	number, detail := int32(1), ""
	if live.Spec.Replicas != nil {
		number = *live.Spec.Replicas
	}
	updated := number
	if strategy := live.Spec.UpdateStrategy; strategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		updated = 0
	} else if rolling := strategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		updated = max(0, number-*rolling.Partition)
	}
	switch {
	case live.Status.UpdatedReplicas < updated:
		detail = fmt.Sprintf("%d of %d replicas are updated", live.Status.UpdatedReplicas, updated)
	case live.Status.ReadyReplicas < number:
		detail = fmt.Sprintf("%d of %d replicas are ready", live.Status.ReadyReplicas, number)
	}
	return assess(live, Health{Unready, "Unavailable", detail}, pods, desired.Spec.Replicas, live.Spec.Replicas, live.Status.ObservedGeneration)
}

// assess puts what holds of every workload before and after what its kind reports, which is without a message when that is nothing.
func assess(live client.Object, reported Health, pods []corev1.Pod, desired, replicas *int32, observed int64) Health {
	switch {
	case live.GetDeletionTimestamp() != nil:
		return Health{Terminating, "Terminating", "it is being deleted"}
	case observed < live.GetGeneration():
		return Health{Unobserved, "Unobserved", "rollout not yet observed"}
	case reported.Message != "":
		for i := range pods {
			if cause := podCause(&pods[i]); cause != "" {
				reported.Message += "; " + cause
				break
			}
		}
		return reported
	case replicas != nil && *replicas == 0 && (desired == nil || *desired != 0):
		// Whether a person or an autoscaler did that makes no difference to the users of the operator's API.
		kind := "Deployment"
		if _, ok := live.(*appsv1.StatefulSet); ok {
			kind = "StatefulSet"
		}
		return Health{ScaledToZero, "ScaledToZero", fmt.Sprintf("%s %s is scaled to 0 replicas; scale it up again", kind, live.GetName())}
	}
	return Health{}
}

// WorkloadProbe waits until a Deployment or StatefulSet is healthy; nil is for desired objects of other kinds. Pods lists those of the live one;
// nil is for none.
func WorkloadProbe(desired *unstructured.Unstructured, pods func(live client.Object) []corev1.Pod) Probe {
	switch desired.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}:
		return workloadProbe(desired, pods, DeploymentHealth)
	case schema.GroupKind{Group: appsv1.GroupName, Kind: "StatefulSet"}:
		return workloadProbe(desired, pods, StatefulSetHealth)
	}
	return nil
}

func workloadProbe[T any, P interface {
	*T
	client.Object
}](desired *unstructured.Unstructured, pods func(client.Object) []corev1.Pod, judge func(desired, live P, pods []corev1.Pod) Health) Probe {
	return func(u *unstructured.Unstructured) string {
		manifest, live := P(new(T)), P(new(T))
		for object, into := range map[*unstructured.Unstructured]P{desired: manifest, u: live} {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
				return fmt.Sprintf("it cannot be read as a %s: %v", object.GetKind(), err)
			}
		}
		health := judge(manifest, live, nil)
		if pods != nil && (health.State == Stuck || health.State == Unready) {
			health = judge(manifest, live, pods(live))
		}
		return health.Message
	}
}

// podsDelay is how long a workload may be unready before its pods are asked for the cause: most are ready by then.
const podsDelay = 10 * time.Second

// Pods lists the pods of a Deployment or StatefulSet that has been without enough of them for a while. Without the right to list them, and while
// the API server cannot answer, there are none: the health stands without the cause.
func Pods(ctx context.Context, reader client.Reader, live client.Object, now time.Time) []corev1.Pod {
	since := live.GetCreationTimestamp().Time
	var selector *metav1.LabelSelector
	switch w := live.(type) {
	case *appsv1.Deployment:
		selector = w.Spec.Selector
		for _, c := range w.Status.Conditions {
			if c.Type == appsv1.DeploymentAvailable && c.LastTransitionTime.After(since) {
				since = c.LastTransitionTime.Time
			}
		}
	case *appsv1.StatefulSet:
		selector = w.Spec.Selector
	}
	selects, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil || now.Sub(since) < podsDelay {
		return nil
	}
	var list corev1.PodList
	if err := reader.List(ctx, &list, client.InNamespace(live.GetNamespace()), client.MatchingLabelsSelector{Selector: selects}); err != nil {
		return nil
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return list.Items
}

// podCause is why a pod is not ready. The text stays the same from one restart of a container to the next, because statuses hold it.
func podCause(pod *corev1.Pod) string {
	if failure := PodFailure(pod); failure != "" || pod.DeletionTimestamp != nil {
		return failure
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if last := s.LastTerminationState.Terminated; last != nil && last.ExitCode != 0 && !s.Ready {
			return exited(pod, s)
		}
	}
	return ""
}

func exited(pod *corev1.Pod, s corev1.ContainerStatus) string {
	text := fmt.Sprintf("container %s of pod %s keeps exiting", s.Name, pod.Name)
	if last := s.LastTerminationState.Terminated; last != nil {
		text += fmt.Sprintf(" with code %d (%s)", last.ExitCode, cmp.Or(last.Reason, "Error"))
	}
	return text
}

// PodFailure is why a pod cannot run, so that waiting does not help; empty when that is not known.
func PodFailure(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return fmt.Sprintf("pod %s cannot be scheduled: %s", pod.Name, cmp.Or(c.Message, c.Reason))
		}
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.State.Waiting == nil {
			continue
		}
		switch reason := s.State.Waiting.Reason; reason {
		case "CrashLoopBackOff":
			return exited(pod, s)
		case "ImagePullBackOff", "ErrImagePull":
			return fmt.Sprintf("container %s of pod %s: image %s cannot be pulled", s.Name, pod.Name, s.Image)
		case "ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return fmt.Sprintf("container %s of pod %s: %s: %s", s.Name, pod.Name, reason, s.State.Waiting.Message)
		}
	}
	return ""
}
