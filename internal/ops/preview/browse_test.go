package preview

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const browseContent = `
{schema: olm.package, name: kite, defaultChannel: stable, description: "# Kites\n\nFlies kites."}
---
{schema: olm.channel, package: kite, name: stable, entries: [{name: kite.v1.0.0}, {name: kite.v1.10.0, replaces: kite.v1.0.0}]}
---
{schema: olm.channel, package: kite, name: fast, entries: [{name: kite.v1.10.0}, {name: kite.v2.0.0, replaces: kite.v1.10.0}]}
---
{schema: olm.bundle, package: kite, name: kite.v1.0.0, image: "example.com/kite:1", properties: [{type: olm.package, value: {packageName: kite, version: 1.0.0}}]}
---
schema: olm.bundle
package: kite
name: kite.v1.10.0
image: example.com/kite:2
properties:
- {type: olm.package, value: {packageName: kite, version: 1.10.0}}
- {type: olm.gvk, value: {group: example.com, version: v1, kind: Kite}}
- {type: olm.package.required, value: {packageName: wind, versionRange: ">=1.0.0"}}
- {type: olm.csv.metadata, value: {displayName: Kites, keywords: [toys], provider: {name: Example}, installModes: [{type: AllNamespaces, supported: true}, {type: OwnNamespace, supported: false}]}}
---
{schema: olm.bundle, package: kite, name: kite.v2.0.0, image: "example.com/kite:3", properties: [{type: olm.package, value: {packageName: kite, version: 2.0.0}}]}
---
schema: olm.deprecations
package: kite
entries:
- {reference: {schema: olm.channel, name: fast}, message: fast is gone soon}
- {reference: {schema: olm.bundle, name: kite.v1.0.0}, message: it tears}
---
{schema: olm.package, name: wind, defaultChannel: only}
---
{schema: olm.channel, package: wind, name: only, entries: [{name: wind.v1.0.0}]}
---
{schema: olm.bundle, package: wind, name: wind.v1.0.0, image: "example.com/wind:1", properties: [{type: olm.package, value: {packageName: wind, version: 1.0.0}}]}
`

