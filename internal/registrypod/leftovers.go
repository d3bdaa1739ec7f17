package registrypod

import (
	"context"
	"fmt"
	"strings"

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

// removeLeftovers deletes what an earlier kind of the catalog needed and this one does not. What it looked at once it need not look at
// again, as long as the same is kept.
func (k *Keeper) removeLeftovers(ctx context.Context, source *v1alpha1.CatalogSource, pods bool, keep []client.Object, changes *[]string) error {
	kept, state, err := k.kept(keep, pods)
	if err != nil {
		return failed(source, err)
	}
	if before, ok := k.tidied.Load(source.UID); ok && before == state {
		return nil
	}
	if pods {
		if err := k.removePods(ctx, source, changes); err != nil {
			return err
		}
	}
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

// kept is what is to be kept, as a set and as a text.
func (k *Keeper) kept(keep []client.Object, pods bool) (map[namedObject]bool, string, error) {
	set, text := map[namedObject]bool{}, fmt.Sprintf("pods %t", !pods)
	for _, o := range keep {
		gvk, err := apiutil.GVKForObject(o, k.Client.Scheme())
		if err != nil {
			return nil, "", err
		}
		set[namedObject{gvk, o.GetName()}] = true
		text += strings.Join([]string{"", gvk.Kind, o.GetName()}, " ")
	}
	return set, text, nil
}

// everything that a catalog in a pod may consist of besides pods, whatever its kind.
func everything(source *v1alpha1.CatalogSource) []namedObject {
	core, rbac := corev1.SchemeGroupVersion, rbacv1.SchemeGroupVersion
	policy := networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")
	ofConfigMap := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Name: source.Name}}
	ofConfigMap.Spec.SourceType = v1alpha1.SourceTypeConfigmap
	return []namedObject{
		{core.WithKind("Service"), ServiceName(source.Name)},
		{policy, ServerPolicyName(source.Name)},
		{policy, UnpackPolicyName(source.Name)},
		{rbac.WithKind("RoleBinding"), roleBindingName(source.Name)},
		{rbac.WithKind("Role"), roleName(source.Name)},
		{core.WithKind("ServiceAccount"), AccountName(ofConfigMap)},
		{core.WithKind("ServiceAccount"), source.Name},
	}
}

func (k *Keeper) removePods(ctx context.Context, source *v1alpha1.CatalogSource, changes *[]string) error {
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
			return fmt.Errorf("delete pod %s/%s, which is not needed any more: %w", p.Namespace, p.Name, err)
		}
		*changes = append(*changes, fmt.Sprintf("%s Pod %s/%s: the catalog is not served by a pod any more", Delete, p.Namespace, p.Name))
	}
	return nil
}

// removeObject deletes an object if it was made for the catalog.
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
	if !owns(source, live) || live.DeletionTimestamp != nil {
		return nil
	}
	if err := k.Client.Delete(ctx, live, client.Preconditions{UID: &live.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s/%s, which is not needed any more: %w", o.kind.Kind, source.Namespace, o.name, err)
	}
	*changes = append(*changes, fmt.Sprintf("%s %s %s/%s: not needed any more", Delete, o.kind.Kind, source.Namespace, o.name))
	return nil
}
