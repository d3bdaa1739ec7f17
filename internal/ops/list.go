package ops

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Listed is an operator that is installed, or asked for.
type Listed struct {
	Namespace string `json:"namespace"`
	// Kind and Name are the object that it is known by: a Subscription, a ClusterServiceVersion without one, or a ClusterExtension.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// API is v0 or v1.
	API     string `json:"api"`
	Package string `json:"package,omitempty"`
	// Version is the one that is installed; empty for none.
	Version string `json:"version,omitempty"`
	// Channel is what is followed; of a ClusterExtension there may be several, or none for all.
	Channel string `json:"channel,omitempty"`
	// Done: it is as it is asked for, and works. Otherwise State and Reason are the first cause, as status shows it.
	Done   bool   `json:"done"`
	State  string `json:"state,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// States of an operator, as lists are filtered by them.
const (
	Works = "works"
	// Fails is of what is not as it is asked for.
	Fails = "fails"
	// Waits is of what continues when a person approves its InstallPlan, or the permissions that it asks for.
	Waits = "waits"
)

// Standing is one of the states above.
func (l Listed) Standing() string {
	switch {
	case l.Done:
		return Works
	case l.API == "v1":
		if _, asked := revision.AskedPermissions(l.Reason); asked {
			return Waits
		}
	case l.State == string(v1alpha1.InstallPlanPhaseRequiresApproval):
		return Waits
	}
	return Fails
}

// Listing is what is installed.
type Listing struct {
	Operators []Listed `json:"operators"`
	// Notes are what is left out, and why.
	Notes []string `json:"notes,omitempty"`
}

// List lists the operators of a namespace, or of all when it is empty, of both APIs. Copied ClusterServiceVersions are none.
func List(ctx context.Context, reader client.Reader, namespace string) (Listing, error) {
	l := Listing{Operators: []Listed{}}
	add := func(namespace string, o *objects, v1 *extensions) error {
		if err := o.deploymentsOf(ctx, reader, namespace, v1); err != nil {
			return err
		}
		l.Operators = append(append(l.Operators, o.listed(namespace)...), v1.listed()...)
		return nil
	}
	if namespace != "" {
		o, err := readObjects(ctx, reader, namespace)
		if err != nil {
			return l, err
		}
		v1, note, err := readExtensions(ctx, reader, namespace)
		if err == nil && v1.unserved {
			err = o.unserved
		}
		if err != nil {
			return l, err
		}
		if note != "" {
			l.Notes = append(l.Notes, note)
		}
		if err := add(namespace, o, &v1); err != nil || len(l.Operators) > 0 {
			return l, err
		}
		return l, Absent(ctx, reader, namespace)
	}
	o, v1, note, err := readAll(ctx, reader)
	if err != nil {
		return l, err
	}
	if note != "" {
		l.Notes = append(l.Notes, note)
	}
	for _, name := range o.namespaces(v1) {
		installed := v1.in(name)
		if err := add(name, o.in(name), &installed); err != nil {
			return l, err
		}
	}
	return l, nil
}

// listed are the operators of the v0 API, by Subscription, and those that have none.
func (o *objects) listed(namespace string) []Listed {
	var all []Listed
	shown := map[string]bool{}
	for i := range o.subscriptions.Items {
		sub := &o.subscriptions.Items[i]
		l := Listed{Namespace: namespace, Kind: v1alpha1.SubscriptionKind, Name: sub.Name, API: "v0", Version: o.version(sub.Status.InstalledCSV)}
		if sub.Spec != nil {
			l.Package, l.Channel = sub.Spec.Package, sub.Spec.Channel
		}
		all = append(all, l.judged(o.subscription(sub, shown)))
	}
	for i := range o.operators.Items {
		if csv := &o.operators.Items[i]; !shown[csv.Name] && !csv.IsCopied() {
			l := Listed{Namespace: namespace, Kind: v1alpha1.ClusterServiceVersionKind, Name: csv.Name, API: "v0", Version: o.version(csv.Name)}
			all = append(all, l.judged(o.operator(csv)))
		}
	}
	return all
}

// version is that of a ClusterServiceVersion; its name where it says none, and empty where there is none, or only a copy.
func (o *objects) version(name string) string {
	for i := range o.operators.Items {
		if csv := &o.operators.Items[i]; csv.Name == name && !csv.IsCopied() {
			return spokenVersion(csv)
		}
	}
	return ""
}

// listed are the operators of the v1 API.
func (e *extensions) listed() []Listed {
	var all []Listed
	for i := range e.extensions {
		x := &e.extensions[i]
		l := Listed{Namespace: x.Spec.Namespace, Kind: olmv1.ClusterExtensionKind, Name: x.Name, API: "v1", Version: arrivalOf(x).Version}
		if c := x.Spec.Source.Catalog; c != nil {
			l.Package, l.Channel = c.PackageName, strings.Join(c.Channels, ",")
		}
		all = append(all, l.judged(e.extension(x)))
	}
	return all
}

// judged says how an operator is, as the tree of its object does.
func (l Listed) judged(n Node) Listed {
	l.Done, l.State = n.Done && allDone(n.Children), n.State
	if l.Reason = n.Reason; !l.Done {
		n = n.cause()
		l.State, l.Reason = n.State, n.Reason
	}
	return l
}

// Done reports whether all operators work as they are asked for.
func (l Listing) Done() bool {
	return !slices.ContainsFunc(l.Operators, func(o Listed) bool { return !o.Done })
}

// Write prints a table. The reason is its first line.
func (l Listing) Write(w io.Writer) error {
	rows := [][]string{{"NAMESPACE", "NAME", "API", "PACKAGE", "VERSION", "CHANNEL", "STATUS"}}
	for _, o := range l.Operators {
		status := "✓"
		if !o.Done {
			status = "✗"
		}
		if text := cmp.Or(headline(o.Reason), o.State); text != "" {
			status += " " + text
		}
		rows = append(rows, []string{o.Namespace, o.Name, o.API, o.Package, o.Version, o.Channel, status})
	}
	text := messages.Table(rows...)
	if len(l.Operators) == 0 {
		text = "no operator is installed or asked for; fairlead search lists what can be installed\n"
	}
	for _, note := range l.Notes {
		text += "note: " + note + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
