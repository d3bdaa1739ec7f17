package uninstall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// Subscription finds out what goes and what stays with a Subscription, or with a ClusterServiceVersion that has none. The name is of one
// of them, or of a package that a Subscription of the namespace asks for.
func Subscription(ctx context.Context, reader client.Reader, o Options) (*Removal, error) {
	r := &Removal{API: "v0"}
	sub, csv, err := find(ctx, reader, o)
	if err != nil {
		return nil, err
	}
	if sub != nil {
		r.owner(sub, v1alpha1.SubscriptionKind)
		if err := r.plans(ctx, reader, sub); err != nil {
			return nil, err
		}
	}
	if csv != nil {
		r.owner(csv, v1alpha1.ClusterServiceVersionKind)
		r.Version = csv.Spec.Version.String()
		if err := r.operator(ctx, reader, csv, o); err != nil {
			return nil, err
		}
	}
	if err := r.around(ctx, reader, sub); err != nil {
		return nil, err
	}
	r.sort()
	return r, r.check(o)
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

func find(ctx context.Context, reader client.Reader, o Options) (sub *v1alpha1.Subscription, csv *v1alpha1.ClusterServiceVersion, err error) {
	var subs v1alpha1.SubscriptionList
	var csvs v1alpha1.ClusterServiceVersionList
	for _, list := range []client.ObjectList{&subs, &csvs} {
		if err := reader.List(ctx, list, client.InNamespace(o.Namespace)); err != nil {
			return nil, nil, fmt.Errorf("read namespace %s: %w", o.Namespace, err)
		}
	}
	operator := func(name string) *v1alpha1.ClusterServiceVersion {
		for i := range csvs.Items {
			if csvs.Items[i].Name == name && !csvs.Items[i].IsCopied() {
				return &csvs.Items[i]
			}
		}
		return nil
	}
	installed := func(s *v1alpha1.Subscription) string {
		if s.Status.InstalledCSV != "" {
			return s.Status.InstalledCSV
		}
		return s.Status.CurrentCSV
	}
	for _, match := range []func(s *v1alpha1.Subscription) bool{
		func(s *v1alpha1.Subscription) bool { return s.Name == o.Name },
		func(s *v1alpha1.Subscription) bool { return s.Spec != nil && s.Spec.Package == o.Name },
		func(s *v1alpha1.Subscription) bool { return installed(s) == o.Name },
	} {
		for i := range subs.Items {
			if match(&subs.Items[i]) {
				return &subs.Items[i], operator(installed(&subs.Items[i])), nil
			}
		}
	}
	if csv = operator(o.Name); csv == nil {
		err = fmt.Errorf("uninstall %s: %w of that name in namespace %s: neither a Subscription, a package that one asks for, nor a ClusterServiceVersion; fairlead status -n %[3]s lists what there is", o.Name, errNone, o.Namespace)
	}
	return nil, csv, err
}

// plans are the InstallPlans that only this Subscription has; they go with it.
func (r *Removal) plans(ctx context.Context, reader client.Reader, sub *v1alpha1.Subscription) error {
	var list v1alpha1.InstallPlanList
	if err := reader.List(ctx, &list, client.InNamespace(sub.Namespace)); err != nil {
		return fmt.Errorf("list the InstallPlans of namespace %s: %w", sub.Namespace, err)
	}
	for _, p := range list.Items {
		if len(p.OwnerReferences) == 1 && p.OwnerReferences[0].UID == sub.UID {
			r.Goes = append(r.Goes, Ref{v1alpha1.GroupVersion.String(), v1alpha1.InstallPlanKind, p.Namespace, p.Name})
		}
	}
	return nil
}

// operator adds what belongs to a ClusterServiceVersion.
func (r *Removal) operator(ctx context.Context, reader client.Reader, csv *v1alpha1.ClusterServiceVersion, o Options) error {
	for _, kind := range ownedInNamespace {
		err := each(ctx, reader, kind, func(m *metav1.PartialObjectMetadata) {
			if slices.ContainsFunc(m.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == csv.UID }) {
				r.owned(m)
			}
		}, client.InNamespace(csv.Namespace))
		if err != nil {
			return err
		}
	}
	for _, kind := range ownedAnywhere {
		if err := each(ctx, reader, kind, r.owned, client.MatchingLabels(bundle.OwnerLabels(csv))); err != nil {
			return err
		}
	}
	return r.definitions(ctx, reader, csv, o)
}

func (r *Removal) owned(m *metav1.PartialObjectMetadata) { r.Goes = append(r.Goes, refOf(m)) }

// each calls do with the metadata of objects. A kind that the cluster does not have has none.
func each(ctx context.Context, reader client.Reader, kind schema.GroupVersionKind, do func(*metav1.PartialObjectMetadata), options ...client.ListOption) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := reader.List(ctx, list, options...)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list every %s of the operator: %w", kind.Kind, err)
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(kind)
		do(&list.Items[i])
	}
	return nil
}

