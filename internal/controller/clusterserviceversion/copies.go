package clusterserviceversion

import (
	"context"
	"maps"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// copied are the CSV's Roles and RoleBindings in the target namespaces besides its own. A namespace that does not exist,
// or is going, has none.
func (f *facts) copied(ctx context.Context, owned *roleSet, targets []string) ([]client.Object, error) {
	var out []client.Object
	for _, target := range targets {
		ready, err := f.c.namespaceReady(ctx, target)
		if err != nil {
			return nil, err
		}
		if target == f.csv.Namespace || !ready {
			continue
		}
		copies, err := f.copiesIn(ctx, owned, target)
		if err != nil {
			return nil, err
		}
		out = append(out, copies...)
	}
	return out, nil
}

// copiesIn are the copies in one namespace.
func (f *facts) copiesIn(ctx context.Context, owned *roleSet, target string) ([]client.Object, error) {
	var out []client.Object
	names := map[string]string{}
	for i := range owned.roles {
		role := &owned.roles[i]
		if !f.original(role) {
			continue
		}
		copied := &rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: f.copyMeta(role, target), Rules: role.Rules}
		name, err := f.ownName(ctx, copied)
		if err != nil {
			return nil, err
		}
		copied.Name, names[role.Name] = name, name
		out = append(out, copied)
	}
	for i := range owned.bindings {
		binding := &owned.bindings[i]
		if !f.original(binding) {
			continue
		}
		copied := &rbacv1.RoleBinding{TypeMeta: rbacType("RoleBinding"), ObjectMeta: f.copyMeta(binding, target), RoleRef: binding.RoleRef, Subjects: binding.Subjects}
		name, err := f.ownName(ctx, copied)
		if err != nil {
			return nil, err
		}
		copied.Name = name
		copied.RoleRef.Name = renamed(names, binding.RoleRef)
		out = append(out, copied)
	}
	return out, nil
}

// renamed is the name of the role that stands for the Role that a binding refers to.
func renamed(names map[string]string, ref rbacv1.RoleRef) string {
	if name, ok := names[ref.Name]; ok && ref.Kind == "Role" {
		return name
	}
	return ref.Name
}

// copyMeta is the metadata of a copy. It has no owner reference: the CSV is in another namespace.
func (f *facts) copyMeta(object client.Object, namespace string) metav1.ObjectMeta {
	labels := maps.Clone(object.GetLabels())
	labels[v1alpha1.CopiedFromLabel] = f.csv.Namespace
	labels[v1alpha1.ManagedLabel] = v1alpha1.ManagedLabelValue
	return metav1.ObjectMeta{Name: object.GetName(), Namespace: namespace, Labels: labels}
}
