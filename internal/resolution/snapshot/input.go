package snapshot

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/version"
)

// Input is what is to be decided on. idle are the Subscriptions that take no part in it, with the reason.
func (n *Namespace) Input() (in resolution.NamespaceRequest, idle map[string]string) {
	in = resolution.NamespaceRequest{Namespace: n.Name, Kubernetes: n.Kubernetes, Together: n.Annotated(TogetherAnnotation), AnyCatalog: n.Annotated(AnyCatalogAnnotation)}
	idle = map[string]string{}
	for i := range n.Subscriptions {
		sub := &n.Subscriptions[i]
		if reason := n.leftAlone(sub); reason != "" {
			idle[sub.Name] = reason
			continue
		}
		in.Subscriptions = append(in.Subscriptions, resolution.Subscription{
			Name:        sub.Name,
			Package:     sub.Spec.Package,
			Channel:     sub.Spec.Channel,
			StartingCSV: sub.Spec.StartingCSV,
			Catalog:     catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource},
			Installed:   n.Installed(sub),

			VersionRange: sub.Annotations[resolution.VersionRangeAnnotation],
		})
	}
	for i := range n.Operators {
		in.Operators = append(in.Operators, n.describe(&n.Operators[i]))
	}
	for _, s := range n.Sources {
		in.Sources = append(in.Sources, resolution.Source{Ref: s.Ref(), Priority: s.Object.Spec.Priority, Index: s.Served.Index, Problem: s.Served.Problem, Remedy: s.Served.Remedy})
	}
	return in, idle
}

// Installed is the operator that a Subscription stands for: the version it moved to last if that exists, else the one before, else the
// version that has replaced one of these without the Subscription saying so, as when the manager was stopped meanwhile, else the one that
// the version it moved to was replacing when a client deleted that. What it brought when it asked for another package is its own only as long
// as the package that it asks for continues from it.
func (n *Namespace) Installed(sub *v1alpha1.Subscription) string {
	stated := []string{Target(sub), sub.Status.InstalledCSV}
	for _, name := range stated {
		if csv := n.Operator(name); csv != nil {
			if pkg := recordedPackage(csv); pkg == "" || pkg == sub.Spec.Package {
				return name
			}
		}
	}
	for i := range n.Operators {
		csv := &n.Operators[i]
		if csv.Spec.Replaces != "" && slices.Contains(stated, csv.Spec.Replaces) && recordedPackage(csv) == sub.Spec.Package {
			return csv.Name
		}
	}
	for i := range n.Operators {
		csv := &n.Operators[i]
		if Target(sub) != "" && n.forsaken(csv) && recordedPackage(csv) == sub.Spec.Package {
			return csv.Name
		}
	}
	// The operator that a Subscription had brought before it asked for another package, and that this package continues from. stated are
	// the versions that the Subscription moved to. While it is not known what the package has, the operator stays what the
	// Subscription has, so that the way on is not lost.
	var pkg *catalog.PackageInfo // nil when the catalog has nothing of it, or its content is not known
	if s := n.Source(catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource}); s != nil && s.Healthy() {
		pkg, _ = s.Served.Index.Package(sub.Spec.Package)
	}
	for _, name := range stated {
		if csv := n.Operator(name); csv != nil && !n.claimed(csv, sub) && (pkg == nil || n.continues(pkg, csv)) {
			return name
		}
	}
	if pkg == nil || Target(sub) == "" {
		return ""
	}
	for i := range n.Operators { // an upgrade to the package was cut short
		if csv := &n.Operators[i]; n.forsaken(csv) && !n.claimed(csv, sub) && n.continues(pkg, csv) {
			return csv.Name
		}
	}
	return ""
}

// forsaken tells whether an operator was being replaced when a user deleted what replaced it. It does not go back: another version may
// replace it at once. What is being deleted still counts; once it is gone, this is checked again.
func (n *Namespace) forsaken(csv *v1alpha1.ClusterServiceVersion) bool {
	return csv.Status.Phase == v1alpha1.CSVPhaseReplacing && !slices.ContainsFunc(n.Operators, func(next v1alpha1.ClusterServiceVersion) bool {
		return next.Spec.Replaces == csv.Name && next.Name != csv.Name
	})
}

