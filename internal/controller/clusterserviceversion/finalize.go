package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/ops/migrate"
)

// deleteSelf deletes a CSV that another one has replaced.
func (f *facts) deleteSelf(ctx context.Context) error {
	return removeAs(ctx, f.c.client, f.csv.DeepCopy(), client.Preconditions{UID: &f.csv.UID})
}

// finalize lets the CSV go once nothing is left of its operator that only it can remove. The CRDs always stay.
func (c *Controller) finalize(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(csv, v1alpha1.CSVCleanupFinalizer) {
		return reconcile.Result{}, c.endMigration(ctx, csv)
	}
	f := newFacts(c, csv)
	left, err := f.cleanUp(ctx)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("delete the custom resources of ClusterServiceVersion %s: %w", f.name(), err)
	}
	if left != nil {
		return reconcile.Result{RequeueAfter: cleanupInterval}, c.waitForCleanup(ctx, csv, left)
	}
	return reconcile.Result{}, f.letGo(ctx)
}

// endMigration lets a CSV go that a migration holds when its namespace goes: a command that was cut short does not come back to it, and the
// namespace would wait for ever. Its backup is in another namespace.
func (c *Controller) endMigration(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) error {
	if !controllerutil.ContainsFinalizer(csv, migrate.Hold) {
		return nil
	}
	if going, err := c.namespaceGoing(ctx, csv.Namespace); err != nil || !going {
		return err
	}
	updated := csv.DeepCopy()
	controllerutil.RemoveFinalizer(updated, migrate.Hold)
	patch := client.MergeFromWithOptions(csv, client.MergeFromWithOptimisticLock{})
	if err := c.client.Patch(ctx, updated, patch, fieldManager); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer %s of ClusterServiceVersion %s, whose namespace is being deleted: %w", migrate.Hold, client.ObjectKeyFromObject(csv), err)
	}
	return nil
}

// letGo removes what the garbage collector cannot, and then the finalizer.
func (f *facts) letGo(ctx context.Context) error {
	if err := errors.Join(f.resetConversions(ctx), f.removeOwned(ctx), f.removeCopies(ctx)); err != nil {
		return fmt.Errorf("clean up after ClusterServiceVersion %s: %w", f.name(), err)
	}
	updated := f.csv.DeepCopy()
	controllerutil.RemoveFinalizer(updated, v1alpha1.CSVCleanupFinalizer)
	patch := client.MergeFromWithOptions(f.csv, client.MergeFromWithOptimisticLock{})
	if err := f.c.client.Patch(ctx, updated, patch, fieldManager); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer of ClusterServiceVersion %s: %w", f.name(), err)
	}
	return nil
}

// removeOwned deletes what carries the owner labels of the CSV and is out of the reach of owner references. It asks the
// cluster, not the cache, which may not show everything yet.
func (f *facts) removeOwned(ctx context.Context) error {
	if !labelled(f.csv) {
		return nil // nothing can carry the labels, and the cluster refuses to look for them
	}
	owned := client.MatchingLabels(bundle.OwnerLabels(f.csv))
	var errs []error
	for _, kind := range []client.Object{
		&admissionv1.MutatingWebhookConfiguration{},
		&admissionv1.ValidatingWebhookConfiguration{},
		&apiregistrationv1.APIService{},
		&rbacv1.ClusterRoleBinding{},
		&rbacv1.ClusterRole{},
	} {
		if err := f.c.client.DeleteAllOf(ctx, kind, owned); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete every %s with the owner labels: %w", kindOf(kind), err))
		}
	}
	errs = append(errs, f.removeFromSystem(ctx))
	return errors.Join(errs...)
}

// removeFromSystem deletes what let the pods of the CSV find out who calls them. The CSV may not describe any more what
// that was for. A manager that is limited to some namespaces may be allowed to delete it only where it may make it.
func (f *facts) removeFromSystem(ctx context.Context) error {
	err := f.c.client.DeleteAllOf(ctx, &rbacv1.RoleBinding{}, client.InNamespace("kube-system"), client.MatchingLabels(managedLabels(f.csv)))
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) && len(bundle.ServingDeployments(f.csv)) == 0 {
		return nil
	}
	return fmt.Errorf("delete every RoleBinding with the owner labels in %s: %w", "kube-system", err)
}

