package bundle

import (
	"crypto/sha256"
	"math/big"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

var (
	podRules    = []rbacv1.PolicyRule{{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
	healthRules = []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz"}}}
)

// JSON forms that the hashes in names are made of, written out so that a change of a Go type shows.
const (
	podRulesJSON    = `[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]`
	healthRulesJSON = `[{"verbs":["get"],"nonResourceURLs":["/healthz"]}]`
)

func permit(account string, rules []rbacv1.PolicyRule) v1alpha1.StrategyDeploymentPermissions {
	return v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: account, Rules: rules}
}

// hashOf is the reference for hashes in names.
func hashOf(json string) string {
	sum := sha256.Sum224([]byte(json))
	return new(big.Int).SetBytes(sum[:]).Text(62)
}

func TestRBAC(t *testing.T) {
	csv := testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
		spec := &csv.Spec.InstallStrategy.StrategySpec
		spec.Permissions = []v1alpha1.StrategyDeploymentPermissions{permit("sa", podRules)}
		spec.ClusterPermissions = []v1alpha1.StrategyDeploymentPermissions{permit("sa", healthRules)}
	})
	got := must.Value(RBAC(csv))(t)
	no := false
	owner := []metav1.OwnerReference{{
		APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: "op.v1.0.0", UID: "uid-1",
		Controller: &no, BlockOwnerDeletion: &no,
	}}
	labels := func(hash string) map[string]string {
		return map[string]string{
			"olm.owner": "op.v1.0.0", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
			"olm.permissions.hash": hash,
		}
	}
	role := "op.v1.0.0-sa-" + hashOf(`["op.v1.0.0",{"serviceAccountName":"sa","rules":`+podRulesJSON+"}]\n")
	cluster := "op.v1.0.0-" + hashOf(`["op.v1.0.0","ns",{"serviceAccountName":"sa","rules":`+healthRulesJSON+"}]\n")
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "sa", Namespace: "ns"}}
	bindingHash := func(kind, name string) string {
		return hashOf(`{"RoleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"` + kind + `","name":"` + name +
			`"},"Subjects":[{"kind":"ServiceAccount","name":"sa","namespace":"ns"}]}`)
	}
	want := []*AccountRBAC{{
		Name: "sa",
		ServiceAccount: &corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: metav1.ObjectMeta{Name: "sa", Namespace: "ns", OwnerReferences: owner},
		},
		Roles: []*rbacv1.Role{{
			TypeMeta:   rbacType("Role"),
			ObjectMeta: metav1.ObjectMeta{Name: role, Namespace: "ns", OwnerReferences: owner, Labels: labels(hashOf(podRulesJSON))},
			Rules:      podRules,
		}},
		RoleBindings: []*rbacv1.RoleBinding{{
			TypeMeta:   rbacType("RoleBinding"),
			ObjectMeta: metav1.ObjectMeta{Name: role, Namespace: "ns", OwnerReferences: owner, Labels: labels(bindingHash("Role", role))},
			RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: role},
			Subjects:   subjects,
		}},
		ClusterRoles: []*rbacv1.ClusterRole{{
			TypeMeta:   rbacType("ClusterRole"),
			ObjectMeta: metav1.ObjectMeta{Name: cluster, Labels: labels(hashOf(healthRulesJSON))},
			Rules:      healthRules,
		}},
		ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{{
			TypeMeta:   rbacType("ClusterRoleBinding"),
			ObjectMeta: metav1.ObjectMeta{Name: cluster, Labels: labels(bindingHash("ClusterRole", cluster))},
			RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: cluster},
			Subjects:   subjects,
		}},
	}}
	must.Equal(t, "result", got, want)
	got[0].Roles[0].Rules[0].Verbs[0] = "changed"
	must.Equal(t, "the rules of the ClusterServiceVersion are shared with the Role", podRules[0].Verbs[0], "get")
}

