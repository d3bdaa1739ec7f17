package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apply makes the cluster's object have the fields of the wanted one, and returns what the cluster answered.
func (c *Controller) apply(ctx context.Context, wanted client.Object, options ...client.ApplyOption) (client.Object, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return nil, fmt.Errorf("apply %s %s: %w", kindOf(wanted), client.ObjectKeyFromObject(wanted), err)
	}
	delete(content, "status")
	request := &unstructured.Unstructured{Object: withoutNulls(content)}
	options = append(options, fieldManager, client.ForceOwnership)
	if err := c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(request), options...); err != nil {
		return nil, fmt.Errorf("apply %s %s: %w", kindOf(wanted), client.ObjectKeyFromObject(wanted), err)
	}
	live := emptyLike(wanted)
	return live, runtime.DefaultUnstructuredConverter.FromUnstructured(request.Object, live)
}

// emptyLike is a new object of the same type.
func emptyLike(object client.Object) client.Object {
	return reflect.New(reflect.TypeOf(object).Elem()).Interface().(client.Object)
}

// withoutNulls leaves out what the Go types write as null: applying a null would claim the field.
func withoutNulls(content map[string]any) map[string]any {
	for name, value := range content {
		if value == nil {
			delete(content, name)
		}
		stripNulls(value)
	}
	return content
}

func stripNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		withoutNulls(v)
	case []any:
		for _, item := range v {
			stripNulls(item)
		}
	}
}

// remove deletes an object; one that is gone already is fine.
func (c *Controller) remove(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	if err := c.client.Delete(ctx, object, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s: %w", kindOf(object), client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// make makes the changes, all of them even when some fail, and returns what was applied. It stops at nothing, so that
// one bad object holds up nothing but itself.
func (c *Controller) make(ctx context.Context, changes []change, options ...client.ApplyOption) ([]client.Object, error) {
	var applied []client.Object
	var errs []error
	for _, change := range changes {
		if change.remove != nil {
			errs = append(errs, c.remove(ctx, change.remove))
		}
		if change.apply != nil {
			live, err := c.apply(ctx, change.apply, options...)
			if err == nil {
				applied = append(applied, live)
			}
			errs = append(errs, err)
		}
	}
	return applied, errors.Join(errs...)
}

// watches says whether the manager manages a namespace.
func (c *Controller) watches(namespace string) bool {
	return len(c.limits.namespaces) == 0 || slices.Contains(c.limits.namespaces, namespace)
}

// kindOf is the kind of an object for messages.
func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }
