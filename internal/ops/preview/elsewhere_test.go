package preview

import (
	"context"
	"errors"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestCatalogsElsewhere are named where a namespace sees none, as far as the user may list them.
func TestCatalogsElsewhere(t *testing.T) {
	source := func(namespace, name string) client.Object {
		return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	refused := func(err error) interceptor.Funcs {
		return interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, is := list.(*v1alpha1.CatalogSourceList); is {
				return err
			}
			return c.List(ctx, list, options...)
		}}
	}
	for name, test := range map[string]struct {
		objects []client.Object
		funcs   interceptor.Funcs
		want    string
	}{
		"two":       {objects: []client.Object{source("b", "cat"), source("a", "cat")}, want: "; other namespaces have CatalogSource a/cat, b/cat, which only they see: -n a"},
		"its own":   {objects: []client.Object{source("ns", "cat")}},
		"none":      {},
		"forbidden": {objects: []client.Object{source("a", "cat")}, funcs: refused(apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("catalogsources").GroupResource(), "", nil))},
		"no kind":   {funcs: refused(&meta.NoKindMatchError{})},
		"an error":  {funcs: refused(errors.New("etcd is away")), want: "; whether other namespaces have CatalogSources is not known: list them: etcd is away"},
	} {
		t.Run(name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithScheme(fakeapi.Scheme(v1alpha1.AddToScheme, packagesv1.AddToScheme)).WithObjects(test.objects...).WithInterceptorFuncs(test.funcs).Build()
			a := must.Value(BrowseCluster{Reader: c, Namespace: "ns"}.V0(t.Context(), ""))(t)
			must.Equal(t, "elsewhere", a.Elsewhere, test.want)
		})
	}
}
