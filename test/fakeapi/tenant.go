package fakeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// closed are kinds of a namespace that the role edit of Kubernetes does not have.
var closed = []string{"Role", "RoleBinding", "OperatorCondition"}

// readOnly are kinds of a namespace that the role edit of Kubernetes only reads.
var readOnly = []string{"OperatorGroup", "InstallPlan", "CatalogSource", "ClusterServiceVersion"}

// Tenant is what the API server answers the user dev, who has the role edit of Kubernetes in one namespace: what that role does not have is forbidden.
func Tenant(c client.WithWatch, namespace string) client.WithWatch {
	may := func(verb string, o runtime.Object, in, name string) error {
		kind := strings.TrimSuffix(kindOf(c, o), "List")
		writes := verb == "create" || verb == "patch" || verb == "update"
		if in == namespace && !slices.Contains(closed, kind) && !(writes && slices.Contains(readOnly, kind)) || kind == "Namespace" && name == namespace && verb == "get" {
			return nil
		}
		resource := schema.GroupResource{Resource: strings.ToLower(kind) + "s"}
		return apierrors.NewForbidden(resource, name, fmt.Errorf("User %q cannot %s resource %q", "dev", verb, resource.Resource)) //nolint:staticcheck // ST1005: the words of API servers
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := may("get", o, key.Namespace, key.Name); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(opts)
			if err := may("list", list, o.Namespace, ""); err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := may("create", o, o.GetNamespace(), o.GetName()); err != nil {
				return err
			}
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := may("delete", o, o.GetNamespace(), o.GetName()); err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := may("patch", o, o.GetNamespace(), o.GetName()); err != nil {
				return err
			}
			return c.Patch(ctx, o, patch, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := may("update", o, o.GetNamespace(), o.GetName()); err != nil {
				return err
			}
			return c.Update(ctx, o, opts...)
		},
	})
}

func kindOf(c client.Client, o runtime.Object) string {
	if gvk, err := apiutil.GVKForObject(o, c.Scheme()); err == nil {
		return gvk.Kind
	}
	return o.GetObjectKind().GroupVersionKind().Kind
}
