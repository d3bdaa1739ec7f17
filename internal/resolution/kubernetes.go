package resolution

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// fieldMinKube is where a bundle says which Kubernetes it needs.
const fieldMinKube = "minKubeVersion of its ClusterServiceVersion"

// refuseTooNew forbids the bundles of a solution that need a newer Kubernetes than there is, and tells whether there were any.
func (b *namespaceBuilder) refuseTooNew(p *resolve.Problem, solution resolve.Solution) bool {
	if b.in.Kubernetes.Equals(semver.Version{}) {
		return false
	}
	refused := false
	for _, v := range solution.Selected {
		n := b.node(v)
		if n.bundle == nil {
			continue
		}
		least, ok := MinKubeVersion(n.source.Index, n.bundle)
		if !ok || !TooNew(least, b.in.Kubernetes) {
			continue
		}
		origin := n.origin(fieldMinKube, "bundle %s needs Kubernetes %s or newer, and the cluster has %s", n.bundle.Name, least, b.in.Kubernetes)
		origin.Alike = fmt.Sprintf("bundle of %s needs a newer Kubernetes", n.bundle.Package)
		origin.Hint = fmt.Sprintf("upgrade the cluster to Kubernetes %s", least)
		p.Forbid(v, origin)
		refused = true
	}
	return refused
}

// TooNew tells whether something needs a newer Kubernetes than there is. What distributions append to its version does not count.
func TooNew(least, kubernetes semver.Version) bool {
	return least.GT(semver.Version{Major: kubernetes.Major, Minor: kubernetes.Minor, Patch: kubernetes.Patch})
}

// MinKubeVersion reads what the ClusterServiceVersion in a catalog says. What cannot be read refuses nothing here: it is checked again
// when the operator is installed.
func MinKubeVersion(x *catalog.Index, bundle *catalog.BundleInfo) (semver.Version, bool) {
	var metadata struct {
		MinKubeVersion string `json:"minKubeVersion"`
	}
	if text, err := x.CSVMetadata(bundle); err == nil && text != nil {
		_ = json.Unmarshal(text, &metadata) // what cannot be read refuses nothing
	} else {
		metadata.MinKubeVersion = manifestMinKubeVersion(x, bundle)
	}
	least, err := version.ParseTolerant(metadata.MinKubeVersion)
	return least, err == nil && metadata.MinKubeVersion != ""
}

func manifestMinKubeVersion(x *catalog.Index, bundle *catalog.BundleInfo) string {
	manifests, err := x.Manifests(bundle)
	if err != nil {
		return ""
	}
	for _, m := range manifests {
		var csv struct {
			Kind string `json:"kind"`
			Spec struct {
				MinKubeVersion string `json:"minKubeVersion"`
			} `json:"spec"`
		}
		if json.Unmarshal(m, &csv) == nil && csv.Kind == "ClusterServiceVersion" {
			return csv.Spec.MinKubeVersion
		}
	}
	return ""
}

const extensionFieldMinKube = "minKubeVersion of its ClusterServiceVersion"

// refuseTooNew refuses a candidate that says in the catalog that it needs a newer Kubernetes than there is, and tells whether it does. What
// is installed stays. It reads the catalog, and so is asked last, and only of what would be chosen.
func (b *extensionBuilder) refuseTooNew(c *candidate) bool {
	if b.in.Kubernetes.Equals(semver.Version{}) || b.isInstalled(c) {
		return false
	}
	least, known := MinKubeVersion(c.catalog.Index, c.bundle)
	if !known || !TooNew(least, b.in.Kubernetes) {
		return false
	}
	o := b.originOf(c, extensionFieldMinKube, "%s needs Kubernetes %s or newer, and the cluster has %s", c.bundle.Name, least, b.in.Kubernetes)
	o.Object = "bundle " + c.bundle.Name
	o.Hint = fmt.Sprintf("upgrade the cluster to Kubernetes %s or newer", least)
	b.add(c, ruleKubernetes, o, "Kubernetes")
	return true
}

// refuseAllTooNew refuses what needs a newer Kubernetes, from the chosen candidate down to the first that does not, and tells whether it is
// another one.
func (b *extensionBuilder) refuseAllTooNew(chosen *candidate) bool {
	if chosen == nil || !b.refuseTooNew(chosen) {
		return false
	}
	for _, c := range b.candidates {
		if len(c.refusals) == 0 && !b.refuseTooNew(c) {
			break
		}
	}
	return true
}
