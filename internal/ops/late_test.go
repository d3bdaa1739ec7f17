package ops

import (
	"context"
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// whileDeleted does something when an object of a kind is deleted, before it is gone.
func whileDeleted(c client.WithWatch, kind string, do func(context.Context) error) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			if o.GetObjectKind().GroupVersionKind().Kind == kind {
				if err := do(ctx); err != nil {
					return err
				}
			}
			return c.Delete(ctx, o, options...)
		}})
}

// TestCustomResourceDuringRemoval: somebody makes a custom resource while the operator is removed, which takes minutes. The definition stays,
// unless the user has said that it goes with whatever it has.
func TestCustomResourceDuringRemoval(t *testing.T) {
	for name, test := range map[string]struct {
		api, kind string
		options   UninstallOptions
		stays     bool
	}{
		"ClusterExtension":               {"v1", olmv1.ClusterExtensionKind, UninstallOptions{Name: "kite"}, true},
		"ClusterExtension, named":        {"v1", olmv1.ClusterExtensionKind, UninstallOptions{Name: "kite", DeleteCRDs: []string{"kites.example.com"}}, false},
		"Subscription":                   {"v0", v1alpha1.ClusterServiceVersionKind, UninstallOptions{Name: "my-kite", Namespace: "ops"}, true},
		"Subscription, definition named": {"v0", v1alpha1.ClusterServiceVersionKind, UninstallOptions{Name: "my-kite", Namespace: "ops", DeleteCRDs: []string{"kites.example.com"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			crd := definition("kites.example.com", test.api == "v0")
			objects, find := append(classic(nil), crd), UninstallSubscription
			if test.api == "v1" {
				objects, find = modern(t, "kite", crd, ""), UninstallExtension
			}
			base := removalCluster(t, objects...)
			c := whileDeleted(base, test.kind, func(ctx context.Context) error {
				if err := base.Create(ctx, kite("late")); err != nil || test.api == "v0" || !test.stays {
					return err
				}
				// What the manager does with a definition that has a custom resource.
				live := &apiextensionsv1.CustomResourceDefinition{}
				if err := base.Get(ctx, client.ObjectKeyFromObject(crd), live); err != nil {
					return err
				}
				return revision.Keep(ctx, base, live, revision.KeptOf("kite", "ext"), false, "manager")
			})
			r := must.Value(find(t.Context(), c, test.options))(t)
			var told []string
			must.NoError(t, r.Run(t.Context(), c, func(what string) { told = append(told, what) }))
			must.Equal(t, "there", there(t, c, definition("kites.example.com", false)), test.stays)
			says := slices.ContainsFunc(told, func(s string) bool {
				return strings.Contains(s, "kites.example.com stays: it has got custom resources meanwhile")
			})
			must.Equal(t, "it was told", says, test.stays)
		})
	}
}
