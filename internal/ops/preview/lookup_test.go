package preview

import (
	"context"
	"errors"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestLookUp: what is asked for is there, or the error names what is nearest to it and what to type.
func TestLookUp(t *testing.T) {
	// others is another catalog that has kite, with channel fast as its default.
	others := func(priority int32) func(*Answer) {
		return func(a *Answer) {
			a.Packages = append(a.Packages, &Package{Name: "kite", Catalog: "others", DefaultChannel: "fast", Channels: []Channel{{Name: "fast"}}, priority: priority})
			a.Catalogs, a.Read = 2, 2
		}
	}
	// again is another catalog that has all of it, too.
	again := func(priority int32) func(*Answer) {
		return func(a *Answer) {
			must.NoError(t, a.add("again", index(t), "kite"))
			a.Packages[1].priority = priority
			a.Catalogs, a.Read = 2, 2
		}
	}
	for name, test := range map[string]struct {
		asked   Asked
		change  func(*Answer)
		channel string
		err     string
	}{
		"the default channel":                                {asked: Asked{Package: "kite"}, channel: "stable"},
		"a channel":                                          {asked: Asked{Package: "kite", Channels: []string{"fast"}}},
		"a version of the default":                           {asked: Asked{Package: "kite", Version: "1.x"}, channel: "stable"},
		"a version of a channel":                             {asked: Asked{Package: "kite", Channels: []string{"fast"}, Version: ">=2"}},
		"a version to begin with":                            {asked: Asked{Package: "kite", Starting: "kite.v1.0.0"}, channel: "stable"},
		"a mistyped package":                                 {asked: Asked{Package: "kitee"}, err: "install package kitee: no catalog has a package of that name; did you mean kite? fairlead search lists what there is"},
		"another package":                                    {asked: Asked{Package: "balloon"}, err: "install package balloon: no catalog has a package of that name; fairlead search lists what there is"},
		"a mistyped channel":                                 {asked: Asked{Package: "kite", Channels: []string{"stabel"}}, err: "install package kite: it has no channel stabel (its channels are stable, fast); did you mean stable?"},
		"one of two is mistyped":                             {asked: Asked{Package: "kite", Channels: []string{"stable", "fats"}}, err: "it has no channel fats (its channels are stable, fast); did you mean fast?"},
		"a version elsewhere":                                {asked: Asked{Package: "kite", Version: "2.0.0"}, err: `install package kite: no version is in the range "2.0.0" in channel stable (the default); channel fast has one; add --channel fast`},
		"a version of no channel":                            {asked: Asked{Package: "kite", Version: "1.1.0"}, err: `no version is in the range "1.1.0" (the newest is 1.10.0); did you mean 1.10.0? fairlead versions kite lists them`},
		"no range":                                           {asked: Asked{Package: "kite", Version: "newest"}, err: "install package kite: version: "},
		"a start that is mistyped":                           {asked: Asked{Package: "kite", Starting: "kite.v1.1.0"}, err: "no version is called kite.v1.1.0 (the newest is kite.v1.10.0); did you mean kite.v1.10.0? fairlead versions kite lists them"},
		"a start elsewhere":                                  {asked: Asked{Package: "kite", Starting: "kite.v2.0.0"}, err: "no version is called kite.v2.0.0 in channel stable (the default); channel fast has one"},
		"two catalogs":                                       {asked: Asked{Package: "kite", OneCatalog: true}, change: others(0), err: "install package kite: catalogs toys, others have it; choose one with --catalog"},
		"two that are first":                                 {asked: Asked{Package: "kite", OneFirst: true}, change: again(0), err: "install package kite: catalogs toys, again have it, and the same priority; choose one with --catalog"},
		"one that is first":                                  {asked: Asked{Package: "kite", OneFirst: true}, change: again(1), channel: "stable"},
		"one that has the version":                           {asked: Asked{Package: "kite", OneFirst: true, Channels: []string{"fast"}, Version: ">=2"}, change: others(0)},
		"two that are first, a third one is not read":        {asked: Asked{Package: "kite", OneFirst: true}, change: func(a *Answer) { again(0)(a); a.Catalogs++ }, err: "catalogs toys, again have it, and the same priority"},
		"defaults that differ":                               {asked: Asked{Package: "kite"}, change: others(0), err: "the default channels of its catalogs differ (stable, fast); choose one with --channel"},
		"the default that is first":                          {asked: Asked{Package: "kite"}, change: others(1), channel: "fast"},
		"a catalog that is not read may have the package":    {asked: Asked{Package: "balloon"}, change: func(a *Answer) { a.Catalogs++ }},
		"one that is not read may have the channel":          {asked: Asked{Package: "kite", Channels: []string{"nightly"}}, change: func(a *Answer) { a.Catalogs++ }},
		"the default is known, though a catalog is not read": {asked: Asked{Package: "kite"}, change: func(a *Answer) { a.Catalogs++ }, channel: "stable"},
		"one that is off has nothing":                        {asked: Asked{Package: "balloon"}, change: func(a *Answer) { a.Catalogs, a.off = 2, 1 }, err: "no catalog has a package of that name"},
		"no catalog is no answer":                            {asked: Asked{Package: "balloon"}, change: func(a *Answer) { *a = Answer{} }},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := test.asked.LookUp(t.Context(), func(_ context.Context, pkg string) (Answer, error) {
				a := Answer{Catalogs: 1, Read: 1}
				must.NoError(t, a.add("toys", index(t), pkg))
				if test.change != nil {
					test.change(&a)
				}
				return a, nil
			})
			if test.err != "" {
				must.Fail(t, "the call", err, test.err)
				if name != "no range" && !errors.As(err, new(*NotOfferedError)) {
					t.Errorf("%v is of another kind", err)
				}
				return
			}
			must.NoError(t, err)
			must.Equal(t, "channel", o.Channel, test.channel)
		})
	}
}

