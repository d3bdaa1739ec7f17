package permissions

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkMissing judges a bundle of 20 roles with 30 rules each, on a cluster with 2,000 bindings of which some are of the account.
func BenchmarkMissing(b *testing.B) {
	subject := ServiceAccount("ops", "installer")
	cluster := RBAC{Resources: someResources()}
	for i := range 2000 {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("role-%d", i)}
		who := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ops", Name: fmt.Sprintf("account-%d", i)}
		if i%100 == 0 {
			who = subject.bindable()
		}
		cluster.ClusterRoles = append(cluster.ClusterRoles, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rulesOf(i, 10)})
		cluster.ClusterRoleBindings = append(cluster.ClusterRoleBindings, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: []rbacv1.Subject{who}, RoleRef: roleRef("ClusterRole", meta.Name)})
	}
	manifests := ""
	for i := range 20 {
		manifests += "---\n" + manifest(b, &rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("op-%d", i)}, Rules: rulesOf(i*7, 30)})
	}
	objects := documents(b, manifests)
	for b.Loop() {
		if missing, err := Missing(subject, cluster.Source(), objects); err != nil || len(missing) == 0 {
			b.Fatal(len(missing), err)
		}
	}
}

func rulesOf(from, count int) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for i := range count {
		name := fmt.Sprintf("kind-%d", from+i)
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{name, name + "/status"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}})
	}
	return rules
}
