package revision

import (
	"fmt"
	"strconv"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NumberKey is the annotation of the objects of a revision with its number.
const NumberKey = olmv1.GroupName + "/revision"

// Number is that of a revision, as its objects carry it.
func Number(set *olmv1.ClusterObjectSet) string { return strconv.FormatInt(set.Spec.Revision, 10) }

// Labelled is the owner that the labels of an object name; empty when they name none. It decides nothing: anyone can write labels.
func Labelled(o metav1.Object) string {
	labels := o.GetLabels()
	if labels[olmv1.OwnerNameKey] == "" {
		return ""
	}
	return labels[olmv1.OwnerKindKey] + "/" + labels[olmv1.OwnerNameKey]
}

// Claim judges the claim of a revision on a live object. The controller of an object decides: what earlier revisions of the extension control is
// adopted, and what later ones control is ceded to them.
func Claim(set *olmv1.ClusterObjectSet, siblings map[types.UID]*olmv1.ClusterObjectSet, protection olmv1.CollisionProtection, live metav1.Object) rollout.Ownership {
	rules := rollout.ClaimRules{
		Relate: func(h rollout.Holder) (rollout.Relation, string) {
			sibling := siblings[h.UID]
			switch {
			case h.UID == set.UID, sibling != nil && sibling.Spec.Revision < set.Spec.Revision, sibling == nil && protection == olmv1.CollisionProtectionNone:
				return rollout.Own, ""
			case sibling == nil:
				return rollout.Foreign, rollout.ControlledBy(h)
			case sibling.Spec.Revision > set.Spec.Revision:
				return rollout.Successor, ""
			}
			return rollout.Foreign, fmt.Sprintf("is controlled by ClusterObjectSet %s, which has the same revision number", sibling.Name)
		},
		Unowned: func(live metav1.Object) string {
			name, uid := ExtensionOf(set)
			switch {
			case KeptFor(live, name, uid):
				return ""
			case protection == olmv1.CollisionProtectionPrevent:
				return "exists already, and nothing controls it"
			case live.GetAnnotations()[NumberKey] == Number(set) && Labelled(live) == Labelled(set):
				return "was one of its objects, and another client has removed its controller"
			}
			return ""
		},
	}
	controller := metav1.GetControllerOfNoCopy(live)
	if controller == nil {
		return rules.Judge(live, nil)
	}
	return rules.Judge(live, []rollout.Holder{{OwnerReference: *controller, Namespace: live.GetNamespace()}})
}
