package ops

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
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
	Children   []Node   `json:"children,omitempty"`
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
	only := Report{Namespace: r.Namespace, Notes: r.Notes}
	found := map[string]bool{}
	var has []string
	for _, n := range r.Objects {
		matched := false
		for _, name := range names {
			if n.called(name) {
				found[name], matched = true, true
			}
		}
		if matched {
			only.Objects = append(only.Objects, n)
		}
		has = append(has, n.Kind+" "+n.Name)
	}
	for _, name := range names {
		if !found[name] {
			return Report{}, fmt.Errorf("namespace %s has nothing with the name %s; it has %s", r.Namespace, name, safetext.List(has, maxNamed, ", "))
		}
	}
	return only, nil
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

// Write prints the report as a tree.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Namespace %s\n", r.Namespace)
	if len(r.Objects) == 0 {
		b.WriteString("└── no OperatorGroup, CatalogSource, Subscription, ClusterServiceVersion or ClusterExtension\n")
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
