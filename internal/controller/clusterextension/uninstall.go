package clusterextension

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
	orphans, err := u.orphans(ctx, ext, all)
	if err != nil {
		return ctrl.Result{}, err
	}
	if orphans != nil {
		// Let the extension go without anything that was installed with it. The revisions go, too, and release their objects. All are marked before that,
		// since what tells is removed meanwhile.
		if err := u.mark(ctx, ext); err != nil {
			return ctrl.Result{}, fmt.Errorf("note on ClusterExtension %s that its objects stay: %w", ext.Name, err)
		}
		for i := range orphans {
			if err := u.mark(ctx, &orphans[i]); client.IgnoreNotFound(err) != nil {
				return ctrl.Result{}, fmt.Errorf("note on revision %s of ClusterExtension %s that its objects stay: %w", orphans[i].Name, ext.Name, err)
			}
		}
		if err := u.tearDown(ctx, ext, orphans, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, u.letGo(ctx, ext)
	}
	if len(all) == 0 {
		// Take CustomResourceDefinitions with custom resources from an extension that goes. It owns some where another implementation has
		// installed them by way of Helm, and no revision has come to take them over: they would go with it.
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
		if err := u.live.List(ctx, list); err != nil {
			return ctrl.Result{}, fmt.Errorf("list the CustomResourceDefinitions, to see which of them go with ClusterExtension %s: %w", ext.Name, err)
		}
		for i := range list.Items {
			crd := &list.Items[i]
			if controller := metav1.GetControllerOfNoCopy(crd); !revision.Owns(ext, crd) || controller != nil && controller.UID != ext.UID || revision.DeletesCRD(ext, crd.Name) {
				continue
			}
			if err := u.keepDefinition(ctx, ext, crd.Name); client.IgnoreNotFound(err) != nil {
				return ctrl.Result{}, err
			}
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
	last := &s.revisions[len(s.revisions)-1] // the newest active one, whose teardown is told of
	for i := range s.revisions {
		if s.revisions[i].Spec.LifecycleState != olmv1.LifecycleStateArchived {
			last = &s.revisions[i]
		}
	}
	o.doing = fmt.Sprintf("Uninstalling: revision %s is being torn down", last.Name)
	if p := meta.FindStatusCondition(last.Status.Conditions, olmv1.TypeProgressing); p != nil && !last.DeletionTimestamp.IsZero() {
		o.doing += ": " + p.Message
	}
	return ctrl.Result{}, u.reporter.report(ctx, s, o, u.tearDown(ctx, ext, s.revisions))
}

// tearDown deletes revisions, the oldest first: one that is still there when a later one goes is handed the objects of that, and would start
// the version before again in the middle of the removal. Unless it is said how, they go in the background, also where a finalizer asks for the
// foreground: then Kubernetes would delete the objects before they are removed in order.
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

// orphans are the revisions that are to leave their objects, because the extension was deleted so; nil when it was not. Kubernetes takes its
// finalizer and the references to the extension away, maybe before the controller comes to look: then there are only revisions that no one
// controls. As long as there are some of the extension, such others are strangers.
func (u *remover) orphans(ctx context.Context, ext *olmv1.ClusterExtension, owned []olmv1.ClusterObjectSet) (revision.History, error) {
	told := revision.Orphans(ext)
	if !told && len(owned) > 0 {
		return nil, nil
	}
	var list olmv1.ClusterObjectSetList
	labels := client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(ext.Name)}
	if err := u.live.List(ctx, &list, labels); err != nil {
		return nil, fmt.Errorf("list the orphaned revisions of ClusterExtension %s: %w", ext.Name, err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(set olmv1.ClusterObjectSet) bool {
		return metav1.GetControllerOfNoCopy(&set) != nil || set.Name != revision.Name(ext.Name, set.Spec.Revision) || set.CreationTimestamp.Before(&ext.CreationTimestamp)
	})
	if !told && len(list.Items) == 0 {
		return nil, nil
	}
	return revision.Sorted(append(append([]olmv1.ClusterObjectSet{}, owned...), list.Items...)), nil
}

// mark notes on an object that what it has stays.
func (u *remover) mark(ctx context.Context, o client.Object) error {
	before := o.DeepCopyObject().(client.Object)
	if !revision.Orphan(o) {
		return nil
	}
	return u.client.Patch(ctx, o, client.MergeFrom(before), fieldOwner)
}

// reasonKept is the reason of the Event that tells of definitions that stay, here and where revisions are removed.
const reasonKept = "CRDKept"

func (u *remover) keepDefinition(ctx context.Context, ext *olmv1.ClusterExtension, name string) error {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := u.live.Get(ctx, client.ObjectKey{Name: name}, live); err != nil {
		return fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	what := revision.Populated(ctx, u.live, u.count, name)
	if what == "" || !live.DeletionTimestamp.IsZero() {
		return nil
	}
	deaf, err := revision.LosesConverter(ctx, u.live, live, func(service metav1.Object) bool { return revision.Owns(ext, service) })
	if err != nil {
		return err
	}
	if err := revision.Keep(ctx, u.client, live, revision.KeptOf(ext.Name, ext.UID), deaf, fieldOwner); err != nil {
		return err
	}
	u.events.Eventf(ext, corev1.EventTypeWarning, reasonKept, "CustomResourceDefinition %s stays: %s. To delete it with them, kubectl delete crd %[1]s", name, what)
	return nil
}
