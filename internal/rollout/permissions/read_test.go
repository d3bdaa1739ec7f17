package permissions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"fairlead.dev/fairlead/test/must"
)

func TestRead(t *testing.T) {
	named := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	account := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "ops", Name: "installer"}}
	rules := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: verbs}}
	}
	world := []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: named("", "read"), Rules: rules("get")},
		&rbacv1.ClusterRoleBinding{ObjectMeta: named("", "read"), Subjects: account, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "read"}},
		&rbacv1.Role{ObjectMeta: named("apps", "write"), Rules: rules("create", "patch", "update")},
		&rbacv1.RoleBinding{ObjectMeta: named("apps", "write"), Subjects: account, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "write"}},
		&rbacv1.Role{ObjectMeta: named("elsewhere", "all"), Rules: rules("*")},
		&rbacv1.RoleBinding{ObjectMeta: named("elsewhere", "all"), Subjects: account, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "all"}},
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "apps"}}}
	objects := []*unstructured.Unstructured{object}
	cluster := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(world...).Build()
	source := must.Value(Read(t.Context(), cluster, mapper, objects))(t)
	missing, err := Missing(ServiceAccount("ops", "installer"), source, objects)
	const want = `Namespace:"apps" APIGroups:[] Resources:[configmaps] ResourceNames:[settings] Verbs:[delete]`
	if err != nil || len(missing) != 1 || missing[0].String() != want {
		t.Errorf("missing = %v, %v; want %s", missing, err, want)
	}

	for _, kind := range []string{"ClusterRoles", "ClusterRoleBindings", "Roles of namespace apps", "RoleBindings of namespace apps"} {
		failing := interceptor.NewClient(cluster, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			if what, _, _ := strings.Cut(kind, " "); strings.Contains(fmt.Sprintf("%T", into), "."+strings.TrimSuffix(what, "s")+"List") {
				return errors.New("connection refused")
			}
			return c.List(ctx, into, options...)
		}})
		_, err = Read(t.Context(), failing, mapper, objects)
		must.Fail(t, "Read", err, kind, "connection refused")
	}
}
