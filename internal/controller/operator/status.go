package operator

import (
	"cmp"
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/catalog/safetext"
)

const (
	// maxBytes is how large the list of components may be: etcd stores no object of more than 1.5 MiB.
	maxBytes = 1 << 20
	// maxMessage is how much of the message of a condition is repeated, in bytes.
	maxMessage = 4 << 10
)

// statusOf is the status of the Operator with a component label, and how many of its components have no room in it. What tells of the
// state of the operator is listed before what it merely consists of; the order of the list does not show that.
func statusOf(key string, components []v1.RichReference) (v1.OperatorStatus, int) {
	refs := slices.Clone(components)
	slices.SortFunc(refs, func(a, b v1.RichReference) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), inOrder(a, b)) })
	size, kept := 0, 0
	for ; kept < len(refs); kept++ {
		encoded, err := json.Marshal(refs[kept])
		if size += len(encoded) + 1; err != nil || size > maxBytes {
			break
		}
	}
	left := len(refs) - kept
	refs = refs[:kept:kept]
	slices.SortFunc(refs, inOrder)
	return v1.OperatorStatus{Components: &v1.Components{
		LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpExists}}},
		Refs:          refs,
	}}, left
}

// rank is 0 for the kinds that say how the operator is, then 1 for others with conditions, and 2 for the rest.
func rank(r v1.RichReference) int {
	switch {
	case r.GroupVersionKind().Group == v1alpha1.GroupName:
		return 0
	case len(r.Conditions) > 0:
		return 1
	}
	return 2
}

// inOrder is the documented order of components.
func inOrder(a, b v1.RichReference) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// reference is what an Operator says of a component.
func (k kind) reference(o client.Object) v1.RichReference {
	version, name := k.gvk.ToAPIVersionAndKind()
	r := v1.RichReference{ObjectReference: corev1.ObjectReference{Kind: name, APIVersion: version, Namespace: o.GetNamespace(), Name: o.GetName()}}
	for _, c := range conditionsOf(o) {
		if c.Type != "" && c.Status != "" { // both are required
			c.Message = safetext.Truncate(c.Message, maxMessage)
			for _, at := range []**metav1.Time{&c.LastUpdateTime, &c.LastTransitionTime} {
				if (*at).IsZero() {
					*at = nil
				}
			}
			r.Conditions = append(r.Conditions, c)
		}
	}
	return r
}

// conditionsOf are the conditions of a component, and for a ClusterServiceVersion its phase.
func conditionsOf(o client.Object) []v1.Condition {
	switch o := o.(type) {
	case *v1alpha1.ClusterServiceVersion:
		s := o.Status
		return []v1.Condition{{Type: string(s.Phase), Status: corev1.ConditionTrue, Reason: string(s.Reason), Message: s.Message,
			LastUpdateTime: s.LastUpdateTime, LastTransitionTime: s.LastTransitionTime}}
	case *v1alpha1.Subscription:
		return each(o.Status.Conditions, func(c v1alpha1.SubscriptionCondition) v1.Condition {
			return condition(c.Type, c.Status, c.Reason, c.Message, nil, c.LastTransitionTime)
		})
	case *v1alpha1.InstallPlan:
		return each(o.Status.Conditions, func(c v1alpha1.InstallPlanCondition) v1.Condition {
			return condition(c.Type, c.Status, string(c.Reason), c.Message, c.LastUpdateTime, c.LastTransitionTime)
		})
	case *v2.OperatorCondition:
		return each(o.Status.Conditions, ofMeta)
	case *appsv1.Deployment:
		return each(o.Status.Conditions, func(c appsv1.DeploymentCondition) v1.Condition {
			return condition(c.Type, c.Status, c.Reason, c.Message, &c.LastUpdateTime, &c.LastTransitionTime)
		})
	case *corev1.Service:
		return each(o.Status.Conditions, ofMeta)
	case *corev1.Namespace:
		return each(o.Status.Conditions, func(c corev1.NamespaceCondition) v1.Condition {
			return condition(c.Type, c.Status, c.Reason, c.Message, nil, &c.LastTransitionTime)
		})
	case *apiextensionsv1.CustomResourceDefinition:
		return each(o.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) v1.Condition {
			return condition(c.Type, corev1.ConditionStatus(c.Status), c.Reason, c.Message, nil, &c.LastTransitionTime)
		})
	case *apiregistrationv1.APIService:
		return each(o.Status.Conditions, func(c apiregistrationv1.APIServiceCondition) v1.Condition {
			return condition(c.Type, corev1.ConditionStatus(c.Status), c.Reason, c.Message, nil, &c.LastTransitionTime)
		})
	}
	return nil
}

func ofMeta(c metav1.Condition) v1.Condition {
	return condition(c.Type, corev1.ConditionStatus(c.Status), c.Reason, c.Message, nil, &c.LastTransitionTime)
}

func condition[T ~string](kind T, status corev1.ConditionStatus, reason, message string, updated, changed *metav1.Time) v1.Condition {
	return v1.Condition{Type: string(kind), Status: status, Reason: reason, Message: message, LastUpdateTime: updated, LastTransitionTime: changed}
}

func each[T any](in []T, f func(T) v1.Condition) []v1.Condition {
	out := make([]v1.Condition, 0, len(in))
	for i := range in {
		out = append(out, f(in[i]))
	}
	return out
}
