package preview

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const detailContent = `
{schema: olm.package, name: kite, defaultChannel: stable, description: "Flies.", icon: {base64data: "PHN2Zy8+", mediatype: image/svg+xml}}
---
{schema: olm.channel, package: kite, name: stable, entries: [{name: kite.v1.0.0}, {name: kite.v1.1.0, replaces: kite.v1.0.0}]}
---
{schema: olm.bundle, package: kite, name: kite.v1.0.0, image: "example.com/kite:1", properties: [{type: olm.package, value: {packageName: kite, version: 1.0.0}}]}
---
schema: olm.bundle
package: kite
name: kite.v1.1.0
image: example.com/kite:2
properties:
- {type: olm.package, value: {packageName: kite, version: 1.1.0}}
- type: olm.csv.metadata
  value:
    displayName: Kites
    description: "# Kites\n\nThey fly."
    provider: {name: Example, url: https://example.com}
    maturity: stable
    minKubeVersion: 1.25.0
    links: [{name: Site, url: https://example.com/kite}]
    maintainers: [{name: Ada, email: ada@example.com}]
    annotations: {repository: https://example.com/repo, support: Example, containerImage: example.com/op:1, createdAt: "2026-01-01"}
    crdDescriptions:
      owned: [{name: kites.example.com, version: v1, kind: Kite, description: A kite.}]
      required: [{name: winds.weather.example.com, version: v1beta1, kind: Wind}]
---
{schema: olm.package, name: wind, defaultChannel: only}
---
{schema: olm.channel, package: wind, name: only, entries: [{name: wind.v1.0.0}]}
---
{schema: olm.bundle, package: wind, name: wind.v1.0.0, image: "example.com/wind:1", properties: [{type: olm.package, value: {packageName: wind, version: 1.0.0}}]}
`

func detailIndex(t *testing.T) *catalog.Index {
	t.Helper()
	c := must.Value(catalog.LoadFile(t.Context(), "catalog", strings.NewReader(detailContent), catalog.LoadOptions{}))(t)
	return must.Value(catalog.NewIndex(c, "sha256:0"))(t)
}

// TestDetailOfAnIndex is what a ClusterCatalog says at length.
func TestDetailOfAnIndex(t *testing.T) {
	d := must.Value(detailOf(t.Context(), "toys", detailIndex(t), "kite", GraphChoice{Newest: 40}))(t)
	must.Equal(t, "texts", []string{d.DisplayName, d.Text, d.ProviderURL, d.Maturity, d.MinKubeVersion, d.Repository, d.Supporter, d.Image, d.Created},
		[]string{"Kites", "# Kites\n\nThey fly.", "https://example.com", "stable", "1.25.0", "https://example.com/repo", "Example", "example.com/op:1", "2026-01-01"})
	must.Equal(t, "links", d.Links, []Link{{"Site", "https://example.com/kite"}})
	must.Equal(t, "maintainers", d.Maintainers, []Maintainer{{"Ada", "ada@example.com"}})
	must.Equal(t, "owned", d.Owned, []API{{Kind: "Kite", Group: "example.com", Version: "v1", Description: "A kite."}})
	must.Equal(t, "needed", d.Needed, []API{{Kind: "Wind", Group: "weather.example.com", Version: "v1beta1"}})
	must.Equal(t, "channel of the graph", d.Graph.Channel, "stable")
	must.Contain(t, "graph as text", d.Graph.Text, "default channel stable", "kite.v1.1.0", "kite.v1.0.0")
	must.Contain(t, "graph drawn", must.Value(d.Graph.SVG())(t), "kite.v1.1.0</text>")
	must.Lack(t, "graph of one package", d.Graph.Text, "wind")
	wind := must.Value(detailOf(t.Context(), "toys", detailIndex(t), "wind", GraphChoice{Newest: 40}))(t)
	must.Equal(t, "one that is not described", wind.Text, "")
	none := must.Value(detailOf(t.Context(), "toys", detailIndex(t), "rain", GraphChoice{}))(t)
	if none != nil {
		t.Errorf("there is a package that there is not: %+v", none)
	}
	beta := must.Value(detailOf(t.Context(), "toys", detailIndex(t), "kite", GraphChoice{Channel: "beta", Newest: 40}))(t)
	must.Contain(t, "a channel that there is not", strings.Join(beta.Notes, "; "), "package kite has no channel beta")
}

