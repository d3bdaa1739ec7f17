package bundleio

import (
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

func publisher(t *testing.T) Publisher {
	t.Helper()
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	return Publisher{Registry: strings.TrimPrefix(server.URL, "http://")}
}

func bundles(t *testing.T) fs.FS {
	t.Helper()
	tree := must.Value(fs.Sub(examples.Bundles, "bundles"))(t)
	return tree
}

func TestPublishedCatalogCanBeServed(t *testing.T) {
	p := publisher(t)
	published := must.Value(p.Bundles(t.Context(), bundles(t)))(t)
	c := must.Value(Linear(published))(t)
	must.Empty(t, "the catalog has problems", catalog.Validate(c))
	digest := must.Value(p.Catalog(t.Context(), c, "catalog:latest"))(t)
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	img := must.Value(store.Pull(t.Context(), p.Registry+"/catalog@"+digest, image.PullOptions{Select: image.SelectCatalog}))(t)
	defer img.Close()
	tree := must.Value(fs.Sub(img.FS(), "configs"))(t)
	loaded := must.Value(catalog.Load(t.Context(), tree, catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(loaded, digest))(t)
	pkg, ok := x.Package("greeter-operator")
	if !ok {
		t.Fatal("the package is not in the catalog")
	}
	var chain []string
	for _, e := range pkg.Channels[0].Entries {
		chain = append(chain, e.Name)
		if !strings.HasPrefix(e.Bundle.Image, p.Registry+"/greeter-operator-bundle@sha256:") {
			t.Errorf("the image of %s is %s", e.Name, e.Bundle.Image)
		}
	}
	want := []string{"greeter-operator.v1.2.0", "greeter-operator.v1.1.0", "greeter-operator.v1.0.1", "greeter-operator.v1.0.0"}
	must.Equal(t, "the chain, head first", chain, want)
}

func TestRelocate(t *testing.T) {
	published := must.Value(publisher(t).Bundles(t.Context(), bundles(t)))(t)
	tree := must.Value(fs.Sub(examples.Catalogs, "catalog"))(t)
	c := must.Value(catalog.Load(t.Context(), tree, catalog.LoadOptions{}))(t)
	must.Fail(t, "a bundle that was not published", Relocate(c, published[1:]), "is not among the published bundles")
	must.NoError(t, Relocate(c, published))
	for _, b := range c.Bundles {
		for _, related := range append(b.RelatedImages, catalog.RelatedImage{Image: b.Image}) {
			if strings.Contains(related.Image, "-bundle") && !strings.Contains(related.Image, "@sha256:") {
				t.Errorf("bundle %s still names %s", b.Name, related.Image)
			}
		}
	}
}

func TestBrokenBundlesAreAllNamed(t *testing.T) {
	_, err := publisher(t).Bundles(t.Context(), fstest.MapFS{
		"a/1/manifests/csv.yaml": {Data: []byte("{")},
		"b/2/manifests/csv.yaml": {Data: []byte("kind: Nothing")},
	})
	if err == nil || !strings.Contains(err.Error(), "bundle a/1:") || !strings.Contains(err.Error(), "bundle b/2:") {
		t.Errorf("error %v", err)
	}
	_, err = publisher(t).Bundles(t.Context(), fstest.MapFS{})
	must.Fail(t, "Bundles", err, "lay them out as <package>/<version>/manifests")
}
