package ops

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/messages"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Bounds of what is read of pods.
const (
	maxPods    = 20 // of a Deployment
	maxLogs    = 5  // pods whose logs are read
	logTime    = 2 * time.Second
	maxLogRead = 16 << 10
	maxLogLine = 300
)

// pods adds the pods of the Deployments of the tree, with why they do not work.
func (r *OperatorReader) pods(ctx context.Context) error {
	var nodes []*Node
	var lists []reading
	for _, n := range r.out.Tree.below("Deployment") {
		at := slices.IndexFunc(r.found.deployments.Items, func(d appsv1.Deployment) bool { return d.Name == n.Name })
		if at < 0 {
			continue
		}
		d := &r.found.deployments.Items[at]
		selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
		if err != nil || selector.Empty() {
			continue // which the API server lets no Deployment have
		}
		nodes = append(nodes, n)
		lists = append(lists, reading{"pods of namespace " + d.Namespace, "why a Deployment does not become available is not shown", &corev1.PodList{},
			[]client.ListOption{client.InNamespace(d.Namespace), client.MatchingLabelsSelector{Selector: selector}, client.Limit(maxPods)}})
	}
	if _, err := r.lists(ctx, lists...); err != nil {
		return err
	}
	for i, n := range nodes {
		r.addPods(ctx, n, lists[i].list.(*corev1.PodList))
	}
	return nil
}

// below are the nodes of a kind, those furthest down first.
func (n *Node) below(kind string) (all []*Node) {
	for i := range n.Children {
		all = append(all, n.Children[i].below(kind)...)
	}
	if n.Kind == kind {
		all = append(all, n)
	}
	return all
}

// addPods adds the pods of a Deployment, with the ends of the logs of those that do not work.
func (r *OperatorReader) addPods(ctx context.Context, n *Node, list *corev1.PodList) {
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	read := 0
	for i := range list.Items {
		pod := &list.Items[i]
		node, failing := podNode(pod)
		if failing != nil && r.Logs != nil && read < maxLogs {
			read++
			node.LastLog = r.lastLine(ctx, pod, failing)
		}
		n.Children = append(n.Children, node)
	}
}

// podNode reports whether a pod works, and which of its containers does not, if one is to blame.
func podNode(pod *corev1.Pod) (n Node, failing *corev1.ContainerStatus) {
	n = Node{Kind: "Pod", Name: pod.Name, State: cmp.Or(pod.Status.Reason, string(pod.Status.Phase)), Reason: pod.Status.Message}
	var restarts int32
	for _, c := range pod.Status.Conditions {
		switch {
		case c.Type == corev1.PodReady:
			n.Done = c.Status == corev1.ConditionTrue
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse:
			n.State, n.Reason = cmp.Or(c.Reason, "Unschedulable"), c.Message
		}
	}
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	var reasons []string
	for i := range statuses {
		s := &statuses[i]
		restarts += s.RestartCount
		state, why := containerState(s)
		if n.Done || why == "" {
			continue
		}
		if failing == nil {
			failing, n.State = s, cmp.Or(state, n.State)
		}
		reasons = append(reasons, "container "+s.Name+" "+why)
	}
	if len(reasons) > 0 {
		n.Reason = strings.TrimPrefix(n.Reason+"\n"+strings.Join(reasons, "\n"), "\n")
	}
	if restarts > 0 {
		n.Detail = fmt.Sprintf("restarted %d times", restarts)
		if restarts == 1 {
			n.Detail = "restarted once"
		}
	}
	if !n.Done && n.Reason == "" {
		n.Reason = "it is not ready yet"
	}
	return n, failing
}

// containerState is the state of a container that does not work, and why; no reason is of one that does, or has done its work.
func containerState(s *corev1.ContainerStatus) (state, why string) {
	var parts []string
	switch {
	case s.State.Waiting != nil && s.State.Waiting.Reason != "PodInitializing":
		state = s.State.Waiting.Reason
		parts = append(parts, "waits: "+strings.TrimSuffix(state+": "+s.State.Waiting.Message, ": "))
	case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
		state = s.State.Terminated.Reason
		parts = append(parts, ended(s.State.Terminated))
	case s.State.Running != nil && !s.Ready && s.Started != nil:
		parts = append(parts, "runs, but its readiness probe does not succeed yet")
	}
	if last := s.LastTerminationState.Terminated; last != nil && len(parts) > 0 {
		parts = append(parts, "its last run "+ended(last))
		if last.Reason == "OOMKilled" {
			state = last.Reason
		}
	}
	return state, strings.Join(parts, "; ")
}

func ended(t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("ended with exit code %d", t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" {
		text += " (" + t.Reason + ")"
	}
	if t.Message != "" {
		text += ": " + messages.Line(messages.Redact(t.Message), maxLogLine)
	}
	return text
}

// lastLine is the last line of the log of a container, of the run before where it has none yet. A log that cannot be read is noted.
func (r *OperatorReader) lastLine(ctx context.Context, pod *corev1.Pod, s *corev1.ContainerStatus) string {
	ctx, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	var failed error
	for _, previous := range []bool{false, true} {
		if previous && s.LastTerminationState.Terminated == nil || !previous && s.State.Waiting != nil && s.RestartCount == 0 {
			continue
		}
		in, err := r.Logs(ctx, client.ObjectKeyFromObject(pod), s.Name, previous)
		if err != nil {
			failed = err
			continue
		}
		text, err := io.ReadAll(io.LimitReader(in, maxLogRead))
		_ = in.Close()
		if lines := strings.Fields(string(text)); err == nil && len(lines) > 0 {
			all := strings.Split(strings.TrimSpace(string(text)), "\n")
			return messages.Line(messages.Redact(all[len(all)-1]), maxLogLine)
		}
	}
	if failed != nil {
		r.note(fmt.Sprintf("the log of container %s of pod %s cannot be read: %s", s.Name, pod.Name, messages.Line(failed.Error(), maxLogLine)))
	}
	return ""
}
