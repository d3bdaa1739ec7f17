package preview

import (
	"context"
	"errors"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"fairlead.dev/fairlead/test/must"
)

// clusterWide are ClusterExtensions, one of them being deleted, and a catalog for them.
func clusterWide(ref string) []client.Object {
	extension := func(name, pkg, installed, version string) *olmv1.ClusterExtension {
		e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}}
		e.Spec.Source.Catalog = &olmv1.CatalogFilter{PackageName: pkg}
		if installed != "" {
			e.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: installed, Version: version}}
		}
		return e
	}
	gone := extension("gone", "app", "", "")
	gone.DeletionTimestamp, gone.Finalizers = &metav1.Time{Time: metav1.Now().Time}, []string{"example.com/keep"}
	catalog := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	catalog.Spec.Source.Image = &olmv1.ImageSource{Ref: ref}
	return []client.Object{extension("my-app", "app", "app.v1.0.0", "1.0.0"), extension("my-db", "db", "", ""), gone, catalog}
}

func TestClusterExtensions(t *testing.T) {
	ref := pushed(t)
	c := Cluster{Reader: reader(t, append(inNamespace(ref), clusterWide(ref)...)...), Server: server{version: "v1.31.0"}}
	q := must.Value(c.Question(t.Context(), "here", "olm"))(t)
	l := library(t)
	p := must.Value(q.Decide(t.Context(), l))(t)
	r := p.Resolution()
	var got []string
	for _, i := range r.Install {
		got = append(got, i.For+" "+i.Name+" of "+i.Catalog)
	}
	// Subscriptions may bring their dependencies along; an extension whose needs nobody meets takes no step.
	want := []string{"dependency db.v1.0.0 of olm/cat", "subscription app.v1.1.0 of olm/cat", "extension db.v1.0.0 of all"}
	if diff := cmp.Diff(want, got); diff != "" || len(r.Extensions) != 2 || r.Extensions[0].Held == nil {
		t.Errorf("(-want +got):\n%s%+v", diff, r.Extensions)
	}

	q = must.Value(c.Extensions(t.Context()))(t)
	one, err := q.Extend(t.Context(), l, Extension{Package: "app", Policy: "SelfCertified", Version: ">=2"})
	if err != nil || one.Extension != "my-app" || len(one.Install) != 1 || one.Install[0].Name != "app.v2.0.0" || one.Install[0].Replaces != "app.v1.0.0" {
		t.Errorf("%+v, %v", one, err)
	}
}

// TestClusterWithoutExtensions: nobody is told of what is not served or may not be read but those who ask for it.
func TestClusterWithoutExtensions(t *testing.T) {
	gvk := schema.GroupKind{Group: olmv1.GroupVersion.Group, Kind: olmv1.ClusterExtensionKind}
	resource := schema.GroupResource{Group: gvk.Group, Resource: "clusterextensions"}
	for name, test := range map[string]struct {
		err         error
		asked, note string
		fails       bool // for those, too, who did not ask for it
	}{
		"not served": {&meta.NoKindMatchError{GroupKind: gvk}, "it does not serve olm.operatorframework.io/v1; run the manager", "", false},
		"no more":    {apierrors.NewNotFound(resource, ""), "it does not serve olm.operatorframework.io/v1", "", false},
		"forbidden":  {apierrors.NewForbidden(resource, "", errors.New("no role")), "no role", "ClusterExtensions cannot be read by this user: they are not checked", false},
		"broken":     {errors.New("refused"), "list the ClusterExtensions and ClusterCatalogs of the cluster: refused", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			c := Cluster{Server: server{version: "v1.31.0"}, Reader: interceptor.NewClient(reader(t),
				interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
					if _, is := list.(*olmv1.ClusterExtensionList); is {
						return test.err
					}
					return c.List(ctx, list, o...)
				}})}
			if _, err := c.Extensions(t.Context()); err == nil || !strings.Contains(err.Error(), test.asked) {
				t.Errorf("asked for: %v, want %s", err, test.asked)
			}
			q, err := c.Question(t.Context(), "here", "olm")
			if test.fails != (err != nil) {
				t.Fatalf("not asked for: %v", err)
			}
			if err == nil && (strings.Join(q.Notes, "") == "") != (test.note == "") || err == nil && !strings.HasPrefix(strings.Join(q.Notes, ""), test.note) {
				t.Errorf("notes %q, want %q", q.Notes, test.note)
			}
		})
	}
}
