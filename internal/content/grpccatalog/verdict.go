package grpccatalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"

	corev1 "k8s.io/api/core/v1"
)

const (
	crashLoop    = "CrashLoopBackOff"
	maxWordsSize = 512
)

// inventory is what there is of a catalog's pods, newest first in each list. Pods that are being deleted are in none: they serve
// nothing any more, however long they take to go.
type inventory struct {
	current  []*corev1.Pod // serve, as wanted
	outdated []*corev1.Pod // serve, but are of another spec
	dead     []*corev1.Pod // will serve never again
	updates  []*corev1.Pod // were run to find out what the image is now
}

// newer orders pods. Of two of the same second, the one that was promoted is the newer one.
func newer(a, b *corev1.Pod) int {
	return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), promoted(b)-promoted(a), strings.Compare(a.Name, b.Name))
}

func promoted(p *corev1.Pod) int {
	if _, was := p.Labels[v1alpha1.CatalogSourceUpdateLabel]; was {
		return 1
	}
	return 0
}

// IsCurrent reports whether a pod is of the wanted spec, and no other image was put into it. An image that it had from the beginning is the
// doing of an admission webhook, such as for a mirror, and the next pod would get it as well: only a pod whose spec was changed since counts.
// API servers that do not count the changes of a pod's spec leave 0 there.
func IsCurrent(p, wanted *corev1.Pod) bool {
	if p.Labels[v1alpha1.PodSpecHashLabel] != wanted.Labels[v1alpha1.PodSpecHashLabel] {
		return false
	}
	edited := func(there, want []corev1.Container) bool {
		return slices.ContainsFunc(want, func(c corev1.Container) bool {
			found := named(there, c.Name)
			return found == nil || found.Image != c.Image
		})
	}
	return p.Generation == 1 || !edited(p.Spec.Containers, wanted.Spec.Containers) && !edited(p.Spec.InitContainers, wanted.Spec.InitContainers)
}

// isDead tells whether a pod will never serve again: it ended, or was evicted, preempted, or lost with its node.
func isDead(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded || condition(p, corev1.DisruptionTarget) != nil
}

// isReady tells whether the server in the pod answers.
func isReady(p *corev1.Pod) bool { return condition(p, corev1.PodReady) != nil }

// condition returns a condition that is true.
func condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// words say, in those of the cluster where there are any, why a pod is not ready or is dead.
func words(p *corev1.Pod) string {
	return messages.Line(rawWords(p), maxWordsSize)
}

func rawWords(p *corev1.Pod) string {
	if c := condition(p, corev1.DisruptionTarget); c != nil {
		return fmt.Sprintf("it was disrupted (%s: %s)", c.Reason, c.Message)
	}
	for _, s := range containerStatuses(p) {
		if w := s.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
			message := w.Message
			if t := s.LastTerminationState.Terminated; t != nil { // that it is being restarted explains nothing
				message += "; it " + ended(t)
			}
			return fmt.Sprintf("container %s waits (%s: %s)", s.Name, w.Reason, message)
		}
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
			return fmt.Sprintf("container %s %s", s.Name, ended(t))
		}
		if t := s.LastTerminationState.Terminated; t != nil && !s.Ready && s.State.Running != nil {
			return fmt.Sprintf("container %s was started again, because it %s", s.Name, ended(t))
		}
	}
	if p.Status.Reason != "" || p.Status.Message != "" {
		return fmt.Sprintf("it is %s (%s: %s)", p.Status.Phase, p.Status.Reason, p.Status.Message)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("no node was found for it (%s: %s)", c.Reason, c.Message)
		}
	}
	return fmt.Sprintf("it is %s, and its server does not answer the health probe yet", cmp.Or(p.Status.Phase, corev1.PodPending))
}

// ended is how a container ended: with its exit code, such as that of one that has used more memory than it may, and its last words.
func ended(t *corev1.ContainerStateTerminated) string {
	return fmt.Sprintf("ended with exit code %d (%s)", t.ExitCode, strings.TrimSuffix(t.Reason+": "+t.Message, ": "))
}

// isFailing tells whether a pod that is not ready does not come to serve by waiting alone, as far as is known: it is dead, or one of its containers cannot be started or
// has ended, even when it is being started again.
func isFailing(p *corev1.Pod) bool {
	return isDead(p) || slices.ContainsFunc(containerStatuses(p), func(s corev1.ContainerStatus) bool {
		t, last, w := s.State.Terminated, s.LastTerminationState.Terminated, s.State.Waiting
		return t != nil && t.ExitCode != 0 || last != nil && !s.Ready && t == nil || w != nil && w.Reason != "" && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating"
	})
}

func containerStatuses(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
}