// removeCopies deletes the copies of the CSV's roles and bindings in its target namespaces. It asks the cluster too: nobody would delete
// later what the cache does not show yet.
func (f *facts) removeCopies(ctx context.Context) error {
	if !labelled(f.csv) {
		return nil
	}
	copied := bundle.OwnerLabels(f.csv)
	copied[v1alpha1.CopiedFromLabel] = f.csv.Namespace
	var roles rbacv1.RoleList
	var bindings rbacv1.RoleBindingList
	for _, list := range []client.ObjectList{&bindings, &roles} {
		if err := f.c.live.List(ctx, list, client.MatchingLabels(copied)); err != nil {
			return fmt.Errorf("list the copied roles of ClusterServiceVersion %s: %w", f.name(), err)
		}
	}
	var errs []error
	for _, o := range namespaced(&roleSet{roles: roles.Items, bindings: bindings.Items}) {
		errs = append(errs, removeAs(ctx, f.c.client, o, thatOne(o)))
	}
	return errors.Join(errs...)
}

// removeOrphans deletes what carries the owner labels of a CSV that is gone without having been finalized: its APIServices, since no one else can
// serve their APIs while they exist, and once its namespace is gone too, all else that has no namespace. Until then an InstallPlan may be about to
// create the CSV. The cluster is asked whether both are gone, because the cache may not show them yet.
func (c *Controller) removeOrphans(ctx context.Context, owner types.NamespacedName) error {
	services, others, err := c.orphans(ctx, client.MatchingFields{indexByOwner: owner.String()})
	if err != nil || len(services)+len(others) == 0 {
		return err
	}
	if err := c.live.Get(ctx, owner, &v1alpha1.ClusterServiceVersion{}); !apierrors.IsNotFound(err) {
		return err
	}
	if len(others) > 0 {
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		err := c.live.Get(ctx, client.ObjectKey{Name: owner.Namespace}, namespace)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read namespace %s of the deleted ClusterServiceVersion %s: %w", owner.Namespace, owner.Name, err)
		}
		if err == nil {
			others = nil
		}
	}
	var errs []error
	for _, object := range append(services, others...) {
		errs = append(errs, removeAs(ctx, c.client, object, thatOne(object)))
	}
	return errors.Join(errs...)
}

// orphans lists the APIServices and the other objects without a namespace that carry the owner labels of CSVs.
func (c *Controller) orphans(ctx context.Context, of client.ListOption) (services, others []client.Object, _ error) {
	for _, list := range []client.ObjectList{
		&apiregistrationv1.APIServiceList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.ClusterRoleList{},
		&admissionv1.MutatingWebhookConfigurationList{}, &admissionv1.ValidatingWebhookConfigurationList{},
	} {
		if err := c.client.List(ctx, list, of, client.UnsafeDisableDeepCopy); err != nil {
			return nil, nil, fmt.Errorf("list %T with the owner labels of deleted ClusterServiceVersions: %w", list, err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			object := o.DeepCopyObject().(client.Object)
			if _, ok := list.(*apiregistrationv1.APIServiceList); ok {
				services = append(services, object)
			} else if _, owned := ownerOf(object); owned {
				others = append(others, object)
			}
			return nil
		})
	}
	return services, others, nil
}

// orphansOf are the CSVs of a namespace that is gone of which something without a namespace has the owner labels.
func (c *Controller) orphansOf(ctx context.Context, namespace string) []reconcile.Request {
	_, others, err := c.orphans(ctx, client.MatchingLabels{v1alpha1.OwnerNamespaceLabel: namespace, v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind})
	if err != nil {
		return nil // the cache can be read while events arrive, unless the manager is shutting down
	}
	var out []reconcile.Request
	for _, o := range others {
		out = append(out, c.owner(ctx, o)...)
	}
	return out
}
