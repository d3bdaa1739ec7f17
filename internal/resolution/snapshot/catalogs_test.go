package snapshot

import (
	"context"
	"errors"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func object(name string, priority int32, mode olmv1.AvailabilityMode) *olmv1.ClusterCatalog {
	return &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": name}},
		Spec: olmv1.ClusterCatalogSpec{Priority: priority, AvailabilityMode: mode}}
}

func digestIndex(t *testing.T, digest string) *catalog.Index {
	t.Helper()
	x := must.Value(catalog.NewIndex(&catalog.Catalog{}, digest))(t)
	return x
}

// TestList shows what decisions get to see: last good content takes part, what the user has switched off does not, whatever is left of it.
func TestList(t *testing.T) {
	scheme := runtime.NewScheme()
	must.NoError(t, olmv1.AddToScheme(scheme))
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		object("dead", -5, ""), object("new", 0, olmv1.AvailabilityModeAvailable), object("off", 7, olmv1.AvailabilityModeUnavailable)).Build()
	set, good := catalogstore.NewSet(), digestIndex(t, "sha256:good")
	set.Publish(CatalogRef("dead"), catalogstore.Entry{Index: good, Problem: "the registry is down"})
	set.Publish(CatalogRef("off"), catalogstore.Entry{Index: good, Problem: "left behind"})
	set.Publish(CatalogRef("gone"), catalogstore.Entry{Index: good})
	set.Publish(catalog.Ref{Namespace: "olm", Name: "new"}, catalogstore.Entry{Index: good}) // a CatalogSource of that name
	got := must.Value(ListCatalogs(t.Context(), reader, set))(t)
	want := []resolution.Catalog{
		{Name: "dead", Labels: map[string]string{"tier": "dead"}, Priority: -5, Index: good, Problem: "the registry is down"},
		{Name: "new", Labels: map[string]string{"tier": "new"}},
		{Name: "off", Labels: map[string]string{"tier": "off"}, Priority: 7, Disabled: true},
	}
	same := cmp.Comparer(func(a, b *catalog.Index) bool { return a == b })
	must.Equal(t, "got", got, want, same, cmpopts.EquateEmpty())
}

func TestListTellsWhatFailed(t *testing.T) {
	down := errors.New("the API server is down")
	reader := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return down }}).Build()
	if _, err := ListCatalogs(t.Context(), reader, catalogstore.NewSet()); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}

func TestDigest(t *testing.T) {
	for name, test := range map[string]struct {
		status olmv1.ClusterCatalogStatus
		want   string
	}{
		"nothing yet": {},
		"no image":    {status: olmv1.ClusterCatalogStatus{ResolvedSource: &olmv1.ResolvedCatalogSource{}}},
		"an image": {olmv1.ClusterCatalogStatus{ResolvedSource: &olmv1.ResolvedCatalogSource{
			Image: &olmv1.ResolvedImageSource{Ref: "quay.io/a/b@sha256:abc"}}}, "sha256:abc"},
		"no digest": {status: olmv1.ClusterCatalogStatus{ResolvedSource: &olmv1.ResolvedCatalogSource{
			Image: &olmv1.ResolvedImageSource{Ref: "quay.io/a/b:v1"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "got", CatalogDigest(&olmv1.ClusterCatalog{Status: test.status}), test.want)
		})
	}
}