// TestSuggestedNamespace: a bundle suggests where to install it; what cannot be a namespace is no suggestion.
func TestSuggestedNamespace(t *testing.T) {
	for value, want := range map[string]string{"kites": "kites", "": "", "No Such": ""} {
		must.Equal(t, value, SuggestedNamespace(map[string]string{suggestedNamespaceKey: value}), want)
	}
	m := packagesv1.PackageManifest{Status: packagesv1.PackageManifestStatus{PackageName: "kite", DefaultChannel: "stable",
		Channels: []packagesv1.PackageChannel{{Name: "stable", CurrentCSVDesc: packagesv1.CSVDescription{Annotations: map[string]string{suggestedNamespaceKey: "kites"}}}}}}
	must.Equal(t, "of a PackageManifest", OfManifest(&m, time.Time{}).SuggestedNamespace, "kites")
}

// TestInView: the PackageManifests say what catalogs have; of a catalog without any it is said that it cannot be read.
func TestInView(t *testing.T) {
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(v1alpha1.AddToScheme(scheme), packagesv1.AddToScheme(scheme), olmv1.AddToScheme(scheme)))
	source := func(namespace, name string) client.Object {
		return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	manifest := &packagesv1.PackageManifest{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "kite"}, Status: packagesv1.PackageManifestStatus{
		PackageName: "kite", CatalogSource: "toys", CatalogSourceNamespace: "olm", DefaultChannel: "stable", Channels: []packagesv1.PackageChannel{{Name: "stable"}}}}
	for name, test := range map[string]struct {
		fails          error
		catalogs       []string
		all, read      int
		packages, note string
	}{
		"served":                {all: 2, read: 1, packages: "kite", note: "CatalogSource olm/fresh cannot be read by this command"},
		"one that is named":     {catalogs: []string{"toys"}, all: 1, read: 1, packages: "kite"},
		"the server is away":    {fails: apierrors.NewServiceUnavailable("away"), all: 2, note: "CatalogSource olm/toys cannot be read by this command"},
		"a catalog of no one's": {catalogs: []string{"nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			reader := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(source("olm", "toys"), source("olm", "fresh"), source("else", "c"), manifest).Build(), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
					if _, is := list.(*packagesv1.PackageManifestList); is && test.fails != nil {
						return test.fails
					}
					return c.List(ctx, list, o...)
				}})
			a := must.Value(BrowseCluster{Reader: reader, Catalogs: test.catalogs}.InView(t.Context(), "olm", "kite"))(t)
			got, notes := "", ""
			for _, p := range a.Packages {
				got += p.Name
			}
			for _, n := range a.Notes {
				notes += n + "\n"
			}
			must.Equal(t, "packages", got, test.packages)
			must.Equal(t, "catalogs", [2]int{a.Catalogs, a.Read}, [2]int{test.all, test.read})
			must.Contain(t, "notes", notes, test.note)
		})
	}
}
