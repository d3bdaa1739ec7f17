package clusterserviceversion

import (
	"context"
	"maps"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// copied are the Roles and RoleBindings that the CSV asks for, in the target namespaces besides its own. A namespace that
// does not exist, or is going, has none.
func (f *facts) copied(ctx context.Context, accounts []*bundle.AccountRBAC, targets []string) ([]client.Object, error) {
	var out []client.Object
	for _, target := range targets {
		ready, err := f.c.namespaceReady(ctx, target)
		if err != nil {
			return nil, err
		}
		if target == f.csv.Namespace || !ready {
			continue
		}
		copies, err := f.copiesIn(ctx, accounts, target)
		if err != nil {
			return nil, err
		}
		out = append(out, copies...)
	}
	return out, nil
}

// copiesIn are the copies in one namespace.
func (f *facts) copiesIn(ctx context.Context, accounts []*bundle.AccountRBAC, target string) ([]client.Object, error) {
	var out []client.Object
	for _, account := range accounts {
		for i, role := range account.Roles {
			binding := account.RoleBindings[i]
			copiedRole := &rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: f.copyMeta(role, target), Rules: role.Rules}
			copiedBinding := &rbacv1.RoleBinding{TypeMeta: rbacType("RoleBinding"), ObjectMeta: f.copyMeta(binding, target), RoleRef: binding.RoleRef, Subjects: binding.Subjects}
			for _, o := range []client.Object{copiedRole, copiedBinding} {
				if err := f.nameAsOwn(ctx, o); err != nil {
					return nil, err
				}
			}
			copiedBinding.RoleRef.Name = copiedRole.Name
			out = append(out, copiedRole, copiedBinding)
		}
	}
	return out, nil
}

// isCopied says whether a Role or RoleBinding of the CSV is a copy.
func (f *facts) isCopied(object client.Object) bool {
	return object.GetLabels()[v1alpha1.CopiedFromLabel] == f.csv.Namespace
}

// copyMeta is the metadata of a copy. It has no owner reference: the CSV is in another namespace.
func (f *facts) copyMeta(object client.Object, namespace string) metav1.ObjectMeta {
	labels := maps.Clone(object.GetLabels())
	labels[v1alpha1.CopiedFromLabel] = f.csv.Namespace
	labels[v1alpha1.ManagedLabel] = v1alpha1.ManagedLabelValue
	return metav1.ObjectMeta{Name: object.GetName(), Namespace: namespace, Labels: labels}
}