// TestIconOfAnIndex is that of the package, unless the version has one of its own.
func TestIconOfAnIndex(t *testing.T) {
	x := detailIndex(t)
	said, err := newest(x, "kite")
	must.NoError(t, err)
	must.Equal(t, "that of the package", string(said.icon(x, "kite").Data), "<svg/>")
	said.Icon = []v1alpha1.Icon{{MediaType: "image/png", Data: base64.StdEncoding.EncodeToString([]byte("own"))}}
	must.Equal(t, "its own", said.icon(x, "kite").Data, []byte("own"))
	said.Icon = []v1alpha1.Icon{{MediaType: "image/png", Data: "no base64!"}}
	must.Equal(t, "one that cannot be read", string(said.icon(x, "kite").Data), "<svg/>")
	said.Icon = []v1alpha1.Icon{{MediaType: "image/png", Data: strings.Repeat("AAAA", maxIcon)}}
	must.Equal(t, "one that is too large", string(said.icon(x, "kite").Data), "<svg/>")
	if icon := said.icon(x, "wind"); icon != nil {
		t.Errorf("a package without a picture has %q", icon.Data)
	}
}

// TestIconOfAManifest is the subresource of the PackageManifest: without a tag it is the one that all have.
func TestIconOfAManifest(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		switch r.URL.Path {
		case "/apis/packages.operators.coreos.com/v1/namespaces/ops/packagemanifests/kite/icon":
			w.Header().Set("Etag", `"kite.stable.kite.v1"`)
			_, _ = w.Write([]byte("picture"))
		case "/apis/packages.operators.coreos.com/v1/namespaces/ops/packagemanifests/large/icon":
			w.Header().Set("Etag", `"x"`)
			_, _ = w.Write(make([]byte, maxIcon+1))
		case "/apis/packages.operators.coreos.com/v1/namespaces/ops/packagemanifests/plain/icon":
			_, _ = w.Write([]byte("the one that all have"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(api.Close)
	browse := BrowseCluster{Servers: must.Value(NewServers(&rest.Config{Host: api.URL}))(t), Library: &Library{}, Namespace: "ops"}
	icon := must.Value(browse.Icon(t.Context(), "olm/c", "kite"))(t)
	must.Equal(t, "picture", *icon, Icon{"image/png", []byte("picture")})
	for _, name := range []string{"large", "plain"} {
		if icon := must.Value(browse.Icon(t.Context(), "olm/c", name))(t); icon != nil {
			t.Errorf("%s: %q", name, icon.MediaType)
		}
	}
	_, err := browse.Icon(t.Context(), "olm/c", "gone")
	must.Fail(t, "a package that is not there", err, "read the icon of package gone", "404")
	for _, name := range []string{"../kite", "..", "a/b", "kite/icon?x=", ""} {
		_, err := browse.Icon(t.Context(), "olm/c", name)
		must.Fail(t, "a name that is a path", err, "read the icon of a package")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = browse.Icon(ended, "olm/c", "kite")
	must.Fail(t, "a request that has ended", err, "read the icon of package kite")
}

// TestDetailOfAManifest takes the package of the catalog that is meant, where several have one of the name.
func TestDetailOfAManifest(t *testing.T) {
	of := func(object, catalog, description string) *packagesv1.PackageManifest {
		m := &packagesv1.PackageManifest{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: object}}
		m.Status = packagesv1.PackageManifestStatus{PackageName: "kite", CatalogSourceNamespace: "olm", CatalogSource: catalog, DefaultChannel: "stable", Channels: []packagesv1.PackageChannel{{Name: "stable", CurrentCSV: "kite.v1.0.0",
			Entries: []packagesv1.ChannelEntry{{Name: "kite.v1.0.0", Version: "1.0.0"}}, CurrentCSVDesc: packagesv1.CSVDescription{LongDescription: description, Maturity: "alpha"}}}}
		return m
	}
	p := planner(t)
	must.NoError(t, packagesv1.AddToScheme(p.Client.Scheme()))
	for _, m := range []*packagesv1.PackageManifest{of("kite", "a", "the one of a"), of("kite-b", "b", "the one of b")} {
		must.NoError(t, p.Client.Create(t.Context(), m))
	}
	browse := BrowseCluster{Reader: p.Client, Library: p.Library, Namespace: "ops"}
	for catalog, want := range map[string]string{"olm/a": "the one of a", "olm/b": "the one of b"} {
		d := must.Value(browse.Detail(t.Context(), catalog, "kite", GraphChoice{Newest: 40}))(t)
		must.Equal(t, catalog, []string{d.Text, d.Maturity, d.Catalog}, []string{want, "alpha", catalog})
		must.Contain(t, "notes", strings.Join(d.Notes, "; "), "the upgrade graph is not known from here: read CatalogSource "+catalog)
	}
	if d := must.Value(browse.Detail(t.Context(), "olm/c", "kite", GraphChoice{}))(t); d != nil {
		t.Errorf("a catalog without it: %+v", d)
	}
	_, err := browse.Detail(t.Context(), "gone", "kite", GraphChoice{})
	must.Fail(t, "a ClusterCatalog that is not there", err, "read ClusterCatalog gone")
}
