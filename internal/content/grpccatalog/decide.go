package grpccatalog

import (
	"fmt"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// Situation is what is decided on.
type Situation struct {
	// Wanted is the pod that the catalog is to be served by.
	Wanted *corev1.Pod
	// Pods are all pods of the catalog.
	Pods []corev1.Pod
	// PollDue says that it is time to look for a new image. Who asked the registry and got no answer leaves it false: the next
	// pod could not be started either.
	PollDue bool
	// RegistryDigest is what the registry says that the image is now; empty is unknown, and then a poll runs the image to find out.
	RegistryDigest string
	// Verified says that a signature policy has accepted the image of Wanted. Whether it accepts another image is unknown, so that a pod of
	// another image is deleted instead of serving until its successor is ready.
	Verified bool
	// Now keeps pods that die at once from being replaced at once.
	Now time.Time
}

// Verb is what is done with a pod.
type Verb string

// Verbs.
const (
	// Create runs another pod.
	Create Verb = "create"
	// Promote makes the pod of an update serve.
	Promote Verb = "promote"
	// Delete ends a pod.
	Delete Verb = "delete"
	// Annotate records what a pod was found to run.
	Annotate Verb = "annotate"
)

// Action is one thing to do. Actions are done in order.
type Action struct {
	Verb Verb
	Pod  *corev1.Pod
	// Grace is how many seconds a deleted pod gets.
	Grace int64
	// Why is for people.
	Why string
}

// Decision is what is to be done, and what can be said about the catalog meanwhile.
type Decision struct {
	Actions []Action
	// Serving is the pod that answers, or is the first that will; nil when there is none.
	Serving *corev1.Pod
	// Ready says that a pod answers: Serving.
	Ready bool
	// Current says that Serving is of the wanted spec, and not a pod of an earlier one that serves until its successor is ready.
	Current bool
	// Waiting says what the wanted state still lacks; empty is nothing. A pod of an earlier spec may serve meanwhile.
	Waiting string
	// Failing says that no pod answers, and that the one that is waited for has failed, as Waiting tells.
	Failing bool
	// Problem says why an update failed; empty is no failure.
	Problem string
	// Polled says that the poll that was due took place.
	Polled bool
	// Again is when to look again without an event; 0 is not.
	Again time.Duration
}

// Seconds that pods get to end. A pod that is dead gets none, because there may be no node any more to confirm its end.
const (
	graceDead     = 0
	graceReplaced = 1
)

// youngDeath is the age at which the death of a pod does not delay its successor any more.
const youngDeath = 10 * time.Second

// Decide says what is to be done about the pods of a catalog.
//
// A pod that is replaced keeps serving until its successor answers, so that a catalog whose new image cannot be started keeps its
// last good content. Under a signature policy only a pod of the same image does: no other one is known to be accepted.
func Decide(s Situation) Decision {
	// Judge the pods.
	var in inventory
	for i := range s.Pods {
		p := &s.Pods[i]
		switch {
		case p.DeletionTimestamp != nil:
		case p.Labels[v1alpha1.CatalogSourceLabel] == "" && p.Labels[v1alpha1.CatalogSourceUpdateLabel] == s.Wanted.Labels[v1alpha1.CatalogSourceLabel]:
			in.updates = append(in.updates, p)
		case p.Labels[v1alpha1.CatalogSourceLabel] != s.Wanted.Labels[v1alpha1.CatalogSourceLabel]:
		case isDead(p):
			in.dead = append(in.dead, p)
		case IsCurrent(p, s.Wanted):
			in.current = append(in.current, p)
		default:
			in.outdated = append(in.outdated, p)
		}
	}
	for _, list := range [][]*corev1.Pod{in.current, in.outdated, in.dead, in.updates} {
		slices.SortFunc(list, newer)
	}
	d := &Decision{}
	in.current = d.settleUpdate(s, in)
	d.choose(s, in)
	held := d.bury(s, in)
	switch {
	case held:
	case len(in.current) == 0:
		// Run the wanted pod. It finds the newest image by itself, so that a poll that is due has taken place
		why := "the catalog has no pod"
		if len(in.outdated) > 0 {
			why = "the pod that there is, is of an earlier spec"
		} else if len(in.dead) > 0 {
			why = "the pod that there was is dead"
		}
		p := s.Wanted.DeepCopy()
		p.Name = nameFor(p, s.Pods, "serve")
		d.add(Create, p, 0, why)
		d.Polled = s.PollDue
		d.Waiting = fmt.Sprintf("pod %s is being started", p.Name)
		if d.Serving == nil {
			d.Serving, d.Current = p, true
		}
	case s.PollDue:
		d.poll(s, in)
	}
	return *d
}

func (d *Decision) add(verb Verb, p *corev1.Pod, grace int64, why string) {
	d.Actions = append(d.Actions, Action{Verb: verb, Pod: p, Grace: grace, Why: why})
}

// choose picks the pod that serves, and ends the others.
func (d *Decision) choose(s Situation, in inventory) {
	chosen := first(in.current)
	d.Ready = chosen != nil && isReady(chosen)
	wait := handingOver(chosen, s.Now)
	for _, p := range in.current {
		if p != chosen && !d.keep(s, p, wait) {
			d.add(Delete, p, graceReplaced, "another pod serves the same")
		}
	}
	var last *corev1.Pod
	if !d.Ready {
		last = first(in.outdated)
		if last != nil && (!isReady(last) || s.Verified && sourceImage(last) != sourceImage(s.Wanted)) {
			last = nil
		}
	}
	for _, p := range in.outdated {
		if p != last && !d.keep(s, p, wait) {
			d.add(Delete, p, graceReplaced, "it is of an earlier spec")
		}
	}
	d.Serving, d.Current = chosen, chosen != nil
	if chosen != nil && !d.Ready {
		d.Waiting = fmt.Sprintf("pod %s is not ready: %s", chosen.Name, words(chosen))
		d.Failing = isFailing(chosen) && last == nil
	}
	if last != nil {
		d.Serving, d.Ready, d.Current = last, true, false
	}
}

// handOver is how long a pod that was replaced continues to serve beside the one that replaces it: nodes hear of a change of a Service late, a second or two as a
// rule, and send clients to the pod from before until then.
const handOver = 5 * time.Second

// handingOver is how long the pods from before are still needed beside the one that serves; 0 is no longer.
func handingOver(serving *corev1.Pod, now time.Time) time.Duration {
	if serving == nil {
		return 0
	}
	since, err := time.Parse(time.RFC3339, serving.Annotations[promotedAnnotation])
	if err != nil {
		since = time.Time{} // one that cannot be read is none
	}
	c := condition(serving, corev1.PodReady)
	if c == nil {
		return 0
	}
	if c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime.Time
	}
	if wait := since.Add(handOver).Sub(now); !since.IsZero() && wait > 0 && wait <= 2*handOver { // a clock that is far ahead is not waited for
		return wait
	}
	return 0
}

