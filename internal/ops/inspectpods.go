package ops

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Bounds of what an overview shows of pods: it has many operators, and a command that prints it must not take long because all of them fail.
const (
	fewPods   = 3  // of a Deployment
	maxFaulty = 10 // Deployments whose pods are read
)

// ReadPods puts the pods of Deployments that are not done below them, with why they do not work and, of those whose container fails, the last line of its log.
// Where all is done nothing is read. What the user may not read is noted.
func (r *Report) ReadPods(ctx context.Context, reader client.Reader, logs Logs) error {
	var faulty []*Node
	for i := range r.Objects {
		faulty = append(faulty, r.Objects[i].faulty()...)
	}
	return readPods(ctx, reader, logs, faulty, &r.Notes)
}

// ReadPods does so for all namespaces.
func (s *Survey) ReadPods(ctx context.Context, reader client.Reader, logs Logs) error {
	var faulty []*Node
	for i := range s.Namespaces {
		for j := range s.Namespaces[i].Objects {
			faulty = append(faulty, s.Namespaces[i].Objects[j].faulty()...)
		}
	}
	return readPods(ctx, reader, logs, faulty, &s.Notes)
}

// faulty are the Deployments below a node that are not done.
func (n *Node) faulty() []*Node {
	return slices.DeleteFunc(n.below("Deployment"), func(d *Node) bool { return d.Done })
}

func readPods(ctx context.Context, reader client.Reader, logs Logs, faulty []*Node, notes *[]string) error {
	note := func(text string) {
		if !slices.Contains(*notes, text) {
			*notes = append(*notes, text)
		}
	}
	if more := len(faulty) - maxFaulty; more > 0 {
		faulty = faulty[:maxFaulty]
		note(fmt.Sprintf("the pods of %d more Deployments that are not available are not shown: fairlead status NAME shows those of one operator", more))
	}
	return podReader{reader, logs, note, fewPods}.add(ctx, faulty)
}
