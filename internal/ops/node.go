package ops

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"

	appsv1 "k8s.io/api/apps/v1"
)

// Node is an object and what belongs to it.
type Node struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"`
	// State is one word, in the terms of the object's own API.
	State string `json:"state,omitempty"`
	// Done is true when there is nothing left to do for the object.
	Done bool `json:"done"`
	// Reason says why it is not done, and what to do where a user has to do something.
	Reason string `json:"reason,omitempty"`
	// Signatures report who signed what the object is made of, or why the signature policy refuses it.
	Signatures []string `json:"signatures,omitempty"`
	// LastLog is the last line that a container of a pod has written which does not work, without credentials.
	LastLog  string             `json:"lastLog,omitempty"`
	Children []Node             `json:"children,omitempty"`
	of       *appsv1.Deployment // of the node of a Deployment; nil of others
}

// Report is the state of the operators of a namespace.
type Report struct {
	Namespace string `json:"namespace"`
	Objects   []Node `json:"objects"`
	// Notes are what the report leaves out, and why.
	Notes []string `json:"notes,omitempty"`
}

// Only returns the report of the objects with some names, and of what is below them. An object of the first level has the names of all that is
// below it as well: that of its package, its ClusterServiceVersion or its Deployment finds an operator. A name that nothing has is an error.
func (r Report) Only(names []string) (Report, error) {
	if len(names) == 0 {
		return r, nil
	}
	found := map[string]bool{}
	only := r.matching(names, found)
	var has []string
	for _, n := range r.Objects {
		has = append(has, n.Kind+" "+n.Name)
	}
	for _, name := range names {
		if !found[name] {
			return Report{}, fmt.Errorf("namespace %s has nothing with the name %s; it has %s; fairlead list -A lists what all namespaces have", r.Namespace, name,
				cmp.Or(safetext.List(has, maxNamed, ", "), "no operator and no catalog"))
		}
	}
	return only, nil
}

// matching is the report of the objects with some names, which are noted as found.
func (r Report) matching(names []string, found map[string]bool) Report {
	only := Report{Namespace: r.Namespace, Notes: r.Notes}
	for _, n := range r.Objects {
		if n.matches(names, found) {
			only.Objects = append(only.Objects, n)
		}
	}
	return only
}

// matches reports whether a node has one of some names, and notes which.
func (n Node) matches(names []string, found map[string]bool) bool {
	matched := false
	for _, name := range names {
		if n.called(name) {
			found[name], matched = true, true
		}
	}
	return matched
}

// maxNamed is how many objects are named where another one is asked for.
const maxNamed = 10

// called reports whether a node, its package or anything below it has a name.
func (n Node) called(name string) bool {
	return n.Name == name || strings.HasSuffix(n.Name, "/"+name) || strings.HasPrefix(n.Detail+",", "package "+name+",") ||
		slices.ContainsFunc(n.Children, func(child Node) bool { return child.called(name) })
}

// Done tells whether there is nothing left to do in the namespace.
func (r Report) Done() bool {
	return allDone(r.Objects)
}

func allDone(nodes []Node) bool {
	for _, n := range nodes {
		if !n.Done || !allDone(n.Children) {
			return false
		}
	}
	return true
}

// cause is the node that says why a node, or what is below it, is not done.
func (n Node) cause() Node {
	if n.Reason != "" {
		return n
	}
	for _, child := range n.Children {
		if !child.Done || !allDone(child.Children) {
			return child.cause()
		}
	}
	return n
}

// maxHeadline is how long the headline of a reason may be, in characters.
const maxHeadline = 160

// headline is the first line of a reason.
func headline(reason string) string {
	line, _, _ := strings.Cut(reason, "\n")
	return messages.Short(line, maxHeadline)
}

// headlines writes a line for each of the first objects that are not done, with the cause, before the tree that has all of it.
func headlines(b *strings.Builder, nodes []Node) {
	var lines []string
	for _, n := range nodes {
		if n.Done && allDone(n.Children) {
			continue
		}
		cause := n.cause()
		lines = append(lines, fmt.Sprintf("✗ %s %s: %s", n.Kind, n.Name, cmp.Or(headline(cause.Reason), cause.State, "not done")))
	}
	if len(lines) > 0 {
		b.WriteString(strings.Join(safetext.First(lines, maxNamed, "and %d more"), "\n") + "\n\n")
	}
}

// Write prints the report: a headline for what is not done, and all of it as a tree.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	headlines(&b, r.Objects)
	fmt.Fprintf(&b, "Namespace %s\n", r.Namespace)
	if len(r.Objects) == 0 {
		b.WriteString("└── no OperatorGroup, CatalogSource, Subscription, ClusterServiceVersion or ClusterExtension; fairlead list -A lists what all namespaces have\n")
	}
	write(&b, r.Objects, "")
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func write(b *strings.Builder, nodes []Node, indent string) {
	for i, n := range nodes {
		branch, below := "├── ", "│   "
		if i == len(nodes)-1 {
			branch, below = "└── ", "    "
		}
		mark := "✗"
		if n.Done {
			mark = "✓"
		}
		fmt.Fprintf(b, "%s%s%s %s %s", indent, branch, mark, n.Kind, n.Name)
		if n.Detail != "" {
			fmt.Fprintf(b, " (%s)", n.Detail)
		}
		if n.State != "" {
			b.WriteString(" " + n.State)
		}
		b.WriteString("\n")
		// What is said below the line of a node. What the reason says already is not said twice.
		var lines []string
		if n.Reason != "" {
			lines = append(lines, n.Reason)
		}
		for _, s := range n.Signatures {
			if !strings.Contains(n.Reason, s) {
				lines = append(lines, s)
			}
		}
		if n.LastLog != "" && !strings.Contains(n.Reason, n.LastLog) {
			lines = append(lines, "last log line: "+n.LastLog)
		}
		if text := strings.Join(lines, "\n"); text != "" {
			bar := "    "
			if len(n.Children) > 0 {
				bar = "│   "
			}
			fmt.Fprintf(b, "%s%s%s%s\n", indent, below, bar, strings.ReplaceAll(text, "\n", "\n"+indent+below+bar))
		}
		write(b, n.Children, indent+below)
	}
}
