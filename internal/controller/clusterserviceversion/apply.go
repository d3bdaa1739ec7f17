package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/rollout"
)

// applyAs makes the cluster's object have the fields of the wanted one, and returns what the cluster answered. One that is missing is not overwritten
// where another client makes it in between: the cluster answers with a conflict, and the next pass judges it.
func applyAs(ctx context.Context, as client.Client, wanted client.Object, missing bool, options ...client.ApplyOption) (client.Object, error) {
	request, err := requestFor(wanted)
	if err == nil {
		err = send(ctx, as, request, missing, options)
	}
	if err != nil {
		return nil, fmt.Errorf("apply %s %s: %w", kindOf(wanted), client.ObjectKeyFromObject(wanted), err)
	}
	live := emptyLike(wanted)
	return live, runtime.DefaultUnstructuredConverter.FromUnstructured(request.Object, live)
}

// send writes an object, and reads the answer into it. A missing Secret is created, as the keys of two would be merged. Others are applied without
// force: their controllers write a status at once, beside which a create could not be turned into an apply.
func send(ctx context.Context, as client.Client, request *unstructured.Unstructured, missing bool, options []client.ApplyOption) error {
	if request.GetKind() == "Secret" {
		return rollout.Ensure(ctx, as, request, missing, string(fieldManager), options...)
	}
	options = append(options, fieldManager)
	if !missing {
		options = append(options, client.ForceOwnership)
	}
	return as.Apply(ctx, client.ApplyConfigurationFromUnstructured(request), options...)
}

// requestFor has the fields that the cluster is asked for.
func requestFor(wanted client.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	if _, ok := wanted.(*apiregistrationv1.APIService); ok {
		// One that is taken over may have said that certificates are not looked at, and the cluster refuses that together with authorities.
		if err := unstructured.SetNestedField(content, false, "spec", "insecureSkipTLSVerify"); err != nil {
			return nil, err
		}
	}
	return &unstructured.Unstructured{Object: withoutNulls(content)}, nil
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

// removeAs deletes an object; one that is gone already is fine.
func removeAs(ctx context.Context, as client.Client, object client.Object, options ...client.DeleteOption) error {
	if err := as.Delete(ctx, object, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s: %w", kindOf(object), client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// thatOne keeps a deletion from an object that somebody has made since under the same name.
func thatOne(object client.Object) client.Preconditions {
	uid := object.GetUID()
	if uid == "" {
		return client.Preconditions{}
	}
	return client.Preconditions{UID: &uid}
}

// make makes the changes, all of them even when some fail, and returns what was applied. It stops at nothing, so that
// one bad object holds up nothing but itself.
func (f *facts) make(ctx context.Context, changes []change, options ...client.ApplyOption) ([]client.Object, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	installer, err := f.installer(ctx)
	if err != nil {
		return nil, err
	}
	var applied []client.Object
	var errs []error
	for _, change := range changes {
		as := installer
		if change.byManager {
			as = f.c.client
		}
		if change.remove != nil {
			errs = append(errs, removeAs(ctx, as, change.remove, thatOne(change.remove)))
		}
		if change.apply != nil {
			live, err := applyAs(ctx, as, change.apply, change.missing, options...)
			if err == nil {
				applied = append(applied, live)
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return applied, fmt.Errorf("%w%s", err, f.installedAs(ctx))
	}
	return applied, nil
}

// watches says whether the manager manages a namespace.
func (c *Controller) watches(namespace string) bool {
	return len(c.limits.namespaces) == 0 || slices.Contains(c.limits.namespaces, namespace)
}

// kindOf is the kind of an object for messages.
func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }
