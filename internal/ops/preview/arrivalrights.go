package preview

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// account examines what the service account of the OperatorGroup lacks to install the operators: the objects of the InstallPlan and those of the install
// strategies are written with its rights. Of CustomResourceDefinitions, which are written with those of the manager, it must be allowed to patch those that
// operators elsewhere share, or that no operator has.
func (all *arrivals) account(ctx context.Context, plan *SubscriptionPlan) error {
	group := all.fit.group()
	switch {
	case group == nil && len(all.namespace.Groups) == 0 && !all.fit.complete:
		plan.NotExamined = fmt.Sprintf("the OperatorGroup of namespace %s, which says whose rights count, is not known", all.namespace.Name)
		return nil
	case group == nil:
		plan.NotExamined = fmt.Sprintf("namespace %s does not have exactly one OperatorGroup with targets, which says whose rights count", all.namespace.Name)
		return nil
	case group.Spec.ServiceAccountName == "":
		plan.NotExamined = fmt.Sprintf("OperatorGroup %s/%s names no service account, so operators are installed with the rights of the manager", group.Namespace, group.Name)
		return nil
	}
	plan.Account = group.Spec.ServiceAccountName
	subject := permissions.ServiceAccount(group.Namespace, plan.Account)
	objects, needs := all.written(group, plan)
	rules, err := permissions.Read(ctx, all.Client, all.Client.RESTMapper(), objects, needs...)
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	if err != nil {
		plan.unexamined(messages.Unseen(err, "roles and bindings", "they tell what ServiceAccount "+plan.Account+" may do"))
		all.mayPatch(plan.Account, nil)
		return nil
	}
	all.mayPatch(plan.Account, rules)
	missing, err := permissions.Missing(subject, rules, objects, needs...)
	if err != nil {
		plan.unexamined(err.Error())
	}
	roles, err := permissions.Manifests(roleName(all.namespace.Name, all.subscription), subject, missing)
	plan.MissingRoles = string(roles)
	return err
}

// written are the objects that are written with the rights of the account, and the further requests that it must be allowed to make.
func (all *arrivals) written(group *operatorsv1.OperatorGroup, plan *SubscriptionPlan) (objects []*unstructured.Unstructured, needs []permissions.Need) {
	for _, a := range all.operators {
		if a.csv == nil {
			plan.unexamined(fmt.Sprintf("%s: %s", a.Bundle.Name, a.unknown))
			continue
		}
		made, err := madeAs(a, group.Status.Namespaces)
		if err != nil {
			plan.unexamined(err.Error())
		}
		objects = append(objects, made...)
		for _, c := range a.change.CRDs {
			if c.asked {
				needs = append(needs, patches(c.Name))
			}
		}
	}
	return objects, needs
}

// patches is the request to change a definition.
func patches(definition string) permissions.Need {
	return permissions.Need{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions", Name: definition, Verbs: []string{"patch"}}
}

// mayPatch notes of the definitions that the account must itself be allowed to patch whether it is not, or whether that is not known, as without rules.
func (all *arrivals) mayPatch(account string, rules permissions.RuleSource) {
	subject := permissions.ServiceAccount(all.namespace.Name, account)
	for _, a := range all.operators {
		for i := range a.change.CRDs {
			c := &a.change.CRDs[i]
			if !c.asked {
				continue
			}
			finding := "whether it is, is not known"
			if rules != nil {
				missing, err := permissions.Missing(subject, rules, nil, patches(c.Name))
				if err == nil && len(missing) == 0 {
					continue
				}
				if len(missing) > 0 {
					finding = "it is not"
				}
			}
			if c.Verdict == CRDSafe {
				c.Verdict = CRDUnchecked
			}
			c.Findings = append(c.Findings, fmt.Sprintf("other operators share it, or no operator has it, so ServiceAccount %s/%s must be allowed to patch it: %s", all.namespace.Name, account, finding))
		}
	}
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
