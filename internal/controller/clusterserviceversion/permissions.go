package clusterserviceversion

import (
	"context"
	"fmt"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

const (
	systemSpace = "kube-system"

	// liftedFromAnnotation marks ClusterRoles and ClusterRoleBindings that stand for a Role or RoleBinding of this
	// namespace, and distinguishes them from those that the operator asked for.
	liftedFromAnnotation = "fairlead.dev/lifted-from"
	// servingAnnotation marks the rights of the pods that serve webhooks and aggregated APIs for operators of this
	// namespace, and distinguishes them from those that bundles bring.
	servingAnnotation = "fairlead.dev/serving-for"
)

func roleLists() []client.ObjectList {
	return []client.ObjectList{&rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}}
}

// madeFor reports whether this controller made a role or binding for operators of the namespace of a CSV, for the purpose that a mark stands for:
// liftedFromAnnotation, servingAnnotation, or the label of copies.
func madeFor(object client.Object, csv *v1alpha1.ClusterServiceVersion, mark string) bool {
	if mark == v1alpha1.CopiedFromLabel {
		return object.GetLabels()[mark] == csv.Namespace
	}
	return object.GetAnnotations()[mark] == csv.Namespace
}

// rights work out the roles and bindings of an operator, under names that are free.
type rights struct {
	*observer
	members membership
}

// permissions work out what gives the operator its permissions in its target namespaces: lifted to the cluster where these
// are all namespaces, copied where they are others than its own.
//
// Of the Roles that the CSV asks for, the CSV is the only source: a client that may edit them in its namespace would get in other namespaces what it
// may have in this one only. Further Roles with the labels of the CSV are lifted within the bounds of promotable.
func (o rights) permissions(ctx context.Context, owned []client.Object) ([]client.Object, error) {
	accounts, err := bundle.RBAC(o.csv)
	if err != nil {
		return nil, refused(err)
	}
	if slices.Contains(o.members.targets(), metav1.NamespaceAll) {
		// The ClusterRoles and ClusterRoleBindings that stand for the Roles and RoleBindings that the CSV asks for, and for further ones
		// that carry its labels.
		var out []client.Object
		names := map[string]string{} // of the lifted roles, by those of the Roles
		for _, account := range accounts {
			for i := range account.Roles {
				role, binding := bundle.LiftRole(account.Roles[i]), bundle.LiftRoleBinding(account.RoleBindings[i])
				for _, object := range []client.Object{role, binding} {
					object.SetAnnotations(map[string]string{liftedFromAnnotation: o.csv.Namespace})
					if err := o.nameAsOwn(ctx, object); err != nil {
						return nil, err
					}
				}
				binding.RoleRef.Name = role.Name
				names[account.Roles[i].Name] = role.Name
				out = append(out, role, binding)
			}
		}
		more, err := o.promoted(ctx, accounts, owned, names)
		return append(out, more...), err
	}
	var out []client.Object
	for _, target := range o.members.targets() {
		exists, going, err := o.namespace(ctx, target)
		if err != nil {
			return nil, err
		}
		if target == o.csv.Namespace || !exists || going {
			continue // a namespace that does not exist, or is being deleted, has none
		}
		for _, account := range accounts {
			for i, role := range account.Roles {
				binding := account.RoleBindings[i]
				copiedRole := &rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: copyMeta(o.csv, role, target), Rules: role.Rules}
				copiedBinding := &rbacv1.RoleBinding{TypeMeta: rbacType("RoleBinding"), ObjectMeta: copyMeta(o.csv, binding, target), RoleRef: binding.RoleRef, Subjects: binding.Subjects}
				for _, object := range []client.Object{copiedRole, copiedBinding} {
					if err := o.nameAsOwn(ctx, object); err != nil {
						return nil, err
					}
				}
				copiedBinding.RoleRef.Name = copiedRole.Name
				out = append(out, copiedRole, copiedBinding)
			}
		}
	}
	return out, nil
}

// copyMeta is the metadata of a copy. It has no owner reference: the CSV is in another namespace.
func copyMeta(csv *v1alpha1.ClusterServiceVersion, object client.Object, namespace string) metav1.ObjectMeta {
	labels := maps.Clone(object.GetLabels())
	labels[v1alpha1.CopiedFromLabel] = csv.Namespace
	labels[v1alpha1.ManagedLabel] = v1alpha1.ManagedLabelValue
	return metav1.ObjectMeta{Name: object.GetName(), Namespace: namespace, Labels: labels}
}

