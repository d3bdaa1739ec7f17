package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/messages"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Event is what happened to an object.
type Event struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Type is Normal or Warning.
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int32     `json:"count"`
	Last    time.Time `json:"last"`
}

// Bounds of events.
const (
	maxEvents     = 40
	eventPage     = 500
	maxEventPages = 4 // of a namespace that are read
	maxEventText  = 500
)

// clusterEvents is the namespace of events about objects that have none.
const clusterEvents = "default"

// happening are the events of a namespace.
type happening struct {
	namespace string
	events    []corev1.Event
	more      bool // that are not read
	err       error
}

// happened reads the events of the namespaces of the operator.
func (r *OperatorReader) happened(ctx context.Context) []happening {
	all := []happening{{namespace: r.out.Namespace}}
	if r.out.API == "v1" && r.out.Namespace != clusterEvents {
		all = append(all, happening{namespace: clusterEvents})
	}
	together(len(all), func(i int) error {
		all[i].read(ctx, r.Reader)
		return nil
	})
	return all
}

func (h *happening) read(ctx context.Context, reader client.Reader) {
	next := ""
	for range maxEventPages {
		var list corev1.EventList
		if h.err = reader.List(ctx, &list, client.InNamespace(h.namespace), client.Limit(eventPage), client.Continue(next)); h.err != nil {
			return
		}
		h.events = append(h.events, list.Items...)
		if next = list.Continue; next == "" {
			return
		}
	}
	h.more = true
}

// events are those of the operator's objects, the newest first.
func (r *OperatorReader) events(all []happening) error {
	about := map[[2]string]bool{}
	var deployments []string
	var walk func(n *Node)
	walk = func(n *Node) {
		about[[2]string{n.Kind, n.Name}] = true
		if n.Kind == "Deployment" {
			deployments = append(deployments, n.Name+"-")
		}
		for i := range n.Children {
			walk(&n.Children[i])
		}
	}
	walk(&r.out.Tree)
	for _, ref := range r.held.Goes {
		about[[2]string{ref.Kind, ref.Name}] = true
	}
	mine := func(o corev1.ObjectReference) bool {
		return about[[2]string{o.Kind, o.Name}] || o.Kind == "ReplicaSet" && slices.ContainsFunc(deployments, func(prefix string) bool { return strings.HasPrefix(o.Name, prefix) })
	}
	for _, in := range all {
		if err := r.eventsIn(in, mine); err != nil {
			return err
		}
	}
	slices.SortFunc(r.out.Events, func(a, b Event) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reason, b.Reason))
	})
	if n := len(r.out.Events); n > maxEvents {
		r.out.Events, r.out.MoreEvents = r.out.Events[:maxEvents], n-maxEvents
	}
	return nil
}

func (r *OperatorReader) eventsIn(in happening, mine func(corev1.ObjectReference) bool) error {
	if _, err := r.listed(in.err, "events of namespace "+in.namespace, "what happened is not shown"); err != nil {
		return err
	}
	for i := range in.events {
		e := &in.events[i]
		// Objects of the cluster are told apart by having no namespace.
		if !mine(e.InvolvedObject) || in.namespace != r.out.Namespace && e.InvolvedObject.Namespace != "" {
			continue
		}
		r.out.Events = append(r.out.Events, Event{Kind: e.InvolvedObject.Kind, Name: e.InvolvedObject.Name, Type: e.Type, Reason: e.Reason,
			Message: messages.Line(messages.Redact(e.Message), maxEventText), Count: max(1, e.Count, seriesCount(e)), Last: lastSeen(e)})
	}
	if in.more {
		r.note(fmt.Sprintf("namespace %s has more than %d events: the others are not read", in.namespace, maxEventPages*eventPage))
	}
	return nil
}

func seriesCount(e *corev1.Event) int32 {
	if e.Series == nil {
		return 0
	}
	return e.Series.Count
}

// lastSeen is when an event was seen last: new and old clients write other fields.
func lastSeen(e *corev1.Event) time.Time {
	last := e.CreationTimestamp.Time
	for _, t := range []time.Time{e.FirstTimestamp.Time, e.LastTimestamp.Time, e.EventTime.Time} {
		if t.After(last) {
			last = t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	return last
}