// definitions are the CustomResourceDefinitions of an operator. Those that others own or need, or that were there before it, stay.
func (r *Removal) definitions(ctx context.Context, reader client.Reader, csv *v1alpha1.ClusterServiceVersion, o Options) error {
	var all v1alpha1.ClusterServiceVersionList
	if err := reader.List(ctx, &all); err != nil {
		return fmt.Errorf("list the ClusterServiceVersions of the cluster, which may need the same CustomResourceDefinitions: %w", err)
	}
	for _, owned := range csv.Spec.CustomResourceDefinitions.Owned {
		others := users(all.Items, csv, owned.Name)
		if others == "" {
			before, err := beforeIt(ctx, reader, csv, owned.Name)
			if err != nil {
				return err
			}
			others = before
		}
		c, err := r.crd(ctx, reader, owned.Name, o, others)
		if err != nil {
			return err
		}
		if c != nil {
			c.Converted = slices.ContainsFunc(csv.Spec.WebhookDefinitions, func(w v1alpha1.WebhookDescription) bool { return slices.Contains(w.ConversionCRDs, c.Name) })
			r.CRDs = append(r.CRDs, *c)
		}
	}
	if csv.Spec.Cleanup.Enabled {
		r.Warnings = append(r.Warnings, "spec.cleanup of ClusterServiceVersion "+csv.Name+" is enabled: the manager deletes custom resources of the operator first, whatever this command says about them")
	}
	return nil
}

// users says which other operators own or need a definition.
func users(all []v1alpha1.ClusterServiceVersion, csv *v1alpha1.ClusterServiceVersion, name string) string {
	var own, need []string
	for i := range all {
		other := &all[i]
		if other.UID == csv.UID || other.IsCopied() || !other.DeletionTimestamp.IsZero() {
			continue
		}
		is := func(d v1alpha1.CRDDescription) bool { return d.Name == name }
		switch {
		case slices.ContainsFunc(other.Spec.CustomResourceDefinitions.Owned, is):
			own = append(own, other.Namespace+"/"+other.Name)
		case slices.ContainsFunc(other.Spec.CustomResourceDefinitions.Required, is):
			need = append(need, other.Namespace+"/"+other.Name)
		}
	}
	switch {
	case len(own) > 0:
		return "it belongs to " + strings.Join(own, ", ") + ", too"
	case len(need) > 0:
		return strings.Join(need, ", ") + " needs it"
	}
	return ""
}

// beforeIt says that a definition was not brought by an operator. That of any version of it says so.
func beforeIt(ctx context.Context, reader client.Reader, csv *v1alpha1.ClusterServiceVersion, name string) (string, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, m); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	for key, value := range m.Annotations {
		if strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) && strings.HasPrefix(value, csv.Namespace+"/") {
			return "", nil
		}
	}
	return "no InstallPlan of the namespace brought it: it was there before", nil
}

// around is what stays beside the operator.
func (r *Removal) around(ctx context.Context, reader client.Reader, sub *v1alpha1.Subscription) error {
	var groups operatorsv1.OperatorGroupList
	if err := reader.List(ctx, &groups, client.InNamespace(r.Operator.Namespace)); err != nil {
		return fmt.Errorf("list the OperatorGroups of namespace %s: %w", r.Operator.Namespace, err)
	}
	for _, g := range groups.Items {
		r.Stays = append(r.Stays, Kept{Ref{operatorsv1.GroupVersion.String(), operatorsv1.OperatorGroupKind, g.Namespace, g.Name}, "operators of the namespace share it"})
	}
	r.Stays = append(r.Stays, Kept{Ref{APIVersion: "v1", Kind: "Namespace", Name: r.Operator.Namespace}, "it may hold other things"})
	if sub == nil || sub.Spec == nil {
		return nil
	}
	return r.summary(ctx, reader, sub.Spec.Package+"."+sub.Namespace)
}

// summary is the Operator object, which nobody needs when nothing of the operator is left.
func (r *Removal) summary(ctx context.Context, reader client.Reader, name string) error {
	operator := &operatorsv1.Operator{}
	err := reader.Get(ctx, client.ObjectKey{Name: name}, operator)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Operator %s: %w", name, err)
	}
	ref := Ref{APIVersion: operatorsv1.GroupVersion.String(), Kind: "Operator", Name: name}
	if slices.ContainsFunc(r.CRDs, func(c CRD) bool { return !c.Goes }) {
		r.Stays = append(r.Stays, Kept{ref, "it lists the CustomResourceDefinitions that stay"})
		return nil
	}
	r.Goes, r.last = append(r.Goes, ref), append(r.last, ref)
	return nil
}
