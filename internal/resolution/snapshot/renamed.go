package snapshot

import (
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// continues reports whether a package goes on from an operator of another one: it has the same bundle, an entry replaces or skips it by its
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
