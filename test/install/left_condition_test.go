package install

import (
	operatorsv2 "fairlead.dev/fairlead/api/operators/v2"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// leaveCondition leaves the OperatorCondition of the operator, and what lets its service account write it.
func (m *migration) leaveCondition() {
	strategy := m.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0]
	account := strategy.Spec.Template.Spec.ServiceAccountName
	meta := func(version, kind, name string, o metav1.Object) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: m.namespace, Name: name, Labels: managed, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: version, Kind: kind, Name: o.GetName(), UID: o.GetUID(), Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}}
	}
	condition := &operatorsv2.OperatorCondition{ObjectMeta: meta("operators.coreos.com/v1alpha1", "ClusterServiceVersion", m.csv.Name, m.csv),
		Spec: operatorsv2.OperatorConditionSpec{ServiceAccounts: []string{account}, Deployments: []string{strategy.Name}}}
	m.lay(condition, otherOLM)
	role := &rbacv1.Role{ObjectMeta: meta("operators.coreos.com/v2", "OperatorCondition", m.csv.Name, condition), Rules: []rbacv1.PolicyRule{{
		Verbs: []string{"get", "update", "patch"}, APIGroups: []string{"operators.coreos.com"}, Resources: []string{"operatorconditions"}, ResourceNames: []string{condition.Name}}}}
	m.lay(role, otherOLM)
	m.lay(&rbacv1.RoleBinding{ObjectMeta: meta("operators.coreos.com/v2", "OperatorCondition", m.csv.Name, condition),
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: m.namespace, Name: account}}}, otherOLM)
}
