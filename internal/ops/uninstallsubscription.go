package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout"
)

// ownedInNamespace are the kinds that a ClusterServiceVersion owns by reference, ownedAnywhere those that it owns by label.
var (
	ownedInNamespace = []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
		corev1.SchemeGroupVersion.WithKind("Secret"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		rbacv1.SchemeGroupVersion.WithKind("Role"), rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
		operatorsv1.GroupVersion.WithKind("OperatorCondition"),
	}
	ownedAnywhere = []schema.GroupVersionKind{
		rbacv1.SchemeGroupVersion.WithKind("Role"), rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
		rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"),
		admissionv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"), admissionv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"),
		apiregistrationv1.SchemeGroupVersion.WithKind("APIService"),
	}
)

// errNone says that there is nothing of a name.
var errNone = errors.New("there is none")

// UninstallSubscription finds out what goes and what stays with a Subscription, or with a ClusterServiceVersion that has none. The name is of one
// of them, or of a package that a Subscription of the namespace asks for.
func UninstallSubscription(ctx context.Context, reader client.Reader, o UninstallOptions) (*Removal, error) {
	r := &Removal{API: "v0"}
	sub, csvs, err := find(ctx, reader, o)
	if err != nil {
		return nil, err
	}
	if sub != nil {
		r.owner(sub, v1alpha1.SubscriptionKind)
		// The InstallPlans of the Subscription. Those that only it has go with it.
		var list v1alpha1.InstallPlanList
		if err := reader.List(ctx, &list, client.InNamespace(sub.Namespace)); err != nil {
			return nil, fmt.Errorf("list the InstallPlans of namespace %s: %w", sub.Namespace, err)
		}
		for _, p := range list.Items {
			ref := Ref{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.InstallPlanKind, Namespace: p.Namespace, Name: p.Name}
			switch mine := slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == sub.UID }); {
			case mine && len(p.OwnerReferences) == 1:
				r.Goes = append(r.Goes, ref)
			case mine:
				r.Stays, r.shared = append(r.Stays, Kept{ref, "other Subscriptions have it, too"}), true
			}
		}
	}
	removed := map[types.UID]bool{}
	for _, csv := range csvs {
		removed[csv.UID] = true
	}
	for _, csv := range csvs {
		r.owner(csv, v1alpha1.ClusterServiceVersionKind)
		if r.Version == "" || sub != nil && csv.Name == sub.Status.InstalledCSV {
			r.Version = csv.Spec.Version.String()
		}
		if err := r.operator(ctx, reader, csv, removed); err != nil {
			return nil, err
		}
	}
	if err := r.definitions(ctx, reader, csvs, o); err != nil {
		return nil, err
	}
	if err := r.around(ctx, reader, sub); err != nil {
		return nil, err
	}
	if len(r.unseen) > 0 {
		r.Notes = append(r.Notes, messages.Unseen(r.refused, safetext.List(r.unseen, shownKinds, ", "), "the manager removes those of the operator, and that is not waited for"))
	}
	r.sort()
	return r, r.check(o)
}

// shownKinds is how many kinds that the user may not list a note names.
const shownKinds = 4

// see reads objects of a kind that may go. A kind that the user may not list is noted.
func (r *Removal) see(kind string, err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	if many := kind + "s"; !slices.Contains(r.unseen, many) {
		r.unseen = append(r.unseen, many)
		r.refused = cmp.Or(r.refused, err)
	}
	return nil
}

