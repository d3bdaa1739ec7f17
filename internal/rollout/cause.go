package rollout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/messages"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// podsDelay is how long a workload may be unready, or make no progress, before its pods are asked for the cause: most are ready by then.
	podsDelay = 10 * time.Second
	// maxPodEvents is how many events of a pod are read.
	maxPodEvents = 50
	// maxCause is how long the text of another program may be in a cause, in characters.
	maxCause = 300
)

// unreadySince is since when a workload has changed nothing about being unready.
func unreadySince(live client.Object) time.Time {
	since := live.GetCreationTimestamp().Time
	d, ok := live.(*appsv1.Deployment)
	if !ok {
		return since
	}
	for _, c := range d.Status.Conditions {
		changed := c.LastTransitionTime
		if c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionTrue {
			changed = c.LastUpdateTime // of the last pod that became ready, or of a new template
		}
		if changed.After(since) && (c.Type == appsv1.DeploymentAvailable || c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionTrue) {
			since = changed.Time
		}
	}
	return since
}

// selectorOf selects the pods of a workload.
func selectorOf(live client.Object) *metav1.LabelSelector {
	switch w := live.(type) {
	case *appsv1.Deployment:
		return w.Spec.Selector
	case *appsv1.StatefulSet:
		return w.Spec.Selector
	}
	return nil
}

func byName(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }

// revisionAnnotation numbers the templates of a Deployment, on it and on its ReplicaSets.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// latest are the pods of the latest template of a workload; all where it is not known which those are.
func latest(ctx context.Context, reader client.Reader, live client.Object, pods []corev1.Pod) []corev1.Pod {
	label, value := appsv1.ControllerRevisionHashLabelKey, ""
	switch w := live.(type) {
	case *appsv1.Deployment:
		label = appsv1.DefaultDeploymentUniqueLabelKey
		var sets appsv1.ReplicaSetList
		selects, err := metav1.LabelSelectorAsSelector(w.Spec.Selector)
		if err != nil || reader.List(ctx, &sets, client.InNamespace(w.Namespace), client.MatchingLabelsSelector{Selector: selects}) != nil {
			return pods
		}
		for i := range sets.Items {
			if set := &sets.Items[i]; metav1.IsControlledBy(set, w) && set.Annotations[revisionAnnotation] == w.Annotations[revisionAnnotation] {
				value = set.Labels[label]
			}
		}
	case *appsv1.StatefulSet:
		value = w.Status.UpdateRevision
	}
	if value == "" {
		return pods
	}
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return pod.Labels[label] != value })
}

// killing is the reason of the event with which the kubelet ends a container, as when its liveness probe fails.
const killing = "Killing"

// complaints are the events that complain about a pod, or say why one of its containers was ended, those of most occurrences first.
func complaints(ctx context.Context, reader client.Reader, pod *corev1.Pod) []corev1.Event {
	var list corev1.EventList
	if err := reader.List(ctx, &list, client.InNamespace(pod.Namespace), client.MatchingFields{"involvedObject.uid": string(pod.UID)}, client.Limit(maxPodEvents)); err != nil {
		return nil
	}
	list.Items = slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return e.Type == corev1.EventTypeNormal && e.Reason != killing })
	slices.SortStableFunc(list.Items, func(a, b corev1.Event) int {
		return cmp.Or(cmp.Compare(occurrences(b), occurrences(a)), cmp.Compare(a.Message, b.Message))
	})
	return list.Items
}

func occurrences(e corev1.Event) int32 {
	if e.Series != nil {
		return max(e.Count, e.Series.Count)
	}
	return e.Count
}

// podsCause is the cause of the first pod that cannot run, or else of the first that has one. Events are read for a pod whose status does not say it.
func podsCause(pods []corev1.Pod, events func(*corev1.Pod) []corev1.Event) string {
	for i := range pods {
		if failure := podFailure(&pods[i], events); failure != "" {
			return failure
		}
	}
	for i := range pods {
		if cause := podCause(&pods[i], events); cause != "" {
			return cause
		}
	}
	return ""
}