// keep lets a pod that was replaced and answers serve while others are sent to it. A signature policy that may not accept its image does not wait.
func (d *Decision) keep(s Situation, replaced *corev1.Pod, wait time.Duration) bool {
	if wait == 0 || !isReady(replaced) || s.Verified && sourceImage(replaced) != sourceImage(s.Wanted) {
		return false
	}
	if d.Again == 0 || wait < d.Again {
		d.Again = wait
	}
	return true
}

// bury deletes what is dead. A pod that died young is kept for a while, and holds its successor up: what killed it, such as a node that
// takes no pods, may still be there.
func (d *Decision) bury(s Situation, in inventory) (held bool) {
	for i, p := range in.dead {
		if wait := p.CreationTimestamp.Add(youngDeath).Sub(s.Now); i == 0 && len(in.current) == 0 && wait > 0 {
			d.Waiting = fmt.Sprintf("pod %s died as soon as it was started: %s; another one is started in %s", p.Name, words(p), wait.Round(time.Second))
			d.Again, held, d.Failing = wait, true, !d.Ready
			continue
		}
		d.add(Delete, p, graceDead, words(p))
	}
	return held
}

// first is the newest pod that answers, or else the newest.
func first(pods []*corev1.Pod) *corev1.Pod {
	if i := slices.IndexFunc(pods, isReady); i >= 0 {
		return pods[i]
	}
	if len(pods) > 0 {
		return pods[0]
	}
	return nil
}

// nameFor names a pod after what it is for and what there is already.
func nameFor(p *corev1.Pod, there []corev1.Pod, purpose string) string {
	different := []string{purpose, p.Labels[v1alpha1.PodSpecHashLabel]}
	for _, o := range p.OwnerReferences {
		different = append(different, string(o.UID))
	}
	var uids []string
	for i := range there {
		uids = append(uids, string(there[i].UID))
	}
	slices.Sort(uids)
	return podName(p.GenerateName, append(different, uids...)...)
}
