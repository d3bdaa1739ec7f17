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

// updateCluster is what to do about a bundle that needs a newer Kubernetes.
const updateCluster = "upgrade the cluster to Kubernetes %s or newer"

// needsNewer returns the oldest Kubernetes that a bundle works with, as the ClusterServiceVersion in its catalog says, and whether the
// cluster is older. An unknown version of the cluster (the zero value) refuses nothing, nor does text that cannot be read: it is checked
// again when the operator is installed. What distributions append to the version of the cluster does not count.
func needsNewer(x *catalog.Index, bundle *catalog.BundleInfo, kubernetes semver.Version) (semver.Version, bool) {
	if kubernetes.Equals(semver.Version{}) {
		return semver.Version{}, false
	}
	var metadata struct {
		MinKubeVersion string `json:"minKubeVersion"`
	}
	if text, err := x.CSVMetadata(bundle); err == nil && text != nil {
		_ = json.Unmarshal(text, &metadata)
	} else if manifests, err := x.Manifests(bundle); err == nil {
		for _, m := range manifests {
			var csv struct {
				Kind string `json:"kind"`
				Spec struct {
					MinKubeVersion string `json:"minKubeVersion"`
				} `json:"spec"`
			}
			if json.Unmarshal(m, &csv) == nil && csv.Kind == "ClusterServiceVersion" {
				metadata.MinKubeVersion = csv.Spec.MinKubeVersion
				break
			}
		}
	}
	least, err := version.ParseTolerant(metadata.MinKubeVersion)
	known := err == nil && metadata.MinKubeVersion != ""
	return least, known && least.GT(semver.Version{Major: kubernetes.Major, Minor: kubernetes.Minor, Patch: kubernetes.Patch})
}

// recheck forbids the bundles of a solution that need a newer Kubernetes than there is, and reports whether there were any.
func (b *namespaceFront) recheck(p *resolve.Problem, solution *resolve.Solution) bool {
	refused := false
	for _, v := range solution.Selected {
		n := b.node(v)
		if n.channel == nil {
			continue
		}
		least, tooNew := needsNewer(n.source.Index, n.bundle, b.in.Kubernetes)
		if !tooNew {
			continue
		}
		origin := n.origin(fieldMinKube, "bundle %s needs Kubernetes %s or newer, and the cluster has %s", n.bundle.Name, least, b.in.Kubernetes)
		origin.Hint = fmt.Sprintf(updateCluster, least)
		origin.Alike = fmt.Sprintf("bundle of %s needs a newer Kubernetes", n.bundle.Package)
		p.Forbid(v, origin)
		refused = true
	}
	return refused
}

// refuseTooNew refuses a candidate that says in the catalog that it needs a newer Kubernetes than there is, and tells whether it does. What
// is installed stays. It reads the catalog, and so is asked last, and only of what would be chosen.
func (b *extensionFront) refuseTooNew(c *candidate) bool {
	if b.isInstalled(c) {
		return false
	}
	least, tooNew := needsNewer(c.catalog.Index, c.bundle, b.in.Kubernetes)
	if !tooNew {
		return false
	}
	o := b.needOrigin(c, fieldMinKube, "%s needs Kubernetes %s or newer, and the cluster has %s", c.bundle.Name, least, b.in.Kubernetes)
	o.Hint = fmt.Sprintf(updateCluster, least)
	b.add(c, ruleKubernetes, o, "Kubernetes")
	return true
}
