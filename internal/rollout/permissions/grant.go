package permissions

import (
	"bytes"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Manifests are the Roles, ClusterRoles and bindings, as YAML that can be applied, that give a subject the missing rules. All have the name.
// There is none when nothing is missing.
func Manifests(name string, subject Subject, missing []MissingRule) ([]byte, error) {
	var out bytes.Buffer
	for _, object := range granting(name, subject, missing) {
		manifest, err := yaml.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("write a role for the permissions that %s lacks: %w", subject.User, err)
		}
		if out.Len() > 0 {
			out.WriteString("---\n")
		}
		out.Write(manifest)
	}
	return out.Bytes(), nil
}

// granting makes a role and its binding for each namespace. The rules come sorted by namespace.
func granting(name string, subject Subject, missing []MissingRule) []any {
	var objects []any
	for len(missing) > 0 {
		namespace := missing[0].Namespace
		var rules []rbacv1.PolicyRule
		for len(missing) > 0 && missing[0].Namespace == namespace {
			rules = append(rules, missing[0].PolicyRule)
			missing = missing[1:]
		}
		metadata := metav1.ObjectMeta{Name: name, Namespace: namespace}
		subjects := []rbacv1.Subject{subject.bindable()}
		if namespace == "" {
			objects = append(objects,
				&rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metadata, Rules: rules},
				&rbacv1.ClusterRoleBinding{TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: metadata, Subjects: subjects, RoleRef: roleRef("ClusterRole", name)})
			continue
		}
		objects = append(objects,
			&rbacv1.Role{TypeMeta: typeMeta("Role"), ObjectMeta: metadata, Rules: rules},
			&rbacv1.RoleBinding{TypeMeta: typeMeta("RoleBinding"), ObjectMeta: metadata, Subjects: subjects, RoleRef: roleRef("Role", name)})
	}
	return objects
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

// bindable is the subject as bindings name it.
func (s Subject) bindable() rbacv1.Subject {
	if namespace, name, ok := s.account(); ok {
		return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
	}
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.User}
}
