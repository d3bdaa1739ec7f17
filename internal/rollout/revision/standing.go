package revision

import (
	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"k8s.io/apimachinery/pkg/api/meta"
)

// Active tells whether a revision is kept up.
func Active(set *olmv1.ClusterObjectSet) bool {
	return set.Spec.LifecycleState != olmv1.LifecycleStateArchived && set.DeletionTimestamp.IsZero()
}

// Installed is the newest active revision that was rolled out once, of those of an extension in the order of their numbers; nil when there is
// none.
func Installed(all []olmv1.ClusterObjectSet) *olmv1.ClusterObjectSet {
	for i := len(all) - 1; i >= 0; i-- {
		if Active(&all[i]) && meta.IsStatusConditionTrue(all[i].Status.Conditions, olmv1.TypeSucceeded) {
			return &all[i]
		}
	}
	return nil
}
