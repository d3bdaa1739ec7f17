package operatorcondition

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
)

// defaultAccount is meant where a ClusterServiceVersion names no service account.
const defaultAccount = "default"

// conditionOf is the OperatorCondition of a CSV, as it is made.
func conditionOf(csv *v1alpha1.ClusterServiceVersion, spec v2.OperatorConditionSpec) *v2.OperatorCondition {
	yes := true
	return &v2.OperatorCondition{
		TypeMeta: metav1.TypeMeta{APIVersion: v2.GroupVersion.String(), Kind: v2.OperatorConditionKind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: csv.Namespace, Name: csv.Name, Labels: map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: csv.Name, UID: csv.UID, Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: spec,
	}
}

// roleOf lets the holder read and write one OperatorCondition.
func roleOf(condition *v2.OperatorCondition) *rbacv1.Role {
	return &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: ownedMeta(condition),
		Rules: []rbacv1.PolicyRule{{
			Verbs: []string{"get", "update", "patch"}, APIGroups: []string{v2.GroupName}, Resources: []string{"operatorconditions"}, ResourceNames: []string{condition.Name},
		}},
	}
}

// bindingOf gives the role to the service accounts of the OperatorCondition.
func bindingOf(condition *v2.OperatorCondition) *rbacv1.RoleBinding {
	out := &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: ownedMeta(condition),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: condition.Name},
	}
	for _, name := range condition.Spec.ServiceAccounts {
		out.Subjects = append(out.Subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: condition.Namespace, Name: name})
	}
	return out
}

func ownedMeta(condition *v2.OperatorCondition) metav1.ObjectMeta {
	yes := true
	return metav1.ObjectMeta{
		Namespace: condition.Namespace, Name: condition.Name,
		Labels: map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v2.GroupVersion.String(), Kind: v2.OperatorConditionKind, Name: condition.Name, UID: condition.UID, Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}
}

// reported is what the status is to say: what the spec does, about the present generation. Other conditions stay beside that unless they were
// all taken from the spec, which does not report them any more: operators of the older version of the API report in the status.
func reported(condition *v2.OperatorCondition, writtenByUs bool) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range condition.Spec.Conditions {
		c.ObservedGeneration = condition.Generation
		out = append(out, c)
	}
	if writtenByUs {
		return out
	}
	for _, c := range condition.Status.Conditions {
		if meta.FindStatusCondition(out, c.Type) == nil {
			out = append(out, c)
		}
	}
	return out
}

// othersInStatus reports whether the status has conditions that the spec does not report.
func othersInStatus(condition *v2.OperatorCondition) bool {
	return slices.ContainsFunc(condition.Status.Conditions, func(c metav1.Condition) bool {
		return meta.FindStatusCondition(condition.Spec.Conditions, c.Type) == nil
	})
}
