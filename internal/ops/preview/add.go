package preview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newSubscription is named after its package, with a number when the name is taken.
func newSubscription(n *snapshot.Namespace, ref catalog.Ref, spec v1alpha1.SubscriptionSpec) *v1alpha1.Subscription {
	spec.CatalogSource, spec.CatalogSourceNamespace = ref.Name, ref.Namespace
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: n.Name, Name: spec.Package}, Spec: &spec}
	for i := 2; n.Subscription(sub.Name).Name != ""; i++ {
		sub.Name = fmt.Sprintf("%s-%d", spec.Package, i)
	}
	return sub
}

// catalogOf is the catalog to subscribe to when none is named.
func catalogOf(pkg string, n *snapshot.Namespace) (catalog.Ref, error) {
	var have, all []string
	var ref catalog.Ref
	for _, s := range n.Sources {
		all = append(all, s.Ref().String())
		if s.Healthy() {
			if _, ok := s.Served.Index.Package(pkg); ok {
				have, ref = append(have, s.Ref().String()), s.Ref()
			}
		}
	}
	switch {
	case len(have) == 1:
		return ref, nil
	case len(have) > 1:
		return ref, fmt.Errorf("subscribe to package %s: catalogs %s have it; choose one: %s%%%s", pkg, strings.Join(have, ", "), pkg, have[0])
	case len(n.Sources) == 1:
		return n.Sources[0].Ref(), nil // which has no such package: the decision says so, and what to do
	case len(all) == 0:
		return ref, fmt.Errorf("subscribe to package %s: there is no catalog in view of namespace %s; name one with --catalog", pkg, n.Name)
	}
	return ref, fmt.Errorf("subscribe to package %s: none of the catalogs %s has it; correct its name", pkg, strings.Join(all, ", "))
}

// install adds an operator that runs, as its bundle in a catalog describes it.
func (q *Question) install(i Installed, n *snapshot.Namespace) error {
	if n.Operator(i.Name) != nil {
		return fmt.Errorf("add installed operator %s: it is there already; leave it out", i.Name)
	}
	ref := catalog.Ref{}
	if i.Channel != "" {
		ref = q.place(i.Catalog, n)
		if s := n.Source(ref); s == nil {
			return fmt.Errorf("add installed operator %s: there is no catalog %s in view; name it with --catalog", i.Name, ref)
		}
	}
	bundle, err := findBundle(i.Name, ref, n)
	if err != nil {
		return err
	}
	// Refuse a second operator of a package, which no namespace has.
	in, _ := n.Input()
	for _, o := range in.Operators {
		if o.Package == bundle.Package {
			return fmt.Errorf("add installed operator %s: %s of the same package %s is there, and a namespace has one operator of a package; leave one out",
				bundle.Name, o.Name, o.Package)
		}
	}
	// The ClusterServiceVersion of a bundle that is installed and runs.
	properties, err := json.Marshal(map[string]any{"properties": bundle.Properties})
	if err != nil {
		return fmt.Errorf("add installed operator %s: %w", bundle.Name, err)
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	csv.Name = bundle.Name
	csv.Annotations = map[string]string{v1alpha1.PropertiesAnnotation: string(properties)}
	csv.Spec.Version.Version = bundle.Version.Version
	csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
	csv.Namespace = n.Name
	n.Operators = append(n.Operators, *csv)
	if i.Channel == "" || slices.ContainsFunc(n.Subscriptions, func(s v1alpha1.Subscription) bool { return s.Spec.Package == bundle.Package }) {
		return nil
	}
	sub := newSubscription(n, ref, v1alpha1.SubscriptionSpec{Package: bundle.Package, Channel: i.Channel})
	sub.Status.CurrentCSV, sub.Status.InstalledCSV = csv.Name, csv.Name
	n.Subscriptions = append(n.Subscriptions, *sub)
	return nil
}

// findBundle finds a bundle by name in one catalog, or in all of them.
func findBundle(name string, in catalog.Ref, n *snapshot.Namespace) (*catalog.BundleInfo, error) {
	for _, s := range n.Sources {
		if in != (catalog.Ref{}) && s.Ref() != in {
			continue
		}
		if b := bundleIn(s, name); b != nil {
			return b, nil
		}
	}
	where := "no catalog in view has a"
	if in != (catalog.Ref{}) {
		where = "catalog " + in.String() + " has no"
	}
	return nil, fmt.Errorf("add installed operator %s: %s bundle of that name; correct it, or give its ClusterServiceVersion with --installed-from", name, where)
}

// bundleIn finds a bundle by name in a catalog, or returns nil.
func bundleIn(s snapshot.Source, name string) *catalog.BundleInfo {
	if !s.Healthy() {
		return nil
	}
	for _, pkg := range s.Served.Index.PackageNames() {
		if b, ok := s.Served.Index.Bundle(pkg, name); ok {
			return b
		}
	}
	return nil
}
