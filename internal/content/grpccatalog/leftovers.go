package grpccatalog

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// namedObject is an object that a catalog may have left behind.
type namedObject struct {
	kind schema.GroupVersionKind
	name string
}

// Remove takes away what Ensure made for a catalog that is no longer served by a pod, but for the objects to keep. A Service that leads
// elsewhere since, to keep or not written by Ensure, loses the addresses of the pod, which nobody else would take from it. What a
// CatalogSource leaves behind when it is deleted itself is collected as garbage.
func (k *Keeper) Remove(ctx context.Context, source *v1alpha1.CatalogSource, keep ...client.Object) (changes []string, err error) {
	kept, names, err := k.identify(source, keep)
	if err != nil {
		return nil, err
	}
	state := "no pod" + names
	if k.isTidy(source, state) {
		return nil, nil
	}
	if err := k.removePods(ctx, source, "the catalog is not served by a pod any more", &changes); err != nil {
		return changes, err
	}
	if kept[namedObject{serviceKind, ServiceName(source.Name)}] {
		if err := k.removeAddresses(ctx, source, &changes); err != nil {
			return changes, err
		}
	}
	return changes, k.removeObjects(ctx, source, kept, state, &changes)
}

// removeLeftovers deletes what an earlier kind of the catalog needed and a catalog in a pod, or in this kind of pod, does not. The
// manager goes on answering for the catalog until the pod does.
func (k *Keeper) removeLeftovers(ctx context.Context, source *v1alpha1.CatalogSource, wanted *Objects, out *Outcome) error {
	kept, names, err := k.identify(source, wanted.companions())
	if err != nil {
		return err
	}
	state := fmt.Sprintf("pod that is ready: %t", out.Ready) + names
	if k.isTidy(source, state) {
		return nil
	}
	if out.Ready {
		if err := k.removeSlices(ctx, source, &out.Changes); err != nil {
			return err
		}
	}
	return k.removeObjects(ctx, source, kept, state, &out.Changes)
}

// identify lists objects, as a set and as a text.
func (k *Keeper) identify(source *v1alpha1.CatalogSource, objects []client.Object) (map[namedObject]bool, string, error) {
	set, names := map[namedObject]bool{}, ""
	for _, o := range objects {
		gvk, err := apiutil.GVKForObject(o, k.Client.Scheme())
		if err != nil {
			return nil, "", failed(source, err)
		}
		set[namedObject{gvk, o.GetName()}] = true
		names += " " + o.GetName()
	}
	return set, names, nil
}

// isTidy tells whether all leftovers were looked for already: they need not be looked for again.
func (k *Keeper) isTidy(source *v1alpha1.CatalogSource, state string) bool {
	before, ok := k.tidied.Load(source.UID)
	return ok && before == state
}

func (k *Keeper) removeObjects(ctx context.Context, source *v1alpha1.CatalogSource, kept map[namedObject]bool, state string, changes *[]string) error {
	for _, o := range everything(source) {
		if !kept[o] {
			if err := k.removeObject(ctx, source, o, changes); err != nil {
				return err
			}
		}
	}
	k.tidied.Store(source.UID, state)
	return nil
}

// everything that a catalog in a pod may consist of besides pods, also what another implementation needs for one in a ConfigMap.
func everything(source *v1alpha1.CatalogSource) []namedObject {
	core, rbac := corev1.SchemeGroupVersion, rbacv1.SchemeGroupVersion
	policy := networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")
	return []namedObject{
		{serviceKind, ServiceName(source.Name)},
		{policy, ServerPolicyName(source.Name)},
		{policy, UnpackPolicyName(source.Name)},
		{rbac.WithKind("RoleBinding"), configMapRoleBindingName(source.Name)},
		{rbac.WithKind("Role"), configMapRoleName(source.Name)},
		{core.WithKind("ServiceAccount"), configMapAccountName(source.Name)},
		{core.WithKind("ServiceAccount"), source.Name},
	}
}

// Stop deletes the pods of a catalog whose image must not be run, and says why in the changes. What else belongs to the catalog stays.
func (k *Keeper) Stop(ctx context.Context, source *v1alpha1.CatalogSource, why string) (changes []string, err error) {
	err = k.removePods(ctx, source, why, &changes)
	return changes, err
}

func (k *Keeper) removePods(ctx context.Context, source *v1alpha1.CatalogSource, why string, changes *[]string) error {
	pods, err := k.pods(ctx, source)
	if err != nil {
		return err
	}
	for i := range pods {
		p := &pods[i]
		if p.DeletionTimestamp != nil {
			continue
		}
		if err := k.deletePod(ctx, p, graceReplaced); err != nil {
			return fmt.Errorf("delete pod %s/%s (%s): %w", p.Namespace, p.Name, why, err)
		}
		*changes = append(*changes, fmt.Sprintf("%s Pod %s/%s: %s", Delete, p.Namespace, p.Name, why))
	}
	return nil
}

// removeObject deletes an object that a catalog may have left behind.
func (k *Keeper) removeObject(ctx context.Context, source *v1alpha1.CatalogSource, o namedObject, changes *[]string) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(o.kind)
	err := k.Reader.Get(ctx, types.NamespacedName{Namespace: source.Namespace, Name: o.name}, live)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s %s/%s, to see whether the catalog left it behind: %w", o.kind.Kind, source.Namespace, o.name, err)
	}
	if !owns(source, live) {
		return nil
	}
	if _, hashed := live.Labels[v1alpha1.ServiceSpecHashLabel]; !hashed && o.kind == serviceKind {
		return k.removeAddresses(ctx, source, changes) // somebody else wrote it since
	}
	live.SetGroupVersionKind(o.kind)
	return k.removeLive(ctx, source, live, changes)
}

// removeLive deletes an object that is there.
func (k *Keeper) removeLive(ctx context.Context, source *v1alpha1.CatalogSource, live *metav1.PartialObjectMetadata, changes *[]string) error {
	if live.DeletionTimestamp != nil {
		return nil
	}
	if err := k.Client.Delete(ctx, live, client.Preconditions{UID: &live.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s/%s, which is not needed any more: %w", live.Kind, source.Namespace, live.Name, err)
	}
	*changes = append(*changes, fmt.Sprintf("%s %s %s/%s: not needed any more", Delete, live.Kind, source.Namespace, live.Name))
	return nil
}
