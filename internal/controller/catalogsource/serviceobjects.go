package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/grpccatalog"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	registryPort = 50051
	registryName = "grpc"
	// sliceManager marks the EndpointSlices that no controller of Kubernetes is to touch.
	sliceManager = "fairlead.dev"
)

// serviceObjects are a Service that selects nothing, and the EndpointSlice that leads it to this process. Each process has an EndpointSlice
// of its own, and the Service is the same for all, so that several can serve side by side.
func serviceObjects(source *v1alpha1.CatalogSource, name string, at netip.AddrPort, pod string) []*unstructured.Unstructured {
	family := corev1.IPv4Protocol
	if at.Addr().Is6() {
		family = corev1.IPv6Protocol
	}
	owner := map[string]any{ // the objects go with their CatalogSource, and their changes are known to this controller
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "CatalogSource", "name": source.Name, "uid": string(source.UID),
		"controller": true, "blockOwnerDeletion": false,
	}
	meta := func(kind, name string) map[string]any {
		labels := map[string]any{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue}
		if kind == "EndpointSlice" {
			labels[discoveryv1.LabelServiceName], labels[discoveryv1.LabelManagedBy] = grpccatalog.ServiceName(source.Name), sliceManager
		}
		return map[string]any{"namespace": source.Namespace, "name": name, "labels": labels, "ownerReferences": []any{owner}}
	}
	service := map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": meta("Service", name),
		"spec": map[string]any{
			"type":       string(corev1.ServiceTypeClusterIP),
			"ipFamilies": []any{string(family)},
			"ports":      []any{map[string]any{"name": registryName, "protocol": "TCP", "port": int64(registryPort), "targetPort": int64(registryPort)}},
		},
	}
	slice := map[string]any{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": meta("EndpointSlice", sliceName(name, at)),
		"addressType": string(family),
		"endpoints":   []any{map[string]any{"addresses": []any{at.Addr().String()}, "conditions": map[string]any{"ready": true}}},
		"ports":       []any{map[string]any{"name": registryName, "protocol": "TCP", "port": int64(at.Port())}},
	}
	annotations := map[string]any{addressAnnotation: at.String()}
	if pod != "" {
		annotations[podAnnotation] = pod
	}
	slice["metadata"].(map[string]any)["annotations"] = annotations
	return []*unstructured.Unstructured{{Object: service}, {Object: slice}}
}

// sliceName is that of the EndpointSlice that leads to an address.
func sliceName(service string, at netip.AddrPort) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(at.String())) // a hash never fails
	return fmt.Sprintf("%s-fairlead-%08x", service, sum.Sum32())
}

// prune removes the Services and EndpointSlices of a catalog but those that belong to the given name and lead to an address, and reports whether
// some of them lead to other managers. What leads to one that is gone is removed, and so is what leads to a former port of this pod.
func (s *services) prune(ctx context.Context, source *v1alpha1.CatalogSource, keep string, at netip.AddrPort) (shared bool, err error) {
	managed := client.MatchingLabels{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue}
	var all corev1.ServiceList
	var slices metav1.PartialObjectMetadataList
	slices.SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSliceList"))
	if err := errors.Join(s.client.List(ctx, &all, client.InNamespace(source.Namespace), managed),
		s.client.List(ctx, &slices, client.InNamespace(source.Namespace), managed)); err != nil {
		return false, fmt.Errorf("list the Services of the catalog: %w", err)
	}
	var stale []client.Object
	for i := range all.Items {
		if metav1.IsControlledBy(&all.Items[i], source) && all.Items[i].Name != keep {
			stale = append(stale, &all.Items[i])
		}
	}
	for i := range slices.Items {
		slice := &slices.Items[i]
		switch {
		case !metav1.IsControlledBy(slice, source) || keep != "" && slice.Name == sliceName(keep, at):
		case s.Serving != nil && s.Pod != "" && slice.Annotations[podAnnotation] == s.Pod:
			stale = append(stale, slice)
		case keep == "" || slice.Labels[discoveryv1.LabelServiceName] != keep || s.peers.gone(ctx, slice):
			stale = append(stale, slice)
		default:
			shared = true
		}
	}
	for _, object := range stale {
		if err := s.delete(ctx, object); err != nil {
			return shared, err
		}
	}
	return shared, nil
}

func (s *services) delete(ctx context.Context, object client.Object) error {
	options := []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}
	if uid := object.GetUID(); uid != "" {
		options = append(options, client.Preconditions{UID: ptr.To(uid)})
	}
	if err := s.client.Delete(ctx, object, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove %s %s of the catalog: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
	}
	return nil
}