func recordedPackage(csv *v1alpha1.ClusterServiceVersion) string {
	var o resolution.Operator
	properties(&o, csv.Annotations[v1alpha1.PropertiesAnnotation])
	return o.Package
}

// Target is the version that a Subscription moved to last. One that a plan made for a dependency starts with its starting version.
func Target(sub *v1alpha1.Subscription) string {
	if sub.Status.CurrentCSV == "" && sub.Annotations[v1alpha1.GeneratedByAnnotation] != "" {
		return sub.Spec.StartingCSV
	}
	return sub.Status.CurrentCSV
}

// leftAlone tells why a Subscription takes no part in the decision: a user deleted the operator that it had brought, and that
// is not undone, even if the version before is still there.
func (n *Namespace) leftAlone(sub *v1alpha1.Subscription) string {
	name := Target(sub)
	if name == "" || n.Operator(name) != nil {
		return ""
	}
	before := n.Operator(n.Installed(sub))
	if before != nil && !n.forsaken(before) {
		return ""
	}
	p := n.Installer(sub)
	if p == nil {
		return ""
	}
	done := fmt.Sprintf("ClusterServiceVersion %s was installed by InstallPlan %s and has been deleted since", name, p.Name)
	if before != nil {
		return fmt.Sprintf("%s; ClusterServiceVersion %s, which it was replacing, is still there and waits for a version that replaces it, and none is installed "+
			"as long as the plan exists: delete the InstallPlan to have the upgrade retried", done, before.Name)
	}
	return done + "; it is not installed again as long as the plan exists: delete the InstallPlan to have it installed, or delete the Subscription"
}

// Installer is the plan that says that the version which a Subscription moved to last was installed: the first one in the order of Plans
// that is complete and names it, or nil.
func (n *Namespace) Installer(sub *v1alpha1.Subscription) *v1alpha1.InstallPlan {
	name := Target(sub)
	for i := range n.Plans {
		p := &n.Plans[i]
		if name != "" && p.Status.Phase == v1alpha1.InstallPlanPhaseComplete && slices.Contains(p.Spec.ClusterServiceVersionNames, name) {
			return p
		}
	}
	return nil
}

// continues reports whether a package continues from an operator of another one: it has the same bundle, an entry replaces or skips it by its
// name, or one whose skipRange contains its version provides an API of it, so that only one of them can be there. A version in a skipRange alone
// is no sign: versions of packages that have nothing to do with each other are alike.
func (n *Namespace) continues(pkg *catalog.PackageInfo, csv *v1alpha1.ClusterServiceVersion) bool {
	o := n.describe(csv)
	from := catalog.Departure{Name: o.Name, Version: &version.VersionRelease{Version: o.Version}}
	for _, c := range pkg.Channels {
		for _, e := range c.Entries {
			switch way := e.EdgeFrom(from); {
			case e.Name == o.Name, way == catalog.EdgeReplaces, way == catalog.EdgeSkips:
				return true
			case way == catalog.EdgeSkipRange && slices.ContainsFunc(e.Bundle.Provides, func(gvk catalog.GVK) bool { return slices.Contains(o.Provides, gvk) }):
				return true
			}
		}
	}
	return false
}

// claimed reports whether another Subscription stands for an operator: one that asks for its package, or, of those that ask for others, the
// first by name.
func (n *Namespace) claimed(csv *v1alpha1.ClusterServiceVersion, by *v1alpha1.Subscription) bool {
	return slices.ContainsFunc(n.Subscriptions, func(other v1alpha1.Subscription) bool {
		states := Target(&other) == csv.Name || other.Status.InstalledCSV == csv.Name
		return other.Name != by.Name && states && (other.Spec.Package == recordedPackage(csv) || other.Name < by.Name)
	})
}
