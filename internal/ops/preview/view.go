package preview

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// defaultNamespace is decided on when nothing says which one.
const defaultNamespace = "default"

// namespace is the one that all objects with a namespace are in, catalogs aside.
func (o *Objects) namespace() (string, error) {
	var names []string
	note := func(object client.Object) {
		if name := object.GetNamespace(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range o.Subscriptions {
		note(&o.Subscriptions[i])
	}
	for i := range o.Operators {
		note(&o.Operators[i])
	}
	for i := range o.Groups {
		note(&o.Groups[i])
	}
	if len(names) > 1 {
		slices.Sort(names)
		return "", fmt.Errorf("the objects are of namespaces %s: choose one with --namespace", strings.Join(names, ", "))
	}
	return strings.Join(append(names, defaultNamespace)[:1], ""), nil
}

// view is what the controllers would see of a namespace, but for its catalogs. Objects without namespace are taken to be in it.
func (o *Objects) view(namespace string) (*snapshot.Namespace, error) {
	n := &snapshot.Namespace{Name: namespace}
	within := func(object client.Object) bool {
		name := object.GetNamespace()
		return (name == "" || name == namespace) && object.GetDeletionTimestamp().IsZero()
	}
	for _, sub := range o.Subscriptions {
		if sub.Spec == nil {
			return nil, fmt.Errorf("read Subscription %s: it has no spec; say there which package it asks for", sub.Name)
		}
		field := ""
		switch "" { // what a Subscription has to have
		case sub.Spec.Package:
			field = "spec.name"
		case sub.Spec.CatalogSource:
			field = "spec.source"
		case sub.Spec.CatalogSourceNamespace:
			field = "spec.sourceNamespace"
		}
		if field != "" {
			return nil, fmt.Errorf("read Subscription %s: %s is missing, and no cluster accepts a Subscription without it; add it", messages.Clean(sub.Name), field)
		}
		if within(&sub) {
			n.Subscriptions = append(n.Subscriptions, sub)
		}
	}
	for _, csv := range o.Operators {
		if (csv.Namespace == "" || csv.Namespace == namespace) && !csv.IsCopied() {
			n.Operators = append(n.Operators, csv)
		}
	}
	for _, p := range o.Plans {
		if within(&p) {
			n.Plans = append(n.Plans, p)
		}
	}
	for _, g := range o.Groups {
		if g.Namespace == "" || g.Namespace == namespace {
			n.Groups = append(n.Groups, g)
		}
	}
	slices.SortFunc(n.Subscriptions, func(a, b v1alpha1.Subscription) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(n.Operators, func(a, b v1alpha1.ClusterServiceVersion) int { return cmp.Compare(a.Name, b.Name) })
	return n, errors.Join(
		twice(n.Subscriptions, v1alpha1.SubscriptionKind, func(s v1alpha1.Subscription) string { return s.Name }),
		twice(n.Operators, v1alpha1.ClusterServiceVersionKind, func(c v1alpha1.ClusterServiceVersion) string { return c.Name }))
}

// twice refuses two objects of one name, of which no one knows which one is meant. The list is sorted by name.
func twice[T any](list []T, kind string, name func(T) string) error {
	for i := 1; i < len(list); i++ {
		if name(list[i]) == name(list[i-1]) {
			return fmt.Errorf("%s %s is given more than once: leave one out", kind, name(list[i]))
		}
	}
	return nil
}

// Install adds operators that are said to be installed: those that say nothing of their phase run.
func (o *Objects) Install(operators []v1alpha1.ClusterServiceVersion) {
	for _, csv := range operators {
		csv.Status.Phase = cmp.Or(csv.Status.Phase, v1alpha1.CSVPhaseSucceeded)
		o.Operators = append(o.Operators, csv)
	}
}

// Others names the objects that are no ClusterServiceVersions.
func (o *Objects) Others() []string {
	others := slices.Clone(o.Ignored)
	note := func(kind, name string) { others = append(others, kind+" "+name) }
	for i := range o.Subscriptions {
		note(v1alpha1.SubscriptionKind, o.Subscriptions[i].Name)
	}
	for i := range o.Plans {
		note(v1alpha1.InstallPlanKind, o.Plans[i].Name)
	}
	for i := range o.Groups {
		note(operatorsv1.OperatorGroupKind, o.Groups[i].Name)
	}
	for i := range o.Sources {
		note(v1alpha1.CatalogSourceKind, o.Sources[i].Name)
	}
	for i := range o.ConfigMaps {
		note("ConfigMap", o.ConfigMaps[i].Name)
	}
	return others
}

// Unread names the objects that no decision is about: those of other kinds, and ConfigMaps that no CatalogSource names.
func (o *Objects) Unread() []string {
	unread := slices.Clone(o.Ignored)
	for i := range o.ConfigMaps {
		name := o.ConfigMaps[i].Name
		if !slices.ContainsFunc(o.Sources, func(s v1alpha1.CatalogSource) bool { return s.Spec.ConfigMap == name }) {
			unread = append(unread, "ConfigMap "+name)
		}
	}
	return unread
}
