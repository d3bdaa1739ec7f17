package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
	"fairlead.dev/fairlead/internal/rollout/crd"
)

// finalize releases the CSV once nothing is left of its operator that only it can remove. The CRDs always stay.
func (c *Controller) finalize(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(csv, v1alpha1.CSVCleanupFinalizer) {
		return reconcile.Result{}, c.endMigration(ctx, csv)
	}
	ending := &ending{snapshot: c.snapshot(csv), actor: c.actor()}
	left, err := ending.cleanUp(ctx)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("delete the custom resources of ClusterServiceVersion %s: %w", client.ObjectKeyFromObject(csv), err)
	}
	if left != nil {
		return reconcile.Result{RequeueAfter: cleanupInterval}, c.waitForCleanup(ctx, csv, left)
	}
	return reconcile.Result{}, ending.release(ctx)
}

// endMigration releases a CSV that a migration holds when its namespace is deleted: a command that was cut short does not come back to it, and the
// namespace would wait for ever. Its backup is in another namespace.
func (c *Controller) endMigration(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) error {
	if !controllerutil.ContainsFinalizer(csv, migrate.Hold) {
		return nil
	}
	if _, going, err := c.snapshot(csv).namespace(ctx, csv.Namespace); err != nil || !going {
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

// ending is the end of a ClusterServiceVersion: what is left of its operator, and what removes it.
type ending struct {
	*snapshot
	actor *actor
}

// release removes what the garbage collector cannot, and then the finalizer.
func (e *ending) release(ctx context.Context) error {
	if err := errors.Join(e.resetConversions(ctx), e.removeOwned(ctx)); err != nil {
		return fmt.Errorf("clean up after ClusterServiceVersion %s: %w", e.name(), err)
	}
	updated := e.csv.DeepCopy()
	controllerutil.RemoveFinalizer(updated, v1alpha1.CSVCleanupFinalizer)
	patch := client.MergeFromWithOptions(e.csv, client.MergeFromWithOptimisticLock{})
	if err := e.actor.client.Patch(ctx, updated, patch, fieldManager); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer of ClusterServiceVersion %s: %w", e.name(), err)
	}
	return nil
}

// resetConversions ends the conversion of those CRDs of a CSV that its Services convert, and that no other CSV of the namespace converts.
func (e *ending) resetConversions(ctx context.Context) error {
	chain, err := e.chain(ctx)
	if err != nil {
		return err
	}
	for _, description := range e.csv.Spec.WebhookDefinitions {
		if description.Type != v1alpha1.ConversionWebhook {
			continue
		}
		for _, name := range description.ConversionCRDs {
			live, err := e.crd(ctx, name)
			if err != nil {
				return err
			}
			taken := slices.ContainsFunc(chain.all, func(s *v1alpha1.ClusterServiceVersion) bool {
				return s.Name != e.csv.Name && s.DeletionTimestamp.IsZero() && len(conversionsOf(s, name)) > 0
			})
			service := key(e.csv.Namespace, bundle.ServingServiceName(description.DeploymentName))
			if live == nil || taken || crd.ConverterOf(live.Spec.Conversion).NamespacedName != service {
				continue
			}
			none := &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
			if err := crd.Convert(ctx, e.actor.client, name, none, fieldManager); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// removeOwned deletes what carries the owner labels of the CSV and is out of the reach of owner references, the copies of its roles and bindings in
// its target namespaces included. It asks the cluster, not the cache, which may not show everything yet: no one would delete the rest later.
func (e *ending) removeOwned(ctx context.Context) error {
	if !labelled(e.csv) {
		return nil // nothing can carry the labels, and the cluster refuses to look for them
	}
	owned := client.MatchingLabels(bundle.OwnerLabels(e.csv))
	var errs []error
	for _, kind := range []client.Object{
		&admissionv1.MutatingWebhookConfiguration{},
		&admissionv1.ValidatingWebhookConfiguration{},
		&apiregistrationv1.APIService{},
		&rbacv1.ClusterRoleBinding{},
		&rbacv1.ClusterRole{},
	} {
		if err := e.actor.client.DeleteAllOf(ctx, kind, owned); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete every %s with the owner labels: %w", kindOf(kind), err))
		}
	}
	// The CSV may not describe any more what let its pods find out who calls them. A manager that is limited to some namespaces may be allowed to delete
	// it only where it may make it.
	err := e.actor.client.DeleteAllOf(ctx, &rbacv1.RoleBinding{}, client.InNamespace(systemSpace), client.MatchingLabels(managedLabels(e.csv)))
	if client.IgnoreNotFound(err) != nil && (!apierrors.IsForbidden(err) || len(bundle.ServingDeployments(e.csv)) > 0) {
		errs = append(errs, fmt.Errorf("delete every RoleBinding with the owner labels in %s: %w", systemSpace, err))
	}
	copied := bundle.OwnerLabels(e.csv)
	copied[v1alpha1.CopiedFromLabel] = e.csv.Namespace
	for _, copies := range []client.ObjectList{&rbacv1.RoleList{}, &rbacv1.RoleBindingList{}} {
		if err := list(ctx, e.live, copies, "the copied roles of ClusterServiceVersion "+e.name(), client.MatchingLabels(copied)); err != nil {
			return errors.Join(append(errs, err)...)
		}
		errs = append(errs, meta.EachListItem(copies, func(item runtime.Object) error { return remove(ctx, e.actor.client, item.(client.Object)) }))
	}
	return errors.Join(errs...)
}

// removeOrphans deletes what carries the owner labels of a CSV that is gone without having been finalized: its APIServices, since no one else can
// serve their APIs while they exist, and once its namespace is gone too, all else that has no namespace. Until then an InstallPlan may be about to
// create the CSV. The cluster is asked whether both are gone, because the cache may not show them yet.
func (c *Controller) removeOrphans(ctx context.Context, owner types.NamespacedName) error {
	services, others, err := orphans(ctx, c.client, client.MatchingFields{indexByOwner: owner.String()})
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
	return remove(ctx, c.client, append(services, others...)...)
}

// orphans lists the APIServices and the other objects without a namespace that carry the owner labels of CSVs.
func orphans(ctx context.Context, reader client.Reader, of client.ListOption) (services, others []client.Object, _ error) {
	for _, list := range []client.ObjectList{
		&apiregistrationv1.APIServiceList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.ClusterRoleList{},
		&admissionv1.MutatingWebhookConfigurationList{}, &admissionv1.ValidatingWebhookConfigurationList{},
	} {
		if err := reader.List(ctx, list, of, client.UnsafeDisableDeepCopy); err != nil {
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
