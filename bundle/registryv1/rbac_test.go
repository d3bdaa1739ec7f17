package registryv1

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// hashed is the name of the role for a permission of the test bundle: the permission, the cluster permission, and the permission for all
// namespaces. The JSON is written by hand, as the published implementation encodes it.
func hashed(t *testing.T, which int) string {
	t.Helper()
	text := []string{
		`{"serviceAccountName":"manager","rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`,
		`{"serviceAccountName":"manager","rules":[{"verbs":["list"],"apiGroups":[""],"resources":["nodes"]}]}`,
		`{"serviceAccountName":"manager","rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["namespaces"]}]}`,
	}[which] + "\n"
	sum := sha256.Sum224([]byte(text))
	hash := new(big.Int).SetBytes(sum[:]).Text(36)
	base := "op.v1.2.3-manager"
	return base[:min(len(base), 62-len(hash))] + "-" + hash
}

// roleName is the name of the role for a permission of a ClusterServiceVersion.
func roleName(csv string, permission v1alpha1.StrategyDeploymentPermissions) (string, error) {
	extension := bundle.Extension{CSV: &v1alpha1.ClusterServiceVersion{}, Targets: []string{""}}
	extension.CSV.Name = csv
	extension.CSV.Spec.InstallStrategy.StrategySpec.ClusterPermissions = []v1alpha1.StrategyDeploymentPermissions{permission}
	roles, err := extension.Roles()
	if err != nil {
		return "", err
	}
	return roles[0].(*rbacv1.ClusterRole).Name, nil
}

// TestRoleNames holds where names are cut: never more than 63 characters, and never the hash.
func TestRoleNames(t *testing.T) {
	permission := v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: "a", Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}}}}
	plain := must.Value(roleName("x", permission))(t)
	hash := strings.TrimPrefix(plain, "x-a-")
	if len(hash) < 40 || hash == plain {
		t.Fatalf("name %q", plain)
	}
	for length := 1; length < 40; length++ {
		name := must.Value(roleName(strings.Repeat("x", length), permission))(t)
		whole := strings.Repeat("x", length) + "-a-" + hash
		switch {
		case len(whole) <= 63 && name != whole:
			t.Errorf("name %q, want %q", name, whole)
		case len(whole) > 63 && (len(name) != 63 || !strings.HasSuffix(name, "-"+hash)):
			t.Errorf("name %q has %d characters", name, len(name))
		}
	}
	other, err := roleName("x", v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: "a"})
	if err != nil || other == plain {
		t.Errorf("two permissions have the name %q, error %v", other, err)
	}
}

// TestPublishedRoleName is the name that the published implementation gives to the role for leader election of a well-known bundle: clusters
// that are taken over keep their roles.
func TestPublishedRoleName(t *testing.T) {
	all := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	name, err := roleName("argocd-operator.v0.6.0", v1alpha1.StrategyDeploymentPermissions{
		ServiceAccountName: "argocd-operator-controller-manager",
		Rules: []rbacv1.PolicyRule{
			{Verbs: all, APIGroups: []string{""}, Resources: []string{"configmaps"}},
			{Verbs: all, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
			{Verbs: []string{"create", "patch"}, APIGroups: []string{""}, Resources: []string{"events"}},
		},
	})
	if want := "argocd-operator.v0-22gmilmgp91wu25is5i2ec598hni8owq3l71bbkl7iz3"; err != nil || name != want {
		t.Errorf("name %q, error %v, want %q", name, err, want)
	}
}

func TestServiceAccounts(t *testing.T) {
	b := loadTest(t, func(b *bundle.Bundle) {
		strategy := &b.CSV.Spec.InstallStrategy.StrategySpec
		strategy.Permissions = append(strategy.Permissions,
			v1alpha1.StrategyDeploymentPermissions{Rules: strategy.Permissions[0].Rules},
			v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: "given", Rules: strategy.Permissions[0].Rules},
			strategy.Permissions[0])
		b.Objects = append(b.Objects, manifest(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: given, labels: {a: b}}, imagePullSecrets: [{name: pull}]}"))
	})
	out := mustRender(t, b, Options{Config: json.RawMessage(`{"watchNamespace": "operators"}`)})
	count := map[string]int{}
	for _, object := range out.Objects {
		count[object.GetKind()]++
	}
	must.Equal(t, "count", count, map[string]int{"ServiceAccount": 2, "Role": 3, "RoleBinding": 3, "ClusterRole": 1, "ClusterRoleBinding": 1, "CustomResourceDefinition": 1, "Deployment": 1})
	if given := find(t, out, "ServiceAccount", "operators", "given"); given["imagePullSecrets"] == nil {
		t.Errorf("the account of the bundle is %v", given)
	}
	for _, object := range out.Objects {
		if object.GetKind() == "RoleBinding" && strings.HasPrefix(object.GetName(), "op.v1.2.3-default") {
			must.Equal(t, "subjects", yamlOf(t, object.Object["subjects"]), "- kind: ServiceAccount\n  name: default\n  namespace: operators\n")
			return
		}
	}
	t.Error("the default account has no binding")
}
