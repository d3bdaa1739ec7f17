package registryv1

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const (
	// defaultServiceAccount exists in every namespace and is never created.
	defaultServiceAccount = "default"
	// maxRoleName is the length of the longest name that is made here.
	maxRoleName        = 63
	serviceAccountKind = "ServiceAccount"
)

// serviceAccounts are those that the permissions name, in that order. One that is among the manifests is rendered there, with whatever its
// author gave it.
func (r *renderer) serviceAccounts() ([]runtime.Object, error) {
	done := map[string]bool{defaultServiceAccount: true}
	for _, object := range r.bundle.Objects {
		if object.GetKind() == serviceAccountKind {
			done[object.GetName()] = true
		}
	}
	var out []runtime.Object
	strategy := r.csv.Spec.InstallStrategy.StrategySpec
	for _, permission := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		name := accountName(permission)
		if done[name] {
			continue
		}
		done[name] = true
		out = append(out, &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: serviceAccountKind}, ObjectMeta: r.meta(name)})
	}
	return out, nil
}

func accountName(permission v1alpha1.StrategyDeploymentPermissions) string {
	return cmp.Or(permission.ServiceAccountName, defaultServiceAccount)
}

// roles give the permissions in every target namespace.
func (r *renderer) roles() ([]runtime.Object, error) {
	if r.all() {
		return nil, nil // clusterRoles has them
	}
	var out []runtime.Object
	for _, namespace := range r.targets {
		done := map[string]bool{}
		for _, permission := range r.csv.Spec.InstallStrategy.StrategySpec.Permissions {
			name, err := roleName(r.csv.Name, permission)
			if err != nil {
				return nil, err
			}
			if done[name] {
				continue // the same permission once more
			}
			done[name] = true
			meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
			out = append(out,
				&rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: meta, Rules: permission.Rules},
				&rbacv1.RoleBinding{TypeMeta: rbacType("RoleBinding"), ObjectMeta: meta, RoleRef: roleRef("Role", name), Subjects: r.subjects(accountName(permission))},
			)
		}
	}
	return out, nil
}

// clusterRoles give the cluster permissions, and the permissions as well when the operator watches all namespaces.
func (r *renderer) clusterRoles() ([]runtime.Object, error) {
	permissions := slices.Clone(r.csv.Spec.InstallStrategy.StrategySpec.ClusterPermissions)
	if r.all() {
		for _, permission := range r.csv.Spec.InstallStrategy.StrategySpec.Permissions {
			permissions = append(permissions, forAllNamespaces(permission))
		}
	}
	var out []runtime.Object
	done := map[string]bool{}
	for _, permission := range permissions {
		name, err := roleName(r.csv.Name, permission)
		if err != nil {
			return nil, err
		}
		if done[name] {
			continue
		}
		done[name] = true
		meta := metav1.ObjectMeta{Name: name}
		out = append(out,
			&rbacv1.ClusterRole{TypeMeta: rbacType("ClusterRole"), ObjectMeta: meta, Rules: permission.Rules},
			&rbacv1.ClusterRoleBinding{TypeMeta: rbacType("ClusterRoleBinding"), ObjectMeta: meta, RoleRef: roleRef("ClusterRole", name), Subjects: r.subjects(accountName(permission))},
		)
	}
	return out, nil
}

// forAllNamespaces is a permission that an operator of all namespaces has in each: it has to see which ones there are.
func forAllNamespaces(permission v1alpha1.StrategyDeploymentPermissions) v1alpha1.StrategyDeploymentPermissions {
	permission.Rules = append(slices.Clip(permission.Rules), rbacv1.PolicyRule{
		Verbs: []string{"get", "list", "watch"}, APIGroups: []string{corev1.GroupName}, Resources: []string{"namespaces"},
	})
	return permission
}

// roleName names the role for a permission: clusters that were installed by the published implementation have the same names. Of a name that
// would be exactly one character too long that implementation cuts nothing; here it has maxRoleName characters like all others.
func roleName(csv string, permission v1alpha1.StrategyDeploymentPermissions) (string, error) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(permission); err != nil {
		return "", fmt.Errorf("name the role of service account %s: %w", accountName(permission), err)
	}
	sum := sha256.Sum224(text.Bytes())
	suffix := new(big.Int).SetBytes(sum[:]).Text(36)
	base := csv + "-" + accountName(permission)
	if room := maxRoleName - 1 - len(suffix); len(base) > room {
		base = base[:room]
	}
	return base + "-" + suffix, nil
}

func (r *renderer) subjects(account string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: r.options.Namespace}}
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}
