package resolution

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"

	"github.com/blang/semver/v4"
)

// node is something that can be chosen: a Subscription (always chosen), an installed operator, or an entry of a catalog's channel.
type node struct {
	id       string
	sub      *Subscription
	operator *Operator
	source   *Source // of a Subscription: the catalog that it names, if that is in view
	channel  *catalog.ChannelInfo
	bundle   *catalog.BundleInfo
	place    int // of the entry in its channel, from the head down
}

// packageName is the package that the node is a version of; at most one version of a package is in a namespace. An operator whose
// package is not known stands for itself.
func (n *node) packageName() string {
	switch {
	case n.bundle != nil:
		return n.bundle.Package
	case n.operator != nil && n.operator.Package != "":
		return n.operator.Package
	case n.operator != nil:
		return "clusterserviceversion " + n.operator.Name
	}
	return ""
}

// name is the name of the ClusterServiceVersion that choosing the node leads to.
func (n *node) name() string {
	if n.bundle != nil {
		return n.bundle.Name
	}
	if n.operator != nil {
		return n.operator.Name
	}
	return ""
}

func (n *node) version() semver.Version {
	switch {
	case n.bundle != nil:
		return n.bundle.Version.Version
	case n.operator != nil:
		return n.operator.Version
	}
	return semver.Version{}
}

func (n *node) provides() []catalog.GVK {
	switch {
	case n.bundle != nil:
		return n.bundle.Provides
	case n.operator != nil:
		return n.operator.Provides
	}
	return nil
}

// properties are those of the bundle or of what is installed.
func (n *node) properties() []catalog.Property {
	switch {
	case n.bundle != nil:
		return n.bundle.Properties
	case n.operator != nil:
		return n.operator.Properties
	}
	return nil
}

func (n *node) doesProvide(gvk catalog.GVK) bool {
	for _, g := range n.provides() {
		if g == gvk {
			return true
		}
	}
	return false
}

func (n *node) isVersionOf(p PackageRequirement) bool {
	switch {
	case n.operator != nil:
		return n.operator.Package == p.Package && p.Range.Contains(n.operator.Version)
	case n.bundle != nil:
		return n.bundle.Package == p.Package && p.Range.Contains(n.bundle.Version.Version)
	}
	return false
}

func (n *node) requires() []catalog.GVK {
	switch {
	case n.bundle != nil:
		return n.bundle.Requires
	case n.operator != nil:
		return n.operator.Requires
	}
	return nil
}

func (n *node) requiredPackages() []PackageRequirement {
	if n.operator != nil {
		return n.operator.Packages
	}
	if n.bundle == nil {
		return nil
	}
	needed := make([]PackageRequirement, len(n.bundle.RequiredPackages))
	for i, p := range n.bundle.RequiredPackages {
		needed[i] = PackageRequirement{Package: p.PackageName, Range: p.Range}
	}
	return needed
}

func (n *node) constraints() []json.RawMessage {
	if n.bundle != nil {
		return n.bundle.Constraints
	}
	var found []json.RawMessage
	for _, p := range n.properties() {
		if p.Type == catalog.PropertyConstraint {
			found = append(found, p.Value)
		}
	}
	return found
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
	if n.operator != nil {
		return "clusterserviceversion " + n.operator.Name
	}
	return "bundle " + n.name()
}

// origin says, for an explanation, which object and which content a rule about the node comes from.
func (n *node) origin(field, format string, args ...any) resolve.Origin {
	o := resolve.Origin{Object: n.id, Field: field, Text: fmt.Sprintf(format, args...)}
	switch {
	case n.sub != nil:
		o.Object = "Subscription " + n.sub.Name
	case n.bundle != nil:
		o.Object = "bundle " + n.bundle.Name
	case n.operator != nil:
		o.Object = "ClusterServiceVersion " + n.operator.Name
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
