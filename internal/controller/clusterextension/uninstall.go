package clusterextension

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// hold keeps the extension, when it is deleted, until its revisions are torn down.
func (c *Controller) hold(ctx context.Context, ext *olmv1.ClusterExtension) error {
	before := ext.DeepCopy()
	if !controllerutil.AddFinalizer(ext, olmv1.CleanupContentManagerCacheFinalizer) {
		return nil
	}
	if err := c.client.Patch(ctx, ext, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return fmt.Errorf("add a finalizer to ClusterExtension %s: %w", ext.Name, err)
	}
	return nil
}

// uninstall deletes the revisions, and lets the extension go when all are gone. Each is torn down by the controller of ClusterObjectSets, whose
// progress is told.
func (c *Controller) uninstall(ctx context.Context, ext *olmv1.ClusterExtension) (ctrl.Result, error) {
	// A cache may tell of the extension as it is now, and of revisions as they were.
	all, err := revision.List(ctx, c.live, ext.Name, ext.UID)
	if err != nil {
		return ctrl.Result{}, err
	}
	if orphans, err := c.orphans(ctx, ext, all); err != nil || orphans != nil {
		if err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, c.orphan(ctx, ext, orphans)
	}
	if len(all) == 0 {
		if err := c.keepDefinitions(ctx, ext); err != nil {
			return ctrl.Result{}, err
		}
		if err := c.sweep(ctx, &state{ext: ext}, true); err != nil {
			return ctrl.Result{}, err
		}
		if err := c.dropCertificates(ctx, c.live, ext, nil); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, c.letGo(ctx, ext)
	}
	s := &state{ext: ext, revisions: all}
	o := &outcome{leaving: true}
	last := s.revisions.inTheWay()
	o.doing = fmt.Sprintf("Uninstalling: revision %s is being torn down", last.Name)
	if p := meta.FindStatusCondition(last.Status.Conditions, olmv1.TypeProgressing); p != nil && !last.DeletionTimestamp.IsZero() {
		o.doing += ": " + p.Message
	}
	return ctrl.Result{}, c.report(ctx, s, o, c.tearDown(ctx, ext, s.revisions))
}

// inTheWay is the revision whose teardown is told of: the newest active one, and when there is none any of the rest.
func (r revisions) inTheWay() *olmv1.ClusterObjectSet {
	for i := len(r) - 1; i >= 0; i-- {
		if r[i].Spec.LifecycleState != olmv1.LifecycleStateArchived {
			return &r[i]
		}
	}
	return &r[len(r)-1]
}

// tearDown deletes revisions, the oldest first: one that is still there when a later one goes is handed the objects of that, and would start
// the version before again in the middle of the removal. Unless it is said how, they go in the background, also where a finalizer asks for the
// foreground: then Kubernetes would delete the objects before they are taken out in order.
func (c *Controller) tearDown(ctx context.Context, ext *olmv1.ClusterExtension, all revisions, how ...client.DeleteOption) error {
	how = append([]client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}, how...)
	for i := range all {
		r := &all[i]
		if !r.DeletionTimestamp.IsZero() {
			continue
		}
		if err := client.IgnoreNotFound(c.client.Delete(ctx, r, append(how, client.Preconditions{UID: &r.UID})...)); err != nil {
			return fmt.Errorf("delete revision %s of ClusterExtension %s, which is being deleted: %w", r.Name, ext.Name, err)
		}
	}
	return nil
}

// letGo removes the finalizers, those of other implementations of this API included.
func (c *Controller) letGo(ctx context.Context, ext *olmv1.ClusterExtension) error {
	before := ext.DeepCopy()
	ext.Finalizers = slices.DeleteFunc(ext.Finalizers, func(f string) bool {
		return f == olmv1.CleanupContentManagerCacheFinalizer || f == olmv1.CleanupUnpackCacheFinalizer
	})
	c.forget(ext.Name)
	if len(ext.Finalizers) == len(before.Finalizers) {
		return nil
	}
	if err := client.IgnoreNotFound(c.client.Patch(ctx, ext, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner)); err != nil {
		return fmt.Errorf("remove the finalizer of ClusterExtension %s: %w", ext.Name, err)
	}
	return nil
}