// promoted are the ClusterRoles and ClusterRoleBindings that stand for those Roles and RoleBindings of the CSV's namespace which carry its owner labels
// although it does not ask for them, such as Roles that a user labelled. Names are the lifted roles by those of the Roles that it asks for; what is promoted
// is added.
//
// A client that may write Roles in the namespace, such as its administrator, thereby changes what the operator may do in others. So the OperatorGroup, which
// only administrators of the cluster write, has to ask for it; nothing is promoted in a group with an account, which bounds what its namespace may do; only
// the accounts that the operator runs as are bound; and only roles that were lifted here are bound to, never a ClusterRole of that name.
func (o rights) promoted(ctx context.Context, accounts []*bundle.AccountRBAC, owned []client.Object, names map[string]string) ([]client.Object, error) {
	group := o.members.one()
	if group == nil || group.Spec.ServiceAccountName != "" || group.Annotations[v1alpha1.PromoteRolesAnnotation] != "true" {
		return nil, nil
	}
	var lifted []client.Object
	// promote adds an object, unless it finds no name for it: a label must not keep the operator from being installed.
	promote := func(object client.Object) (bool, error) {
		object.SetAnnotations(map[string]string{liftedFromAnnotation: o.csv.Namespace})
		object.SetLabels(bundle.OwnerLabels(o.csv)) // any other label may make cluster roles gather the rules
		err := o.nameAsOwn(ctx, object)
		if err == nil {
			lifted = append(lifted, object)
		}
		if err != nil && isOurRefusal(err) {
			return false, nil
		}
		return err == nil, err
	}
	for _, object := range owned {
		role, ok := object.(*rbacv1.Role)
		if !ok || names[role.Name] != "" || !promotable(role, o.csv) {
			continue
		}
		to := bundle.LiftRole(role)
		if named, err := promote(to); err != nil {
			return nil, err
		} else if named {
			names[role.Name] = to.Name
		}
	}
	for _, object := range owned {
		binding, ok := object.(*rbacv1.RoleBinding)
		if !ok || !promotable(binding, o.csv) || binding.RoleRef.Kind != "Role" || names[binding.RoleRef.Name] == "" {
			continue
		}
		to := bundle.LiftRoleBinding(binding)
		to.RoleRef.Name, to.Subjects = names[binding.RoleRef.Name], nil
		asked := false
		for _, account := range accounts {
			asked = asked || slices.ContainsFunc(account.RoleBindings, func(b *rbacv1.RoleBinding) bool { return b.Name == binding.Name })
		}
		for _, s := range binding.Subjects {
			if s.Kind == rbacv1.ServiceAccountKind && s.Namespace == o.csv.Namespace && slices.ContainsFunc(accounts, func(a *bundle.AccountRBAC) bool { return a.Name == s.Name }) {
				to.Subjects = append(to.Subjects, s)
			}
		}
		if asked || len(to.Subjects) == 0 {
			continue
		}
		if _, err := promote(to); err != nil {
			return nil, err
		}
	}
	return lifted, nil
}

// promotable reports whether an object with the owner labels of the CSV is in its namespace, and was not made there by this controller for another purpose.
func promotable(object client.Object, csv *v1alpha1.ClusterServiceVersion) bool {
	return object.GetNamespace() == csv.Namespace && object.GetDeletionTimestamp().IsZero() && !madeFor(object, csv, servingAnnotation) && !madeFor(object, csv, v1alpha1.CopiedFromLabel)
}

// surplus are the lifted and copied roles and bindings that are not to be kept.
func surplus(csv *v1alpha1.ClusterServiceVersion, owned []client.Object, keep func(client.Object) bool) []client.Object {
	var out []client.Object
	for _, object := range owned {
		mark := v1alpha1.CopiedFromLabel
		if object.GetNamespace() == "" {
			mark = liftedFromAnnotation
		}
		if madeFor(object, csv, mark) && !keep(object) {
			out = append(out, object)
		}
	}
	return out
}

// among reports which objects are among the desired ones.
func among(desired []client.Object) (keep func(client.Object) bool) {
	names := map[string]bool{}
	for _, object := range desired {
		names[describeObject(object)] = true
	}
	return func(object client.Object) bool { return names[describeObject(object)] }
}

// beyondTargets are permissions that the operator has by way of its group, outside of what the group targets now.
// Where that is not known, because there are several groups or the group has not selected yet, there are none.
func (o rights) beyondTargets(ctx context.Context) ([]client.Object, error) {
	if len(o.members) > 1 || o.members.unsynced(nil).holds {
		return nil, nil
	}
	owned, err := o.ownedObjects(ctx, true, roleLists()...)
	if err != nil {
		return nil, err
	}
	all := slices.Contains(o.members.targets(), metav1.NamespaceAll)
	return surplus(o.csv, owned, func(object client.Object) bool {
		if object.GetNamespace() == "" {
			return all
		}
		return !all && slices.Contains(o.members.targets(), object.GetNamespace())
	}), nil
}