// podCause is why a pod is not ready.
func podCause(pod *corev1.Pod, events func(*corev1.Pod) []corev1.Event) string {
	if pod.DeletionTimestamp != nil {
		return ""
	}
	if pod.Status.Phase == corev1.PodFailed {
		return fmt.Sprintf("pod %s failed: %s", pod.Name, joined(cmp.Or(pod.Status.Reason, "its containers have ended"), pod.Status.Message))
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if cause := containerCause(pod, s, events); cause != "" {
			return cause
		}
	}
	return ""
}

// specOf is a container of a pod.
func specOf(pod *corev1.Pod, name string) corev1.Container {
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	if i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
		return all[i]
	}
	return corev1.Container{}
}

// containerCause is why a container does not work, as far as it is known; empty of one that does, or has done its work.
func containerCause(pod *corev1.Pod, s corev1.ContainerStatus, events func(*corev1.Pod) []corev1.Event) string {
	if s.Ready || s.State.Terminated != nil && s.State.Terminated.ExitCode == 0 {
		return ""
	}
	of, spec := fmt.Sprintf("container %s of pod %s", s.Name, pod.Name), specOf(pod, s.Name)
	switch last := lastRun(s); {
	case last != nil && last.ExitCode != 0:
		return exited(pod, s, events)
	case s.State.Waiting != nil && (s.State.Waiting.Reason == "ContainerCreating" || s.State.Waiting.Reason == "PodInitializing"):
		for _, e := range events(pod) {
			if e.Reason == "FailedMount" || e.Reason == "FailedAttachVolume" || e.Reason == "FailedCreatePodSandBox" || e.Reason == "NetworkNotReady" {
				return fmt.Sprintf("pod %s cannot start: %s", pod.Name, joined(e.Reason, e.Message))
			}
		}
	case s.State.Running != nil && s.Started != nil && !*s.Started && spec.StartupProbe != nil:
		return fmt.Sprintf("%s runs and has not started yet: %s", of, probed("startup", spec.StartupProbe, spec, pod, events))
	case s.State.Running != nil && spec.ReadinessProbe != nil:
		return fmt.Sprintf("%s runs and is not ready: %s", of, probed("readiness", spec.ReadinessProbe, spec, pod, events))
	}
	return ""
}

// probed says that a probe fails, which one that is, and what the kubelet says of it.
func probed(kind string, probe *corev1.Probe, of corev1.Container, pod *corev1.Pod, events func(*corev1.Pod) []corev1.Event) string {
	text := fmt.Sprintf("its %s probe (%s) does not succeed", kind, probeText(probe, of))
	return strings.TrimSuffix(text+": "+complains(kind, events(pod)), ": ")
}

// complains is what the kubelet says of a probe that fails.
func complains(kind string, events []corev1.Event) string {
	for _, e := range events {
		if of, message, is := strings.Cut(e.Message, " probe failed: "); is && e.Reason == "Unhealthy" && strings.EqualFold(of, kind) {
			return oneLine(message)
		}
	}
	return ""
}

// probeText is what a probe asks.
func probeText(probe *corev1.Probe, of corev1.Container) string {
	port := func(p intstr.IntOrString) string {
		for _, named := range of.Ports {
			if p.Type == intstr.String && named.Name == p.StrVal {
				return strconv.Itoa(int(named.ContainerPort))
			}
		}
		return p.String()
	}
	switch {
	case probe.HTTPGet != nil:
		return fmt.Sprintf("GET %s://:%s/%s", strings.ToLower(cmp.Or(string(probe.HTTPGet.Scheme), "HTTP")), port(probe.HTTPGet.Port), strings.TrimPrefix(probe.HTTPGet.Path, "/"))
	case probe.TCPSocket != nil:
		return "connect to port " + port(probe.TCPSocket.Port)
	case probe.GRPC != nil:
		return fmt.Sprintf("gRPC health at port %d", probe.GRPC.Port)
	case probe.Exec != nil:
		return "command " + oneLine(strings.Join(probe.Exec.Command, " "))
	}
	return "of an unknown kind"
}