func index(t *testing.T) *catalog.Index {
	t.Helper()
	c := must.Value(catalog.LoadFile(t.Context(), "catalog", strings.NewReader(browseContent), catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	return x
}

func TestTables(t *testing.T) {
	var a Answer
	must.NoError(t, a.add("toys", index(t), ""))
	packages := a.Packages
	var found, info, versions, one strings.Builder
	must.NoError(t, errors.Join(Search(packages, "").Write(&found), About(packages, "kite").Write(&info),
		VersionsOf(packages, "kite", "").Write(&versions), VersionsOf(packages, "kite", "stable").Write(&one)))
	for name, test := range map[string]struct{ got, want string }{
		"search": {found.String(), `
PACKAGE  NEWEST  CHANNEL  CATALOG  DESCRIPTION
kite     1.10.0  stable   toys     Kites
wind     1.0.0   only     toys     -
`},
		"info": {info.String(), `
kite in catalog toys
  name:          Kites
  description:   Kites
  provider:      Example
  newest:        1.10.0 (2.0.0 in channel fast)
  support:       no data
  install modes: AllNamespaces
  provides:      Kite (example.com/v1)
  requires:      package wind >=1.0.0

  CHANNEL  NEWEST  VERSIONS  NOTES
  stable   1.10.0  2         default
  fast     2.0.0   2         deprecated: fast is gone soon
`},
		"versions": {versions.String(), `
VERSION  BUNDLE        CHANNELS      CATALOG  SUPPORT  NOTES
2.0.0    kite.v2.0.0   fast*         toys     no data  -
1.10.0   kite.v1.10.0  stable*,fast  toys     no data  -
1.0.0    kite.v1.0.0   stable        toys     no data  deprecated: it tears
* newest of the channel
`},
		"versions of a channel": {one.String(), `
VERSION  BUNDLE        CHANNELS      CATALOG  SUPPORT  NOTES
1.10.0   kite.v1.10.0  stable*,fast  toys     no data  -
1.0.0    kite.v1.0.0   stable        toys     no data  deprecated: it tears
* newest of the channel
`},
	} {
		must.Equal(t, name, test.got, strings.TrimPrefix(test.want, "\n"))
	}
}

func TestSearchRanks(t *testing.T) {
	packages := []*Package{
		{Name: "a", Description: "needs a Kafka"}, {Name: "b", Keywords: []string{"kafka"}}, {Name: "c", DisplayName: "Apache Kafka"},
		{Name: "my-kafka"}, {Name: "kafka"}, {Name: "d", Provides: []string{"KafkaTopic (example.com/v1)"}}, {Name: "e"},
	}
	var got []string
	for _, p := range Search(packages, "KAFKA").Packages {
		got = append(got, p.Name)
	}
	must.Equal(t, "got", got, []string{"kafka", "my-kafka", "c", "b", "d", "a"})
}

func offeredLibrary(t *testing.T) *Library {
	t.Helper()
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	r := &bundleio.Renderer{}
	l := must.Value(OpenLibrary(t.Context(), r))(t)
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func offerReader(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), packagesv1.AddToScheme(scheme)))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func served(name, base string) *olmv1.ClusterCatalog {
	c := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Status.URLs = &olmv1.ClusterCatalogURLs{Base: base}
	return c
}

// TestV1 reads catalogs over HTTP: one through the API server, one directly, one whose server knows nothing but whole catalogs.
func TestV1(t *testing.T) {
	var set catalogserver.Set
	set.Publish("toys", index(t))
	health := catalogserver.NewHealth()
	health.Set(true)
	catalogs := catalogserver.Handler(&set, health, slog.New(slog.DiscardHandler))
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/olm/services/https:catalogs:443/proxy")
		if old, is := strings.CutPrefix(r.URL.Path, "/old"); is {
			if r.URL.Path = old; strings.HasSuffix(old, "metas") {
				http.NotFound(w, r)
				return
			}
		}
		catalogs.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	servers := must.Value(NewServers(&rest.Config{Host: server.URL}))(t)
	off := served("off", server.URL)
	off.Spec.AvailabilityMode = olmv1.AvailabilityModeUnavailable
	c := BrowseCluster{Servers: servers, Library: offeredLibrary(t), Reader: offerReader(t,
		served("inside", "https://catalogs.olm.svc/catalogs/toys"), served("direct", server.URL+"/catalogs/toys"), served("old", server.URL+"/old/catalogs/toys"),
		served("gone", server.URL+"/catalogs/gone"), off)}
	for pkg, want := range map[string]int{"kite": 3, "": 6, "nobody": 0} {
		asked = nil
		a := must.Value(c.V1(t.Context(), pkg))(t)
		notes := strings.Join(a.Notes, "\n")
		if len(a.Packages) != want || a.Catalogs != 5 || a.Read != 3 || len(a.Notes) != 2 || !strings.Contains(notes, "ClusterCatalog gone is left out: ") || !strings.Contains(notes, "404 Not Found: no such catalog is served here") ||
			!strings.Contains(notes, "ClusterCatalog off is left out: its spec.availabilityMode is Unavailable") {
			t.Errorf("package %q: %d packages, notes:\n%s", pkg, len(a.Packages), notes)
		}
		if through := "/api/v1/namespaces/olm/services/https:catalogs:443/proxy/catalogs/toys/api/v1/"; !strings.Contains(strings.Join(asked, " "), through) {
			t.Errorf("nothing went through the API server: %q", asked)
		}
		for _, p := range a.Packages {
			if p.Name == "kite" && (p.Newest != "1.10.0" || len(p.Versions) != 3 || p.Channels[1].Deprecation != "fast is gone soon") {
				t.Errorf("%+v", p)
			}
		}
	}
}

// failing cannot list the kinds of one group, or of any.
func failing(t *testing.T, group string, err error) client.Reader {
	return interceptor.NewClient(offerReader(t, manifest()).(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if kinds, _, _ := c.Scheme().ObjectKinds(list); group == "" || len(kinds) > 0 && kinds[0].Group == group {
				return err
			}
			return c.List(ctx, list, options...)
		},
	})
}

// TestNotServed: a cluster that has only one of the APIs is no error; one that refuses, or whose server of packages is away, is.
func TestNotServed(t *testing.T) {
	apis := map[string]func(BrowseCluster, context.Context, string) (Answer, error){"v1": BrowseCluster.V1, "v0": BrowseCluster.V0, "both": BrowseCluster.Both}
	none := BrowseCluster{Library: offeredLibrary(t), Reader: failing(t, "", &meta.NoKindMatchError{})}
	for name, ask := range apis {
		if a, err := ask(none, t.Context(), ""); err != nil || a.Catalogs != 0 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	version := packagesv1.GroupVersion
	for want, cause := range map[string]error{
		"refused":                              errors.New("refused"),
		"currently unable to handle":           apierrors.NewServiceUnavailable("the server is currently unable to handle the request"),
		version.String() + ": no endpoints":    &apiutil.ErrResourceDiscoveryFailed{version: apierrors.NewServiceUnavailable("no endpoints")},
		version.String() + ": not found, away": &apiutil.ErrResourceDiscoveryFailed{version: errors.New("not found, away"), {Group: "x", Version: "v1"}: &meta.NoResourceMatchError{}},
	} {
		for name, ask := range apis {
			if a, err := ask(BrowseCluster{Reader: failing(t, "", cause)}, t.Context(), ""); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v, %v; want %q", name, a, err, want)
			}
		}
		half := BrowseCluster{Reader: failing(t, olmv1.GroupVersion.Group, cause), Namespace: "ops"}
		if a, err := half.Both(t.Context(), ""); err != nil || a.Read != 1 || len(a.Packages) != 1 || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], want) {
			t.Errorf("of one API: %+v, %v; want a note that says %q", a, err, want)
		}
	}
}

