package bundleio

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle/configmap"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Extract puts content into a ConfigMap, in place of what it held, and makes it when there is none. Annotations of others stay.
func Extract(ctx context.Context, client dynamic.Interface, namespace, name string, c *configmap.Content) error {
	maps := client.Resource(configMaps).Namespace(namespace)
	object, err := maps.Get(ctx, name, metav1.GetOptions{})
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return fmt.Errorf("read ConfigMap %s/%s: %w", namespace, name, err)
	}
	if missing {
		object = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		object.SetNamespace(namespace)
		object.SetName(name)
	}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	for key := range annotations { // of what it held before
		if key == configmap.EncodingAnnotation || key == v1alpha1.SourceImageAnnotation || strings.HasPrefix(key, v1alpha1.BundleAnnotationPrefix) {
			delete(annotations, key)
		}
	}
	for key, value := range c.Annotations {
		annotations[key] = value
	}
	object.SetAnnotations(annotations)
	data, binary := map[string]any{}, map[string]any{}
	for key, value := range c.Data {
		data[key] = value
	}
	for key, value := range c.BinaryData {
		binary[key] = base64.StdEncoding.EncodeToString(value)
	}
	object.Object["data"], object.Object["binaryData"] = data, binary
	if missing {
		_, err = maps.Create(ctx, object, metav1.CreateOptions{})
	} else {
		_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", namespace, name, err)
	}
	return nil
}