// endedForProbe reports whether the kubelet has ended the last run of a container because of a probe. Many programs end in order then, so that their exit code
// does not say it.
func endedForProbe(kind string, container string, last *corev1.ContainerStateTerminated, events []corev1.Event) bool {
	return slices.ContainsFunc(events, func(e corev1.Event) bool {
		at := e.LastTimestamp
		return e.Reason == killing && strings.HasPrefix(e.Message, "Container "+container+" failed "+kind+" probe") &&
			(last.ExitCode == 0 || !at.Before(&last.StartedAt) && !last.FinishedAt.Before(&at))
	})
}

// oomKilled is the reason of a container that was ended for its memory.
const oomKilled = "OOMKilled"

// lastRun is how the last run of a container ended; nil while the first one has not.
func lastRun(s corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	return cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated)
}

// exited is how a container ended, which is begun again each time.
func exited(pod *corev1.Pod, s corev1.ContainerStatus, events func(*corev1.Pod) []corev1.Event) string {
	of, last := fmt.Sprintf("container %s of pod %s", s.Name, pod.Name), lastRun(s)
	if last == nil {
		return of + " keeps exiting"
	}
	spec, known := specOf(pod, s.Name), events(pod)
	switch killed := last.ExitCode == 137 || last.ExitCode == 143; {
	case last.Reason == oomKilled:
		text := fmt.Sprintf("%s is ended again and again for its memory (%s)", of, oomKilled)
		if limit, limited := spec.Resources.Limits[corev1.ResourceMemory]; limited {
			text += ": its limit is " + limit.String()
		}
		return text
	case last.Reason == "StartError" || last.Reason == "ContainerCannotRun":
		return fmt.Sprintf("%s cannot start: %s", of, joined(last.Reason, last.Message))
	case spec.StartupProbe != nil && (killed && (spec.LivenessProbe == nil || complains("startup", known) != "") || endedForProbe("startup", s.Name, last, known)):
		return fmt.Sprintf("%s is ended again and again: %s", of, probed("startup", spec.StartupProbe, spec, pod, events))
	case spec.LivenessProbe != nil && (killed || endedForProbe("liveness", s.Name, last, known)):
		// The kubelet ends a container whose probe fails with the same signals as anything else would.
		return fmt.Sprintf("%s is ended again and again: %s", of, probed("liveness", spec.LivenessProbe, spec, pod, events))
	}
	text := fmt.Sprintf("%s keeps exiting with code %d (%s)", of, last.ExitCode, cmp.Or(last.Reason, "Error"))
	if line := messages.LastWords(last.Message); line != "" {
		text += ": " + oneLine(messages.Redact(line))
	}
	return text
}

// joined is a reason with what another program says of it, as one line.
func joined(reason, message string) string {
	return strings.TrimSuffix(reason+": "+oneLine(message), ": ")
}

func oneLine(text string) string { return messages.Line(text, maxCause) }

// PodFailure is why a pod cannot run, so that waiting does not help; empty when that is not known.
func PodFailure(pod *corev1.Pod) string {
	return podFailure(pod, func(*corev1.Pod) []corev1.Event { return nil })
}

func podFailure(pod *corev1.Pod, events func(*corev1.Pod) []corev1.Event) string {
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
			return exited(pod, s, events)
		case "ImagePullBackOff", "ErrImagePull":
			return fmt.Sprintf("container %s of pod %s: image %s cannot be pulled%s", s.Name, pod.Name, s.Image, pullFailure(s.State.Waiting.Message))
		case "RunContainerError":
			return fmt.Sprintf("container %s of pod %s cannot start: %s", s.Name, pod.Name, joined(reason, s.State.Waiting.Message))
		case "ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError":
			return fmt.Sprintf("container %s of pod %s: %s", s.Name, pod.Name, joined(reason, s.State.Waiting.Message))
		}
	}
	return ""
}

// pullFailure is why an image could not be pulled, as the kubelet says it while it tries, and while it waits to try again.
func pullFailure(message string) string {
	if _, tried, waits := strings.Cut(message, ": ErrImagePull: "); waits {
		message = tried
	} else if strings.HasPrefix(message, "Back-off pulling image") {
		return ""
	}
	if message == "" {
		return ""
	}
	return ": " + oneLine(message)
}