// TestImageInstead: a catalog that is not served is read from its image, and that is told.
func TestImageInstead(t *testing.T) {
	l := offeredLibrary(t)
	c := served("toys", "")
	c.Status.URLs = nil
	c.Spec.Source.Image = &olmv1.ImageSource{Ref: "127.0.0.1:1/none:v1"}
	a, err := BrowseCluster{Library: l, Reader: offerReader(t, c)}.V1(t.Context(), "")
	if err != nil || a.Read != 0 || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "status.urls.base is empty, it is not served; nor could it be read from its image: ") {
		t.Errorf("%+v, %v", a, err)
	}
}

// manifest is a package of the v0 API.
func manifest() *packagesv1.PackageManifest {
	m := &packagesv1.PackageManifest{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}}
	m.Status = packagesv1.PackageManifestStatus{CatalogSource: "toys", CatalogSourceNamespace: "olm", PackageName: "kite", DefaultChannel: "stable",
		Provider:  v1alpha1.AppLink{Name: "Example"},
		Lifecycle: []packagesv1.VersionLifecycle{{Version: "1", Phases: []packagesv1.LifecyclePhase{{Name: "Full"}}}},
		Channels: []packagesv1.PackageChannel{
			{Name: "fast", CurrentCSV: "kite.v2.0.0", Deprecation: &packagesv1.Deprecation{Message: "soon"}, Entries: []packagesv1.ChannelEntry{{Name: "kite.v2.0.0", Version: "2.0.0"}, {Name: "kite.v1.10.0", Version: "1.10.0"}}},
			{Name: "stable", CurrentCSV: "kite.v1.10.0", Entries: []packagesv1.ChannelEntry{{Name: "kite.v1.9.0", Version: "1.9.0"}, {Name: "kite.v1.10.0", Version: "1.10.0"}},
				CurrentCSVDesc: packagesv1.CSVDescription{DisplayName: "Kites", LongDescription: "# Kites\nfly", Version: v1alpha1.OperatorVersion{Version: semver.MustParse("1.10.0")},
					InstallModes: []v1alpha1.InstallMode{{Type: "AllNamespaces", Supported: true}, {Type: "OwnNamespace"}}}},
		}}
	return m
}

func TestV0(t *testing.T) {
	c := BrowseCluster{Reader: offerReader(t, manifest()), Namespace: "ops"}
	a, err := c.V0(t.Context(), "kite")
	if err != nil || len(a.Packages) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	p := a.Packages[0]
	var names []string
	for _, v := range p.Versions {
		names = append(names, v.Version)
	}
	if p.Catalog != "olm/toys" || p.Newest != "1.10.0" || p.Provider != "Example" || p.Description != "Kites" || p.Channels[0].Name != "stable" || p.Channels[1].Deprecation != "soon" ||
		cmp.Diff([]string{"2.0.0", "1.10.0", "1.9.0"}, names) != "" || cmp.Diff([]string{"AllNamespaces"}, p.InstallModes) != "" ||
		p.Versions[0].Support.State != catalog.SupportNoData || p.Versions[1].Support.String() != "Full" {
		t.Errorf("%+v %v", p, names)
	}
	c.Catalogs = []string{"other"}
	if a, err := c.V0(t.Context(), ""); err != nil || len(a.Packages) != 0 {
		t.Errorf("of another catalog: %+v, %v", a, err)
	}
}

func TestOffline(t *testing.T) {
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(dir+"/catalog.yaml", []byte(browseContent), 0o600))
	var a Answer
	if err := a.Offline(t.Context(), offeredLibrary(t), "toys", dir, "kite"); err != nil || len(a.Packages) != 1 || a.Catalogs != 1 || a.Read != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestChannelsInOrder: the default channel first, then as people count.
func TestChannelsInOrder(t *testing.T) {
	p := &Package{DefaultChannel: "stable-4.9", Channels: []Channel{{Name: "stable-4.10"}, {Name: "alpha"}, {Name: "stable-4.8"}, {Name: "stable-4.9"}}}
	p.arrange(map[string]*Version{"a": {Name: "a.v10", Channels: []string{"stable-4.10", "alpha", "stable-4.9"}, HeadOf: []string{"b10", "b9"}}, "b": {Name: "a.v9"}})
	must.Equal(t, "channels", p.Channels, []Channel{{Name: "stable-4.9"}, {Name: "alpha"}, {Name: "stable-4.8"}, {Name: "stable-4.10"}})
	must.Equal(t, "versions", []string{p.Versions[0].Name, p.Versions[1].Name}, []string{"a.v9", "a.v10"})
	must.Equal(t, "channels of a version", p.Versions[1].Channels, []string{"stable-4.9", "alpha", "stable-4.10"})
	must.Equal(t, "heads", p.Versions[1].HeadOf, []string{"b9", "b10"})
}
