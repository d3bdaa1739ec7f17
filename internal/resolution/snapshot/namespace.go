package snapshot

import (
	"fmt"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"

	"github.com/blang/semver/v4"
)

// Annotations on an OperatorGroup that say how its namespace is decided on; their value is "true".
const (
	// TogetherAnnotation asks for one decision, and one plan, for all Subscriptions of the namespace.
	TogetherAnnotation = "operators.fairlead.dev/resolve-together"
	// AnyCatalogAnnotation lets operators move to versions from other catalogs in view when their own has no upgrade for them.
	AnyCatalogAnnotation = "operators.fairlead.dev/upgrade-from-any-catalog"
)

// Namespace is what was seen of a namespace. Copied ClusterServiceVersions are no part of it.
type Namespace struct {
	Name          string
	Subscriptions []v1alpha1.Subscription // with a spec, and not being deleted
	Operators     []v1alpha1.ClusterServiceVersion
	Plans         []v1alpha1.InstallPlan // those that are not being deleted
	Groups        []operatorsv1.OperatorGroup
	Sources       []Source
	Kubernetes    semver.Version // of the cluster; zero when it is not known
}

// Source is a CatalogSource in view of the namespace and what is served of it.
type Source struct {
	Object v1alpha1.CatalogSource
	Served catalogstore.Entry
}

// Ref names the catalog.
func (s Source) Ref() catalog.Ref {
	return catalog.Ref{Namespace: s.Object.Namespace, Name: s.Object.Name}
}

// Healthy catalogs have content to offer, be it the last good one.
func (s Source) Healthy() bool { return s.Served.Index != nil }

// Loading catalogs are new, or have not been read yet since the manager started: what they have is not known, and nothing is wrong.
func (s Source) Loading() bool { return s.Served.Index == nil && s.Served.Problem == "" }

// Subscription finds a Subscription by name; an empty one when there is none.
func (n *Namespace) Subscription(name string) *v1alpha1.Subscription {
	for i := range n.Subscriptions {
		if n.Subscriptions[i].Name == name {
			return &n.Subscriptions[i]
		}
	}
	return &v1alpha1.Subscription{}
}

// Operator finds a ClusterServiceVersion by name, or returns nil.
func (n *Namespace) Operator(name string) *v1alpha1.ClusterServiceVersion {
	for i := range n.Operators {
		if name != "" && n.Operators[i].Name == name {
			return &n.Operators[i]
		}
	}
	return nil
}

// Source finds a catalog in view, or returns nil.
func (n *Namespace) Source(ref catalog.Ref) *Source {
	for i := range n.Sources {
		if n.Sources[i].Ref() == ref {
			return &n.Sources[i]
		}
	}
	return nil
}

// Annotated tells whether the namespace's only OperatorGroup has an annotation with the value "true".
func (n *Namespace) Annotated(key string) bool {
	return len(n.Groups) == 1 && n.Groups[0].Annotations[key] == "true"
}

// Misread tells which annotations of the OperatorGroup have a value that is neither yes nor no, so that they say nothing.
func (n *Namespace) Misread() []string {
	if len(n.Groups) != 1 {
		return nil
	}
	var notes []string
	for _, key := range []string{TogetherAnnotation, AnyCatalogAnnotation, v1alpha1.ExcludeGlobalNamespaceAnnotation} {
		if value, there := n.Groups[0].Annotations[key]; there && value != "true" && value != "false" {
			notes = append(notes, fmt.Sprintf("annotation %s of OperatorGroup %s has the value %q and is taken for \"false\": write \"true\", or take it away", key, n.Groups[0].Name, value))
		}
	}
	return notes
}