func TestRBACAccounts(t *testing.T) {
	tests := map[string]struct {
		permissions, cluster []v1alpha1.StrategyDeploymentPermissions
		want                 []string // account: objects
	}{
		"none": {},
		"order of first use": {
			permissions: []v1alpha1.StrategyDeploymentPermissions{permit("z", podRules), permit("a", podRules)},
			cluster:     []v1alpha1.StrategyDeploymentPermissions{permit("b", podRules), permit("a", healthRules)},
			want: []string{
				"z: ServiceAccount Role RoleBinding",
				"a: ServiceAccount Role RoleBinding ClusterRole ClusterRoleBinding",
				"b: ServiceAccount ClusterRole ClusterRoleBinding",
			},
		},
		"the default account is not made": {
			permissions: []v1alpha1.StrategyDeploymentPermissions{permit("default", podRules), permit("", podRules)},
			want:        []string{"default: Role Role RoleBinding RoleBinding"},
		},
		"repeated permissions count once": {
			permissions: []v1alpha1.StrategyDeploymentPermissions{permit("a", podRules), permit("a", podRules), permit("a", healthRules)},
			cluster:     []v1alpha1.StrategyDeploymentPermissions{permit("a", podRules), permit("a", podRules)},
			want:        []string{"a: ServiceAccount Role Role RoleBinding RoleBinding ClusterRole ClusterRoleBinding"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			accounts := must.Value(RBAC(testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.InstallStrategy.StrategySpec.Permissions = tc.permissions
				csv.Spec.InstallStrategy.StrategySpec.ClusterPermissions = tc.cluster
			})))(t)
			var got []string
			for _, account := range accounts {
				kinds := []string{}
				for _, object := range account.objects() {
					kinds = append(kinds, object.GetObjectKind().GroupVersionKind().Kind)
				}
				got = append(got, account.Name+": "+strings.Join(kinds, " "))
			}
			must.Equal(t, "result", got, tc.want)
		})
	}
}

// TestRBACNames shows what names depend on: a ClusterRole on the namespace, a Role not.
func TestRBACNames(t *testing.T) {
	names := func(namespace, name string) (role, cluster string) {
		accounts := must.Value(RBAC(testCSV(func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Namespace, csv.Name = namespace, name
			csv.Spec.InstallStrategy.StrategySpec.Permissions = []v1alpha1.StrategyDeploymentPermissions{permit("sa", podRules)}
			csv.Spec.InstallStrategy.StrategySpec.ClusterPermissions = []v1alpha1.StrategyDeploymentPermissions{permit("sa", podRules)}
		})))(t)
		return accounts[0].Roles[0].Name, accounts[0].ClusterRoles[0].Name
	}
	roleA, clusterA := names("a", "op.v1")
	roleB, clusterB := names("b", "op.v1")
	if roleA != roleB || clusterA == clusterB {
		t.Errorf("in two namespaces: Roles %s and %s, ClusterRoles %s and %s", roleA, roleB, clusterA, clusterB)
	}
	long := strings.Repeat("x", 60)
	role1, cluster1 := names("a", long+".v1")
	role2, cluster2 := names("a", long+".v2")
	if role1 == role2 || cluster1 == cluster2 || len(role1) > 63 || len(cluster1) > 63 {
		t.Errorf("names that are cut: %s, %s, %s, %s", role1, role2, cluster1, cluster2)
	}
}

func TestLift(t *testing.T) {
	labels := map[string]string{"olm.owner": "op"}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "ns", Labels: labels, OwnerReferences: []metav1.OwnerReference{{Name: "op"}}}, Rules: podRules}
	wantRole := &rbacv1.ClusterRole{
		TypeMeta:   rbacType("ClusterRole"),
		ObjectMeta: metav1.ObjectMeta{Name: "r", Labels: labels},
		Rules: []rbacv1.PolicyRule{podRules[0], {
			Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"},
		}},
	}
	must.Equal(t, "role", LiftRole(role), wantRole)
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "sa", Namespace: "ns"}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns", Labels: labels},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "r"}, Subjects: subjects,
	}
	wantBinding := &rbacv1.ClusterRoleBinding{
		TypeMeta:   rbacType("ClusterRoleBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: labels},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "r"}, Subjects: subjects,
	}
	must.Equal(t, "binding", LiftRoleBinding(binding), wantBinding)
}
