package extension

import (
	"fmt"

	"fairlead.dev/fairlead/internal/plan"

	"github.com/blang/semver/v4"
)

const fieldMinKube = "minKubeVersion of its ClusterServiceVersion"

// refuseTooNew refuses a candidate that says in the catalog that it needs a newer Kubernetes than there is, and tells whether it does. What
// is installed stays. It reads the catalog, and so is asked last, and only of what would be chosen.
func (b *builder) refuseTooNew(c *candidate) bool {
	if b.in.Kubernetes.Equals(semver.Version{}) || b.isInstalled(c) {
		return false
	}
	least, known := plan.MinKubeVersion(c.catalog.Index, c.bundle)
	if !known || !plan.TooNew(least, b.in.Kubernetes) {
		return false
	}
	o := b.originOf(c, fieldMinKube, "%s needs Kubernetes %s or newer, and the cluster has %s", c.bundle.Name, least, b.in.Kubernetes)
	o.Object = "bundle " + c.bundle.Name
	o.Hint = fmt.Sprintf("upgrade the cluster to Kubernetes %s or newer", least)
	b.add(c, ruleKubernetes, o, "Kubernetes")
	return true
}

// refuseAllTooNew refuses what needs a newer Kubernetes, from the chosen candidate down to the first that does not, and tells whether it is
// another one.
func (b *builder) refuseAllTooNew(chosen *candidate) bool {
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