// owner adds what the user removes; the first is what the removal is called after.
func (r *Removal) owner(o client.Object, kind string) {
	ref := Ref{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	if r.Operator.Name == "" {
		r.Operator, r.uid = ref, o.GetUID()
	}
	r.owners = append(r.owners, owner{ref, o.GetUID()})
	r.Goes = append(r.Goes, ref)
}

// operator adds what belongs to a ClusterServiceVersion. What another owner that exists has as well stays.
func (r *Removal) operator(ctx context.Context, reader client.Reader, csv *v1alpha1.ClusterServiceVersion, removed map[types.UID]bool) error {
	var failed error
	own := func(h rollout.Holder) bool {
		return removed[h.UID] || h.Labelled && h.IsOperator() && h.Name == csv.Name && h.Namespace == csv.Namespace
	}
	rules := rollout.ClaimRules{Unowned: func(metav1.Object) string { return "" }, Relate: func(h rollout.Holder) (rollout.Relation, string) {
		if own(h) {
			return rollout.Own, ""
		}
		if !h.IsOperator() {
			if h.Controller == nil || !*h.Controller {
				return rollout.Absent, ""
			}
			return rollout.Foreign, rollout.ControlledBy(h)
		}
		other := &metav1.PartialObjectMetadata{}
		other.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
		err := reader.Get(ctx, client.ObjectKey{Namespace: h.Namespace, Name: h.Name}, other)
		switch {
		case apierrors.IsNotFound(err) || err == nil && !h.Labelled && other.UID != h.UID:
			return rollout.Absent, ""
		case apierrors.IsForbidden(err): // it may be there
		case err != nil:
			failed = fmt.Errorf("read %s %s/%s, which owns objects of the operator as well: %w", h.Kind, h.Namespace, h.Name, err)
		}
		return rollout.Foreign, fmt.Sprintf("belongs to %s %s/%s as well", h.Kind, h.Namespace, h.Name)
	}}
	owned := func(m *metav1.PartialObjectMetadata) {
		labelled := slices.DeleteFunc(rollout.Holders(m), func(h rollout.Holder) bool { return !h.Labelled })
		holders := append(rollout.References(m), labelled...)
		if !slices.ContainsFunc(holders, own) {
			return
		}
		if claim := rules.Judge(m, holders); claim.Verdict != rollout.Granted {
			r.Stays = append(r.Stays, Kept{migrate.RefOf(m), "it " + claim.Reason})
			return
		}
		r.Goes = append(r.Goes, migrate.RefOf(m))
	}
	var kinds []kindOf
	for _, kind := range ownedInNamespace {
		kinds = append(kinds, kindOf{kind, client.InNamespace(csv.Namespace)})
	}
	for _, kind := range ownedAnywhere {
		kinds = append(kinds, kindOf{kind, client.MatchingLabels(bundle.OwnerLabels(csv))})
	}
	if err := r.each(ctx, reader, kinds, owned); err != nil {
		return err
	}
	return failed
}

// kindOf is a kind, and which of its objects.
type kindOf struct {
	schema.GroupVersionKind
	of client.ListOption
}

// each calls do with the metadata of objects of some kinds, in their order; they are listed at once. A kind that the cluster does not have has none.
func (r *Removal) each(ctx context.Context, reader client.Reader, kinds []kindOf, do func(*metav1.PartialObjectMetadata)) error {
	lists := make([]metav1.PartialObjectMetadataList, len(kinds))
	failed := together(len(kinds), func(i int) error {
		lists[i].SetGroupVersionKind(kinds[i].GroupVersion().WithKind(kinds[i].Kind + "List"))
		return reader.List(ctx, &lists[i], kinds[i].of)
	})
	for i, kind := range kinds {
		err := failed[i]
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			if err := r.see(kind.Kind, fmt.Errorf("list every %s of the operator: %w", kind.Kind, err)); err != nil {
				return err
			}
			continue
		}
		for j := range lists[i].Items {
			lists[i].Items[j].SetGroupVersionKind(kind.GroupVersionKind)
			do(&lists[i].Items[j])
		}
	}
	return nil
}

// around is what stays beside the operator.
func (r *Removal) around(ctx context.Context, reader client.Reader, sub *v1alpha1.Subscription) error {
	var groups operatorsv1.OperatorGroupList
	if err := reader.List(ctx, &groups, client.InNamespace(r.Operator.Namespace)); err != nil {
		return fmt.Errorf("list the OperatorGroups of namespace %s: %w", r.Operator.Namespace, err)
	}
	for _, g := range groups.Items {
		r.Stays = append(r.Stays, Kept{Ref{APIVersion: operatorsv1.GroupVersion.String(), Kind: operatorsv1.OperatorGroupKind, Namespace: g.Namespace, Name: g.Name}, "operators of the namespace share it"})
	}
	r.Stays = append(r.Stays, Kept{Ref{APIVersion: "v1", Kind: "Namespace", Name: r.Operator.Namespace}, "it may hold other things"})
	if sub == nil || sub.Spec == nil {
		return nil
	}
	// The Operator object, which no one needs when nothing of the operator is left.
	name := sub.Spec.Package + "." + sub.Namespace
	operator := &operatorsv1.Operator{}
	err := reader.Get(ctx, client.ObjectKey{Name: name}, operator)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if apierrors.IsForbidden(err) {
		return r.see("Operator", err)
	}
	if err != nil {
		return fmt.Errorf("read Operator %s: %w", name, err)
	}
	ref := Ref{APIVersion: operatorsv1.GroupVersion.String(), Kind: "Operator", Name: name}
	if r.shared { // the manager would make it again
		r.Stays = append(r.Stays, Kept{ref, "it lists the InstallPlan that stays"})
		return nil
	}
	if slices.ContainsFunc(r.CRDs, func(c CRD) bool { return !c.Goes }) {
		r.Stays = append(r.Stays, Kept{ref, "it lists the CustomResourceDefinitions that stay"})
		return nil
	}
	r.Goes, r.last = append(r.Goes, ref), append(r.last, ref)
	return nil
}
