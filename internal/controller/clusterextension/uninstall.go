package clusterextension

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// remover removes extensions that are being deleted.
type remover struct {
	*environment
	dependencies *dependencies
	certificates *certificates
	reporter     *reporter
	forget       func(extension string)
}

// uninstall deletes the revisions, and lets the extension go when all are gone. Each is torn down by the controller of ClusterObjectSets, whose
// progress is told.
func (u *remover) uninstall(ctx context.Context, ext *olmv1.ClusterExtension) (ctrl.Result, error) {
	// A cache may tell of the extension as it is now, and of revisions as they were.
	all, err := revision.List(ctx, u.live, ext.Name, ext.UID)
	if err != nil {
		return ctrl.Result{}, err
	}
	if orphans, err := u.orphans(ctx, ext, all); err != nil || orphans != nil {
		if err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, u.orphan(ctx, ext, orphans)
	}
	if len(all) == 0 {
		if err := u.keepDefinitions(ctx, ext); err != nil {
			return ctrl.Result{}, err
		}
		if err := u.dependencies.sweep(ctx, &state{ext: ext}, true); err != nil {
			return ctrl.Result{}, err
		}
		if err := u.certificates.drop(ctx, u.live, ext, nil); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, u.letGo(ctx, ext)
	}
	s := &state{ext: ext, revisions: all}
	o := &outcome{leaving: true}
	last := inTheWay(s.revisions)
	o.doing = fmt.Sprintf("Uninstalling: revision %s is being torn down", last.Name)
	if p := meta.FindStatusCondition(last.Status.Conditions, olmv1.TypeProgressing); p != nil && !last.DeletionTimestamp.IsZero() {
		o.doing += ": " + p.Message
	}
	return ctrl.Result{}, u.reporter.report(ctx, s, o, u.tearDown(ctx, ext, s.revisions))
}

// inTheWay is the revision whose teardown is told of: the newest active one, and when there is none any of the rest.
func inTheWay(r revision.History) *olmv1.ClusterObjectSet {
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
func (u *remover) tearDown(ctx context.Context, ext *olmv1.ClusterExtension, all revision.History, how ...client.DeleteOption) error {
	how = append([]client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}, how...)
	for i := range all {
		r := &all[i]
		if !r.DeletionTimestamp.IsZero() {
			continue
		}
		if err := client.IgnoreNotFound(u.client.Delete(ctx, r, append(how, client.Preconditions{UID: &r.UID})...)); err != nil {
			return fmt.Errorf("delete revision %s of ClusterExtension %s, which is being deleted: %w", r.Name, ext.Name, err)
		}
		reconcile.Log(ctx, ext).Info("revision deleted", "revision", r.Name, "reason", "the ClusterExtension is being deleted")
	}
	return nil
}

// letGo removes the finalizers, those of other implementations of this API included.
func (u *remover) letGo(ctx context.Context, ext *olmv1.ClusterExtension) error {
	before := ext.DeepCopy()
	ext.Finalizers = slices.DeleteFunc(ext.Finalizers, func(f string) bool {
		return f == olmv1.CleanupContentManagerCacheFinalizer || f == olmv1.CleanupUnpackCacheFinalizer
	})
	u.forget(ext.Name)
	if len(ext.Finalizers) == len(before.Finalizers) {
		return nil
	}
	if err := client.IgnoreNotFound(u.client.Patch(ctx, ext, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner)); err != nil {
		return fmt.Errorf("remove the finalizer of ClusterExtension %s: %w", ext.Name, err)
	}
	reconcile.Log(ctx, ext).Info("removed", "reason", "nothing of it is left, or what is left stays")
	return nil
}
