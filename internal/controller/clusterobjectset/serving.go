package clusterobjectset

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// keyOfServer is the name of the Service that a definition is converted by.
func keyOfServer(service map[string]any) client.ObjectKey {
	return client.ObjectKey{Namespace: fmt.Sprint(service["namespace"]), Name: fmt.Sprint(service["name"])}
}

// runs tells whether what converts now goes on doing so while a set rolls out that is to be converted otherwise then. Where both are the same
// Service, it does as long as the port stays and pods from before the set answer: those of the set may serve the new port and path only, and
// may not become ready before they can read their custom resources.
func (c *Controller) runs(ctx context.Context, set *olmv1.ClusterObjectSet, content map[int]revision.Phase, now, then map[string]any) (bool, error) {
	key, port := keyOfServer(now), fmt.Sprint(portOf(now))
	same := then != nil && keyOfServer(then) == key
	if same && !servedBy(content, key, port) {
		return false, nil
	}
	ready, err := c.ready(ctx, key, port)
	if err != nil || !same {
		return len(ready) > 0, err
	}
	for _, e := range ready {
		if before, err := c.madeBefore(ctx, set, key.Namespace, e.TargetRef); err != nil || before {
			return before, err
		}
	}
	return false, nil
}

// servedBy tells whether a Service has a port as a revision wants it. One that is not the revision's stays as it is.
func servedBy(content map[int]revision.Phase, key client.ObjectKey, port string) bool {
	for _, p := range content {
		for _, o := range p.Objects {
			if kind := o.GroupVersionKind(); kind.Group != "" || kind.Kind != "Service" || client.ObjectKeyFromObject(o.Unstructured) != key {
				continue
			}
			ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
			return slices.ContainsFunc(ports, func(p any) bool {
				fields, _ := p.(map[string]any)
				return fmt.Sprint(fields["port"]) == port
			})
		}
	}
	return true
}

// ready are the endpoints that are ready behind a port of a Service.
func (c *Controller) ready(ctx context.Context, key client.ObjectKey, port string) (all []discoveryv1.Endpoint, _ error) {
	service := &corev1.Service{}
	err := c.live.Get(ctx, key, service)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Service %s, which converts custom resources: %w", key, err)
	}
	i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return fmt.Sprint(p.Port) == port })
	if i < 0 {
		return nil, nil
	}
	var list discoveryv1.EndpointSliceList
	if err := c.live.List(ctx, &list, client.InNamespace(key.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: key.Name}); err != nil {
		return nil, fmt.Errorf("look whether Service %s, which converts custom resources, has an endpoint: %w", key, err)
	}
	for _, s := range list.Items {
		leads := func(p discoveryv1.EndpointPort) bool {
			return p.Name == nil && service.Spec.Ports[i].Name == "" || p.Name != nil && *p.Name == service.Spec.Ports[i].Name
		}
		for _, e := range s.Endpoints {
			if slices.ContainsFunc(s.Ports, leads) && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
				all = append(all, e)
			}
		}
	}
	return all, nil
}

// madeBefore tells whether an endpoint is a pod that was made before a set; of what is no pod that is taken for granted.
func (c *Controller) madeBefore(ctx context.Context, set *olmv1.ClusterObjectSet, namespace string, to *corev1.ObjectReference) (bool, error) {
	if to == nil || to.Kind != "Pod" {
		return true, nil
	}
	pod := metadataOf(corev1.SchemeGroupVersion.WithKind("Pod"))
	err := c.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: to.Name}, pod)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read Pod %s/%s, which converts custom resources: %w", namespace, to.Name, err)
	}
	return pod.CreationTimestamp.Before(&set.CreationTimestamp), nil
}
