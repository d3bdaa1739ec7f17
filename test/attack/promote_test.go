package attack

import (
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/harness"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAdminOfANamespaceWidensItsOperator: a user who is admin of a namespace, whose OperatorGroup targets all, labels a Role as one of the operator, and binds
// the account of the operator, which they can run pods as. That account must not have the rights of the Role in other namespaces; unless the administrator of
// the cluster asks for the promotion of such Roles, which shows that nothing else stands in the way.
func TestAdminOfANamespaceWidensItsOperator(t *testing.T) {
	const name, worker = "wide.v1", "worker"
	w := sharedWorld(t)
	namespace, victim := w.namespace("attack-promote"), w.namespace("attack-promote-victim")
	w.group(namespace, "")
	harness.Edit(t, w, namespace, "group", &operatorsv1.OperatorGroup{}, func(g *operatorsv1.OperatorGroup) { g.Spec.TargetNamespaces = nil })
	w.selected(namespace, metav1.NamespaceAll)
	csv := operator(namespace, name)
	asked := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}}}
	csv.Spec.InstallStrategy.StrategySpec.Permissions = []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: worker, Rules: asked}}
	csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.ServiceAccountName = worker
	account := func(name string) string { return account(namespace, name) }
	bound := func(meta metav1.ObjectMeta) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: worker}}}
	}
	own := metav1.ObjectMeta{Namespace: namespace, Name: worker}
	harness.Create(t, w, csv, &corev1.ServiceAccount{ObjectMeta: own}, &rbacv1.Role{ObjectMeta: own, Rules: asked}, bound(own)) // as an InstallPlan does
	w.phase(namespace, name, v1alpha1.CSVPhaseSucceeded)
	w.becomes(account(worker), victim, "", "configmaps", true)

	w.bind(namespace, "mallory", "admin")
	mallory := harness.ClientOf(t, w.as("mallory"))
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "widened", Labels: bundle.OwnerLabels(csv)}
	harness.Create(t, mallory,
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}}}}, bound(meta))
	w.becomes(account(worker), namespace, "", "secrets", true)
	w.never("the operator writes Secrets of other namespaces", func() bool { return w.allowed(account(worker), victim, "", "secrets") })

	harness.Edit(t, w, namespace, "group", &operatorsv1.OperatorGroup{}, func(g *operatorsv1.OperatorGroup) {
		g.Annotations = map[string]string{v1alpha1.PromoteRolesAnnotation: "true"}
	})
	w.becomes(account(worker), victim, "", "secrets", true)
}
