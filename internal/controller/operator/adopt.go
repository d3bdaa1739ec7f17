package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// adopt puts the component label of an Operator on what belongs to it: its Subscription, the operator and the plan that this has come to,
// and all that operators with the label own. One object that cannot be labelled keeps no other from it.
func (c *Controller) adopt(ctx context.Context, name, key string) error {
	subscriptions, err := c.subscriptions(ctx, name)
	if err != nil {
		return err
	}
	var errs []error
	operators := map[types.NamespacedName]bool{}
	for i := range subscriptions {
		s := &subscriptions[i]
		errs = append(errs, c.label(ctx, v1alpha1.GroupVersion.WithKind("Subscription"), s, key))
		if s.Status.InstalledCSV != "" {
			operators[types.NamespacedName{Namespace: s.Namespace, Name: s.Status.InstalledCSV}] = true
		}
	}
	errs = append(errs, c.adoptPlans(ctx, subscriptions, v1alpha1.ComponentName(name), key))
	var csvs v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &csvs, client.MatchingFields{indexByOperator: v1alpha1.ComponentName(name)}, client.UnsafeDisableDeepCopy); err != nil {
		return errors.Join(append(errs, fmt.Errorf("list the ClusterServiceVersions of Operator %s: %w", name, err))...)
	}
	for i := range csvs.Items {
		operators[client.ObjectKeyFromObject(&csvs.Items[i])] = true
	}
	for csv := range operators {
		errs = append(errs, c.adoptOperator(ctx, csv, key))
	}
	return errors.Join(errs...)
}

// adoptPlans labels the plans that Subscriptions refer to, and takes the label off those that they referred to before.
func (c *Controller) adoptPlans(ctx context.Context, subscriptions []v1alpha1.Subscription, name, key string) error {
	gvk := v1alpha1.GroupVersion.WithKind("InstallPlan")
	var errs []error
	current := map[types.NamespacedName]bool{}
	for i := range subscriptions {
		if ref := subscriptions[i].Status.InstallPlanRef; ref != nil && ref.Name != "" {
			current[types.NamespacedName{Namespace: subscriptions[i].Namespace, Name: ref.Name}] = true
		}
	}
	if len(current) == 0 {
		return nil
	}
	namespace := subscriptions[0].Namespace // all have the same, which is part of the name of their Operator
	for ref := range current {
		plan := &v1alpha1.InstallPlan{}
		err := c.client.Get(ctx, ref, plan)
		if err == nil {
			err = c.label(ctx, gvk, plan, key)
		}
		errs = append(errs, client.IgnoreNotFound(err))
	}
	var plans v1alpha1.InstallPlanList
	if err := c.client.List(ctx, &plans, client.InNamespace(namespace), client.MatchingFields{indexByOperator: name}, client.UnsafeDisableDeepCopy); err != nil {
		return errors.Join(append(errs, fmt.Errorf("list the InstallPlans of Operator %s: %w", name, err))...)
	}
	for i := range plans.Items {
		if plan := &plans.Items[i]; !current[client.ObjectKeyFromObject(plan)] {
			errs = append(errs, c.patch(ctx, gvk, plan, key, nil))
		}
	}
	return errors.Join(errs...)
}

// adoptOperator labels a ClusterServiceVersion, what it owns, and the CustomResourceDefinitions of its APIs.
func (c *Controller) adoptOperator(ctx context.Context, name types.NamespacedName, key string) error {
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := c.client.Get(ctx, name, csv); err != nil {
		return client.IgnoreNotFound(err)
	}
	if csv.IsCopied() {
		return nil
	}
	errs := []error{c.label(ctx, v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind), csv, key)}
	for _, k := range kinds {
		unread := c.each(ctx, k, func(o client.Object) error {
			if belongs(o, csv) && (k.gvk.Kind != v1alpha1.ClusterServiceVersionKind || !v1alpha1.IsCopied(o)) {
				errs = append(errs, c.label(ctx, k.gvk, o, key))
			}
			return nil
		}, client.MatchingFields{indexByOwner: name.String()})
		errs = append(errs, unread)
	}
	for _, owned := range csv.Spec.CustomResourceDefinitions.Owned {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		err := c.client.Get(ctx, client.ObjectKey{Name: owned.Name}, crd)
		if err == nil {
			err = c.label(ctx, apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), crd, key)
		}
		errs = append(errs, client.IgnoreNotFound(err))
	}
	return errors.Join(errs...)
}

// label puts a component label on an object that has not got it.
func (c *Controller) label(ctx context.Context, gvk schema.GroupVersionKind, o client.Object, key string) error {
	if _, ok := o.GetLabels()[key]; ok || !o.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return c.patch(ctx, gvk, o, key, "")
}

// patch gives the label of an object a value; nil takes it off. Another object that has got the name meanwhile is left alone.
func (c *Controller) patch(ctx context.Context, gvk schema.GroupVersionKind, o client.Object, key string, value any) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID(), "labels": map[string]any{key: value}}})
	if err != nil {
		return fmt.Errorf("encode a label: %w", err)
	}
	target := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName()}}
	target.SetGroupVersionKind(gvk)
	err = c.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), fieldManager)
	if err == nil || reconcile.IsOutdated(err) || reconcile.Superseded(err) {
		return nil
	}
	return fmt.Errorf("set the component label %s of %s %s: %w", key, gvk.Kind, client.ObjectKeyFromObject(o), err)
}
