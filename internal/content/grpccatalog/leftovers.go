package grpccatalog

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
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

// cleanup removes what was made for a catalog, and notes it for people.
type cleanup struct {
	*Keeper
	source  *v1alpha1.CatalogSource
	changes *[]string
}

// Remove takes away what Ensure made for a catalog that is no longer served by a pod, but for the objects to keep. A Service that leads
// elsewhere since, to keep or not written by Ensure, loses the addresses of the pod, which no one else would take from it. What a
// CatalogSource leaves behind when it is deleted itself is collected as garbage.
func (k *Keeper) Remove(ctx context.Context, source *v1alpha1.CatalogSource, keep ...client.Object) (changes []string, err error) {
	kept, names, err := k.identify(source, keep)
	if err != nil {
		return nil, err
	}
	state := "no pod" + names
	if before, ok := k.tidied.Load(source.UID); ok && before == state {
		return nil, nil
	}
	c := cleanup{k, source, &changes}
	if err := c.removePods(ctx, "the catalog is not served by a pod any more"); err != nil {
		return changes, err
	}
	if kept[namedObject{serviceKind, ServiceName(source.Name)}] {
		if err := c.removeAddresses(ctx); err != nil {
			return changes, err
		}
	}
	return changes, c.removeObjects(ctx, kept, state)
}

// removeLeftovers deletes what an earlier kind of the catalog needed and a catalog in a pod, or in this kind of pod, does not. The
// manager keeps answering for the catalog until the pod does.
func (k *Keeper) removeLeftovers(ctx context.Context, source *v1alpha1.CatalogSource, wanted *Objects, out *Outcome) error {
	kept, names, err := k.identify(source, wanted.companions())
	if err != nil {
		return err
	}
	state := fmt.Sprintf("pod that is ready: %t", out.Ready) + names
	if before, ok := k.tidied.Load(source.UID); ok && before == state {
		return nil
	}
	c := cleanup{k, source, &out.Changes}
	if out.Ready { // what leads clients elsewhere than to the pod ends; what leads to the pod belongs to the Service, not to the catalog
		slices, err := c.slices(ctx)
		if err != nil {
			return err
		}
		for i := range slices {
			if owns(source, &slices[i]) {
				if err := c.removeLive(ctx, &slices[i]); err != nil {
					return err
				}
			}
		}
	}
	return c.removeObjects(ctx, kept, state)
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

// removeObjects deletes all but the kept objects, and remembers for which state that was done: it need not be done for that again.
func (c cleanup) removeObjects(ctx context.Context, kept map[namedObject]bool, state string) error {
	for _, o := range everything(c.source) {
		if kept[o] {
			continue
		}
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(o.kind)
		err := c.Reader.Get(ctx, types.NamespacedName{Namespace: c.source.Namespace, Name: o.name}, live)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read %s %s/%s, to see whether the catalog left it behind: %w", o.kind.Kind, c.source.Namespace, o.name, err)
		}
		if err != nil || !owns(c.source, live) {
			continue
		}
		if _, hashed := live.Labels[v1alpha1.ServiceSpecHashLabel]; !hashed && o.kind == serviceKind {
			err = c.removeAddresses(ctx) // another client wrote it since
		} else {
			live.SetGroupVersionKind(o.kind)
			err = c.removeLive(ctx, live)
		}
		if err != nil {
			return err
		}
	}
	c.tidied.Store(c.source.UID, state)
	return nil
}

// everything that a catalog in a pod may consist of besides pods, also what another implementation needs for one in a ConfigMap.
func everything(source *v1alpha1.CatalogSource) []namedObject {
	core, rbac := corev1.SchemeGroupVersion, rbacv1.SchemeGroupVersion
	policy := networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")
	return []namedObject{
		{serviceKind, ServiceName(source.Name)},
		{policy, objectName(source.Name, serverPolicy)},
		{policy, objectName(source.Name, unpackPolicy)},
		{rbac.WithKind("RoleBinding"), objectName(source.Name, "-server-configmap-reader")},
		{rbac.WithKind("Role"), objectName(source.Name, "-configmap-reader")},
		{core.WithKind("ServiceAccount"), objectName(source.Name, "-configmap-server")},
		{core.WithKind("ServiceAccount"), source.Name},
	}
}

// Stop deletes the pods of a catalog whose image must not be run, and says why in the changes. What else belongs to the catalog stays.
func (k *Keeper) Stop(ctx context.Context, source *v1alpha1.CatalogSource, why string) (changes []string, err error) {
	err = cleanup{k, source, &changes}.removePods(ctx, why)
	return changes, err
}

func (c cleanup) removePods(ctx context.Context, why string) error {
	pods, err := c.pods(ctx, c.source)
	if err != nil {
		return err
	}
	for i := range pods {
		p := &pods[i]
		if p.DeletionTimestamp != nil {
			continue
		}
		if err := c.deletePod(ctx, p, graceReplaced); err != nil {
			return fmt.Errorf("delete pod %s/%s (%s): %w", p.Namespace, p.Name, why, err)
		}
		*c.changes = append(*c.changes, fmt.Sprintf("%s Pod %s/%s: %s", Delete, p.Namespace, p.Name, why))
	}
	return nil
}

// removeLive deletes an object that is there.
func (c cleanup) removeLive(ctx context.Context, live *metav1.PartialObjectMetadata) error {
	if live.DeletionTimestamp != nil {
		return nil
	}
	if err := c.Client.Delete(ctx, live, client.Preconditions{UID: &live.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s/%s, which is not needed any more: %w", live.Kind, c.source.Namespace, live.Name, err)
	}
	*c.changes = append(*c.changes, fmt.Sprintf("%s %s %s/%s: not needed any more", Delete, live.Kind, c.source.Namespace, live.Name))
	return nil
}

var serviceKind = corev1.SchemeGroupVersion.WithKind("Service")

// fromPods are the controllers of Kubernetes that write EndpointSlices: from the pods that a Service selects, and from what an older
// controller made of those. Both leave a Service alone that selects nothing, with what they wrote while it did.
var fromPods = []string{"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}

// removeAddresses ends what leads clients of a Service, which selects no pods any more, to the pods that it selected.
func (c cleanup) removeAddresses(ctx context.Context) error {
	endpoints := &metav1.PartialObjectMetadata{}
	endpoints.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Endpoints"))
	err := c.Reader.Get(ctx, client.ObjectKey{Namespace: c.source.Namespace, Name: ServiceName(c.source.Name)}, endpoints)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Endpoints %s/%s, to see whether they are of the catalog's pod: %w", c.source.Namespace, ServiceName(c.source.Name), err)
	}
	if err == nil {
		endpoints.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Endpoints"))
		if err := c.removeLive(ctx, endpoints); err != nil {
			return err
		}
	}
	slices, err := c.slices(ctx)
	if err != nil {
		return err
	}
	for i := range slices {
		for _, writer := range fromPods {
			if slices[i].Labels[discoveryv1.LabelManagedBy] == writer {
				if err := c.removeLive(ctx, &slices[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// slices are those of the catalog's Service.
func (c cleanup) slices(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	kind := discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind("EndpointSliceList"))
	err := c.Reader.List(ctx, list, client.InNamespace(c.source.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: ServiceName(c.source.Name)})
	if err != nil {
		return nil, fmt.Errorf("list the EndpointSlices of Service %s/%s: %w", c.source.Namespace, ServiceName(c.source.Name), err)
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(kind)
	}
	return list.Items, nil
}
