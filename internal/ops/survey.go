package ops

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Survey is the state of the operators of all namespaces.
type Survey struct {
	// Catalogs are the ClusterCatalogs, which belong to no namespace.
	Catalogs []Node `json:"catalogs,omitempty"`
	// Namespaces are those with an operator, or with what asks for one, or with a CatalogSource.
	Namespaces []Report `json:"namespaces"`
	// Notes are what is left out, and why.
	Notes []string `json:"notes,omitempty"`
}

// InspectAll reads all namespaces, and returns the state of their operators, of both APIs.
func InspectAll(ctx context.Context, reader client.Reader) (Survey, error) {
	o, v1, note, err := readAll(ctx, reader)
	if err != nil {
		return Survey{}, err
	}
	s := Survey{Namespaces: []Report{}}
	if note != "" {
		s.Notes = append(s.Notes, note)
	}
	for i := range v1.catalogs {
		s.Catalogs = append(s.Catalogs, catalogNode(&v1.catalogs[i]))
	}
	for _, namespace := range o.namespaces(v1) {
		within, installed := o.in(namespace), v1.in(namespace)
		if err := within.deploymentsOf(ctx, reader, namespace, &installed); err != nil {
			return Survey{}, err
		}
		s.Namespaces = append(s.Namespaces, Report{Namespace: namespace, Objects: within.tree(namespace, &installed)})
	}
	return s, nil
}

// readAll reads what all namespaces hold, but for their Deployments.
func readAll(ctx context.Context, reader client.Reader) (*objects, *extensions, string, error) {
	o, err := readObjects(ctx, reader, "")
	if err != nil {
		return nil, nil, "", err
	}
	v1, note, err := readExtensions(ctx, reader, "")
	if err == nil && v1.unserved {
		err = o.unserved
	}
	return o, &v1, note, err
}

// namespaces are the names of those with an operator, or with what asks for one, or with a CatalogSource, in their order.
func (o *objects) namespaces(v1 *extensions) []string {
	seen := map[string]bool{}
	for i := range o.sources.Items {
		seen[o.sources.Items[i].Namespace] = true
	}
	for i := range o.subscriptions.Items {
		seen[o.subscriptions.Items[i].Namespace] = true
	}
	for i := range o.plans.Items {
		if p := &o.plans.Items[i]; p.IsHandWritten() {
			seen[p.Namespace] = true
		}
	}
	for i := range o.operators.Items {
		if csv := &o.operators.Items[i]; !csv.IsCopied() {
			seen[csv.Namespace] = true
		}
	}
	for i := range v1.extensions {
		seen[v1.extensions[i].Spec.Namespace] = true
	}
	var names []string
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// in is what one namespace holds, with the catalogs of other namespaces that its Subscriptions name.
func (o *objects) in(namespace string) *objects {
	within := &objects{}
	within.groups.Items = of(o.groups.Items, namespace)
	within.sources.Items = of(o.sources.Items, namespace)
	within.subscriptions.Items = of(o.subscriptions.Items, namespace)
	within.plans.Items = of(o.plans.Items, namespace)
	within.operators.Items = of(o.operators.Items, namespace)
	for _, ref := range within.elsewhere(namespace) {
		for i := range o.sources.Items {
			if client.ObjectKeyFromObject(&o.sources.Items[i]) == ref {
				within.sources.Items = append(within.sources.Items, o.sources.Items[i])
			}
		}
	}
	return within
}

// of are the objects of a namespace.
func of[T any, P interface {
	*T
	client.Object
}](all []T, namespace string) []T {
	var some []T
	for i := range all {
		if P(&all[i]).GetNamespace() == namespace {
			some = append(some, all[i])
		}
	}
	return some
}

// in are the extensions that install into a namespace. The catalogs belong to none.
func (e *extensions) in(namespace string) extensions {
	some := extensions{revisions: e.revisions}
	for i := range e.extensions {
		if e.extensions[i].Spec.Namespace == namespace {
			some.extensions = append(some.extensions, e.extensions[i])
		}
	}
	return some
}

// Done reports whether there is nothing left to do in any namespace.
func (s Survey) Done() bool {
	return allDone(s.Catalogs) && !slices.ContainsFunc(s.Namespaces, func(r Report) bool { return !r.Done() })
}

// Only returns the survey of the objects with some names, as that of a Report. A name that nothing has is an error.
func (s Survey) Only(names []string) (Survey, error) {
	if len(names) == 0 {
		return s, nil
	}
	only := Survey{Namespaces: []Report{}, Notes: s.Notes}
	found := map[string]bool{}
	for _, n := range s.Catalogs {
		if n.matches(names, found) {
			only.Catalogs = append(only.Catalogs, n)
		}
	}
	var has []string
	for _, r := range s.Namespaces {
		has = append(has, r.Namespace)
		if some := r.matching(names, found); len(some.Objects) > 0 {
			only.Namespaces = append(only.Namespaces, some)
		}
	}
	for _, name := range names {
		if !found[name] {
			return Survey{}, fmt.Errorf("no namespace has anything with the name %s; there are operators or catalogs in %s", name, safetext.List(has, maxNamed, ", "))
		}
	}
	return only, nil
}

// Write prints a tree for each namespace, the ClusterCatalogs first.
func (s Survey) Write(w io.Writer) error {
	var b strings.Builder
	all := slices.Clone(s.Catalogs)
	for _, r := range s.Namespaces {
		all = append(all, r.Objects...)
	}
	headlines(&b, all)
	if len(s.Catalogs) > 0 {
		b.WriteString("Cluster\n")
		write(&b, s.Catalogs, "")
	}
	for i, r := range s.Namespaces {
		if i > 0 || len(s.Catalogs) > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Namespace %s\n", r.Namespace)
		write(&b, r.Objects, "")
	}
	if len(s.Namespaces) == 0 {
		b.WriteString("no namespace has an operator or a CatalogSource; fairlead search lists what can be installed\n")
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
