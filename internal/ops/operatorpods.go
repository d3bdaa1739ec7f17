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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Logs opens the end of the log of a container, or of the one before it.
type Logs = func(ctx context.Context, pod client.ObjectKey, container string, previous bool) (io.ReadCloser, error)

// podReader adds pods to Deployments of a tree, with why they do not work, as its user.
type podReader struct {
	client.Reader
	logs Logs // nil reads none
	note func(text string)
	most int // pods of a Deployment that are shown, those that do not work before the others
}

// pods adds the pods of the Deployments of the tree.
func (r *OperatorReader) pods(ctx context.Context) error {
	return podReader{r.Reader, r.Logs, r.note, maxPods}.add(ctx, r.out.Tree.below("Deployment"))
}

// add adds the pods of some Deployments. Those that may not be listed are noted.
func (r podReader) add(ctx context.Context, deployments []*Node) error {
	var nodes []*Node
	var lists []reading
	for _, n := range deployments {
		selector, err := metav1.LabelSelectorAsSelector(n.of.Spec.Selector)
		if err != nil || selector.Empty() {
			continue // which the API server lets no Deployment have
		}
		nodes = append(nodes, n)
		lists = append(lists, reading{"pods of namespace " + n.of.Namespace, "why a Deployment does not become available is not shown", &corev1.PodList{},
			[]client.ListOption{client.InNamespace(n.of.Namespace), client.MatchingLabelsSelector{Selector: selector}, client.Limit(maxPods)}})
	}
	if _, err := readLists(ctx, r.Reader, r.note, lists...); err != nil {
		return err
	}
	var all []logged
	for i, n := range nodes {
		all = append(all, r.below(n, lists[i].list.(*corev1.PodList))...)
	}
	r.lastLines(ctx, all)
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

// logged is the node of a pod whose container does not work, so that its log is read.
type logged struct {
	node    *Node
	pod     *corev1.Pod
	failing *corev1.ContainerStatus
}

// below puts the pods of a Deployment below it, and returns those whose logs are to be read.
func (r podReader) below(n *Node, list *corev1.PodList) (all []logged) {
	pods := list.Items
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	if more := len(pods) - r.most; more > 0 {
		faults := func(pod *corev1.Pod) int {
			if node, _ := podNode(pod); node.Done {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return faults(&a) - faults(&b) })
		pods = pods[:r.most]
		r.note(fmt.Sprintf("%d of the pods of Deployment %s are not shown: kubectl get pods -n %s lists them", more, n.Name, n.of.Namespace))
	}
	n.Children = make([]Node, len(pods))
	for i := range pods {
		var failing *corev1.ContainerStatus
		if n.Children[i], failing = podNode(&pods[i]); failing != nil && r.logs != nil && len(all) < maxLogs {
			all = append(all, logged{&n.Children[i], &pods[i], failing})
		}
	}
	return all
}

// lastLines reads the last lines of logs, at once. Those that cannot be read are noted, those that the user may not read once for a namespace.
func (r podReader) lastLines(ctx context.Context, all []logged) {
	failed := together(len(all), func(i int) (err error) {
		all[i].node.LastLog, err = r.lastLine(ctx, all[i].pod, all[i].failing)
		return err
	})
	for i, err := range failed {
		switch l := all[i]; {
		case apierrors.IsForbidden(err):
			r.note(messages.Unseen(err, "logs of pods of namespace "+l.pod.Namespace, "their last lines are not shown"))
		case err != nil:
			r.note(fmt.Sprintf("the log of container %s of pod %s cannot be read: %s", l.failing.Name, l.pod.Name, messages.Line(err.Error(), maxLogLine)))
		}
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
		text += ": " + messages.Line(messages.Redact(messages.LastWords(t.Message)), maxLogLine)
	}
	return text
}

// lastLine is the last line of the log of a container, of the run before where it has none yet.
func (r podReader) lastLine(ctx context.Context, pod *corev1.Pod, s *corev1.ContainerStatus) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	var failed error
	for _, previous := range []bool{false, true} {
		if previous && s.LastTerminationState.Terminated == nil || !previous && s.State.Waiting != nil && s.RestartCount == 0 {
			continue
		}
		in, err := r.logs(ctx, client.ObjectKeyFromObject(pod), s.Name, previous)
		if err != nil {
			failed = err
			continue
		}
		text, err := io.ReadAll(io.LimitReader(in, maxLogRead))
		_ = in.Close()
		if line := messages.LastWords(string(text)); err == nil && line != "" {
			return messages.Line(messages.Redact(line), maxLogLine), nil
		}
	}
	return "", failed
}
