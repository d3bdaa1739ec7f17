package devcluster

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// DeleteDefinitions deletes the CustomResourceDefinitions of an API group with all of their objects. Their conversion webhooks are taken
// off before: one that does not answer any more would keep the objects, and with them the CustomResourceDefinition, and no namespace
// of the cluster could be deleted.
func DeleteDefinitions(t testing.TB, group string) {
	t.Helper()
	c, err := dynamic.NewForConfig(fixtureEnvironment(t).config)
	if err != nil {
		t.Fatalf("make a client of the tests' cluster: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), fixtureTimeout)
	defer cancel()
	all, err := c.Resource(definitions).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Errorf("list the CustomResourceDefinitions: %v", err)
		return
	}
	unconverted := []byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	for _, crd := range all.Items {
		if of, _, _ := unstructured.NestedString(crd.Object, "spec", "group"); of != group {
			continue
		}
		_, err := c.Resource(definitions).Patch(ctx, crd.GetName(), types.MergePatchType, unconverted, metav1.PatchOptions{})
		if err == nil {
			err = c.Resource(definitions).Delete(ctx, crd.GetName(), metav1.DeleteOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("delete CustomResourceDefinition %s: %v", crd.GetName(), err)
		}
	}
}
