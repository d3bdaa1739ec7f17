package preview

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// account examines what the service account of the OperatorGroup lacks to install the operators: the objects of the InstallPlan and those of the install
// strategies are written with its rights, CustomResourceDefinitions excepted.
func (all *arrivals) account(ctx context.Context, group *operatorsv1.OperatorGroup, plan *SubscriptionPlan) error {
	switch {
	case group == nil:
		plan.NotExamined = fmt.Sprintf("namespace %s does not have exactly one OperatorGroup with targets, which says whose rights count", all.namespace.Name)
		return nil
	case group.Spec.ServiceAccountName == "":
		plan.NotExamined = fmt.Sprintf("OperatorGroup %s/%s names no service account, so operators are installed with the rights of the manager", group.Namespace, group.Name)
		return nil
	}
	plan.Account = group.Spec.ServiceAccountName
	var objects []*unstructured.Unstructured
	for _, a := range all.operators {
		if a.csv == nil {
			plan.NotExamined = "the objects of " + a.Bundle.Name + " are not known from here"
			continue
		}
		made, err := madeAs(a, group.Status.Namespaces)
		if err != nil {
			return err
		}
		objects = append(objects, made...)
	}
	rules, err := permissions.Read(ctx, all.Client, all.Client.RESTMapper(), objects)
	if apierrors.IsForbidden(err) {
		plan.NotExamined = messages.Unseen(err, "roles and bindings", "what ServiceAccount "+plan.Account+" lacks is not known")
		plan.Notes = append(plan.Notes, plan.NotExamined)
		return nil
	}
	if err != nil {
		return err
	}
	subject := permissions.ServiceAccount(group.Namespace, plan.Account)
	missing, err := permissions.Missing(subject, rules, objects)
	var incomplete *permissions.IncompleteError
	if err != nil && !errors.As(err, &incomplete) {
		return err
	}
	if incomplete != nil {
		plan.NotExamined = incomplete.Error()
	}
	roles, err := permissions.Manifests(roleName(all.namespace.Name, all.subscription), subject, missing)
	plan.MissingRoles = string(roles)
	return err
}

// maxRoleName is how long the name of a role may be, in bytes.
const maxRoleName = 253

// roleName is that of the roles and bindings that are made for a Subscription. A ClusterRole of the same name would be shared with a Subscription of another
// namespace, or with a ClusterExtension: so it has the namespace, and a colon, which no name of these has.
func roleName(namespace, subscription string) string {
	name := namespace + ":" + subscription + "-installer"
	if len(name) <= maxRoleName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	rest := hex.EncodeToString(sum[:8]) + "-installer"
	return name[:maxRoleName-1-len(rest)] + "-" + rest
}

// madeAs are the objects that are made for an operator with the rights of an account, in a group with some targets: but for its
// CustomResourceDefinitions those of the steps, its Deployments and Services, and its roles where the group reaches.
func madeAs(a *arrival, targets []string) ([]*unstructured.Unstructured, error) {
	made := slices.DeleteFunc(slices.Clone(a.objects), func(u *unstructured.Unstructured) bool { return u.GetKind() == crdKind })
	made = append(made, workloads(a.csv)...)
	var more []runtime.Object
	services, err := bundle.Services(a.csv)
	if err != nil {
		return made, nil // the operator fails for it, which is said
	}
	for _, s := range services {
		s.Namespace = a.csv.Namespace
		more = append(more, s)
	}
	accounts, err := bundle.RBAC(a.csv)
	if err != nil {
		return nil, err
	}
	everywhere := slices.Contains(targets, metav1.NamespaceAll)
	for _, account := range accounts {
		for i, role := range account.Roles {
			if everywhere {
				more = append(more, bundle.LiftRole(role), bundle.LiftRoleBinding(account.RoleBindings[i]))
				continue
			}
			for _, target := range targets {
				if target == a.csv.Namespace {
					continue
				}
				copied, binding := role.DeepCopy(), account.RoleBindings[i].DeepCopy()
				copied.Namespace, binding.Namespace = target, target
				more = append(more, copied, binding)
			}
		}
	}
	for _, o := range more {
		u, err := bundle.ToUnstructured(o)
		if err != nil {
			return nil, fmt.Errorf("render what is made for %s %s: %w", v1alpha1.ClusterServiceVersionKind, a.csv.Name, err)
		}
		made = append(made, u)
	}
	return made, nil
}