// nameAsOwn gives a role or binding a name that is free. It has a documented name, which does not distinguish the
// namespaces that an operator runs in, and which a bundle or a user may have given to something of their own: what is not
// marked as made by this controller for an operator of this namespace is never overwritten. There, the namespace is added.
func (o rights) nameAsOwn(ctx context.Context, object client.Object) error {
	documented := object.GetName()
	for _, name := range []string{documented, documented + "-" + o.csv.Namespace} {
		object.SetName(name)
		live, err := o.likeThis(ctx, object)
		if err == nil && live == nil { // the cache may not show yet what others have just made
			live = emptyLike(object)
			if err = o.live.Get(ctx, client.ObjectKeyFromObject(object), live); client.IgnoreNotFound(err) != nil {
				err = fmt.Errorf("read %s: %w", describeObject(object), err)
			} else if err != nil {
				return nil
			}
		}
		if err != nil || madeLike(live, object, o.csv) {
			return err
		}
	}
	return refused(fmt.Errorf("make %s %s: it exists, and so does %s, and neither was made for an operator of namespace %s: rename or delete one of them",
		kindOf(object), client.ObjectKey{Namespace: object.GetNamespace(), Name: documented}, object.GetName(), o.csv.Namespace))
}

// madeLike reports whether this controller made the live object, for an operator of the namespace and for the same purpose
// as the desired one; an earlier version of the operator may have left it. Other lifecycle managers use the same names and
// no mark: what lacks nothing but the mark is adopted. What a revision of an extension has adopted keeps its name, and is not written.
func madeLike(live, desired client.Object, csv *v1alpha1.ClusterServiceVersion) bool {
	if isAdopted(live) {
		return live.GetAnnotations()[liftedFromAnnotation]+live.GetAnnotations()[servingAnnotation] == csv.Namespace || madeFor(live, csv, v1alpha1.CopiedFromLabel)
	}
	owner, ok := ownerOf(live)
	if !ok || owner.Namespace != csv.Namespace {
		return false
	}
	for _, mark := range []string{liftedFromAnnotation, servingAnnotation, v1alpha1.CopiedFromLabel} {
		if madeFor(desired, csv, mark) && madeFor(live, csv, mark) {
			return true
		}
	}
	should, _ := ownerOf(desired)
	same := equality.Semantic.DeepEqual
	switch d := desired.(type) {
	case *rbacv1.Role:
		return owner == should && same(live.(*rbacv1.Role).Rules, d.Rules)
	case *rbacv1.ClusterRole:
		return owner == should && same(live.(*rbacv1.ClusterRole).Rules, d.Rules)
	case *rbacv1.RoleBinding:
		l := live.(*rbacv1.RoleBinding)
		return owner == should && l.RoleRef == d.RoleRef && same(l.Subjects, d.Subjects)
	case *rbacv1.ClusterRoleBinding:
		l := live.(*rbacv1.ClusterRoleBinding)
		return owner == should && l.RoleRef == d.RoleRef && same(l.Subjects, d.Subjects)
	}
	return false
}

// servingObjects are the Services in front of the Deployments that serve webhooks and aggregated APIs, and the rights
// that such servers need: to read their certificate, and to have the cluster authenticate and authorize callers.
func (o rights) servingObjects(ctx context.Context) ([]client.Object, error) {
	services, err := bundle.Services(o.csv)
	if err != nil {
		return nil, refused(err)
	}
	var out []client.Object
	for _, service := range services {
		out = append(out, service)
	}
	for _, deployment := range bundle.ServingDeployments(o.csv) {
		certificate, readsCertificate, delegation := servingAccess(o.csv, deployment)
		for _, object := range append([]client.Object{certificate, readsCertificate}, delegation...) {
			object.SetAnnotations(map[string]string{servingAnnotation: o.csv.Namespace})
			if err := o.nameAsOwn(ctx, object); err != nil {
				return nil, err
			}
			out = append(out, object)
		}
		readsCertificate.RoleRef.Name = certificate.Name
	}
	return out, nil
}

// servingAccess are the rights of the pods of one Deployment: to read their certificate, and the delegation by which they find out who calls them and what
// the callers may do.
func servingAccess(csv *v1alpha1.ClusterServiceVersion, deployment string) (certificate *rbacv1.Role, readsCertificate *rbacv1.RoleBinding, delegation []client.Object) {
	secret := bundle.ServingSecretName(deployment)
	delegates, authenticates := bundle.Delegation(csv, deployment)
	own := metav1.ObjectMeta{Name: secret, Namespace: csv.Namespace, Labels: managedLabels(csv)}
	own.OwnerReferences = []metav1.OwnerReference{bundle.OwnerReference(csv)}
	certificate = &rbacv1.Role{
		TypeMeta:   rbacType("Role"),
		ObjectMeta: own,
		Rules: []rbacv1.PolicyRule{{
			Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secret},
		}},
	}
	readsCertificate = &rbacv1.RoleBinding{
		TypeMeta:   rbacType("RoleBinding"),
		ObjectMeta: *own.DeepCopy(),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: secret},
		Subjects:   delegates.Subjects,
	}
	return certificate, readsCertificate, []client.Object{delegates, authenticates}
}

// managedLabels are the labels of objects that this controller makes for a CSV.
func managedLabels(csv *v1alpha1.ClusterServiceVersion) map[string]string {
	labels := bundle.OwnerLabels(csv)
	labels[v1alpha1.ManagedLabel] = v1alpha1.ManagedLabelValue
	return labels
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}
