package resolution

import (
	"cmp"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"
)

// node is something that can be chosen: a Subscription (always chosen), an installed operator, or an entry of a catalog's channel. Choosing it leads to a
// ClusterServiceVersion of the name of its bundle.
type node struct {
	id       string
	sub      *Subscription
	operator *Operator
	source   *Source              // of a Subscription: the catalog that it names, if that is in view
	channel  *catalog.ChannelInfo // of an entry only
	bundle   *catalog.BundleInfo  // of an installed operator, what is known of it; of a Subscription, an empty one
	place    int                  // of the entry in its channel, from the head down
}

// bundle is what is known of an installed operator, as catalogs have it. At most one version of a package is in a namespace: an operator whose
// package is not known stands for itself.
func (o *Operator) bundle() *catalog.BundleInfo {
	out := &catalog.BundleInfo{
		Package: cmp.Or(o.Package, "clusterserviceversion "+o.Name), Name: o.Name, Version: version.VersionRelease{Version: o.Version},
		Properties: o.Properties, Provides: o.Provides, Requires: o.Requires,
	}
	for _, p := range o.Packages {
		out.RequiredPackages = append(out.RequiredPackages, catalog.PackageRequirement{PackageName: p.Package, Range: p.Range})
	}
	for _, p := range o.Properties {
		if p.Type == catalog.PropertyConstraint {
			out.Constraints = append(out.Constraints, p.Value)
		}
	}
	return out
}

func (n *node) inDefaultChannel() bool {
	p, ok := n.source.Index.Package(n.bundle.Package)
	return ok && p.DefaultChannel == n.channel.Name
}

// skipsAsHead tells whether the entry is the head of its channel and leads on from somewhere not only by replacing it.
func (n *node) skipsAsHead(from catalog.Departure) bool {
	return n.place == 0 && n.channel.Entries[0].EdgeFrom(from) != catalog.EdgeReplaces
}

// label names the node in an explanation.
func (n *node) label() string {
	switch {
	case n.sub != nil:
		return "subscription " + n.sub.Name
	case n.operator != nil:
		return "clusterserviceversion " + n.operator.Name
	}
	return "bundle " + n.bundle.Name
}

// origin says, for an explanation, which object and which content a rule about the node comes from.
func (n *node) origin(field, format string, args ...any) resolve.Origin {
	o := resolve.Origin{Object: n.id, Field: field, Text: fmt.Sprintf(format, args...)}
	switch {
	case n.sub != nil:
		o.Object = "Subscription " + n.sub.Name
	case n.operator != nil:
		o.Object = "ClusterServiceVersion " + n.operator.Name
	case n.channel != nil:
		o.Object = "bundle " + n.bundle.Name
	}
	if n.source != nil {
		o.Catalog = n.source.Ref.String()
		if n.source.Index != nil {
			o.Digest = n.source.Index.Digest()
		}
	}
	return o
}

// deprecations are what the catalog says of what is deprecated: the package, the channel, the bundle. Deprecated is not forbidden.
func (n *node) deprecations() []string {
	var told []string
	note := func(what, message string) {
		if message != "" {
			told = append(told, what+" is deprecated: "+message)
		}
	}
	if p, ok := n.source.Index.Package(n.bundle.Package); ok {
		note("package "+p.Name, p.Deprecation)
	}
	note("channel "+n.channel.Name, n.channel.Deprecation)
	note("bundle "+n.bundle.Name, n.bundle.Deprecation)
	return told
}
