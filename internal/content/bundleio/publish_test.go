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

	"github.com/google/go-cmp/cmp"
)

func publisher(t *testing.T) Publisher {
	t.Helper()
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	return Publisher{Registry: strings.TrimPrefix(server.URL, "http://")}
}

func bundles(t *testing.T) fs.FS {
	t.Helper()
	tree, err := fs.Sub(examples.Bundles, "bundles")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestPublishedCatalogCanBeServed(t *testing.T) {
	p := publisher(t)
	published, err := p.Bundles(t.Context(), bundles(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Linear(published)
	if err != nil {
		t.Fatal(err)
	}
	if problems := catalog.Validate(c); len(problems) > 0 {
		t.Errorf("the catalog has problems: %v", problems)
	}
	digest, err := p.Catalog(t.Context(), c, "catalog:latest")
	if err != nil {
		t.Fatal(err)
	}
	store, err := image.Open(t.TempDir(), image.Config{})
	if err != nil {
		t.Fatal(err)
	}
	img, err := store.Pull(t.Context(), p.Registry+"/catalog@"+digest, image.PullOptions{Select: image.SelectCatalog})
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	tree, err := fs.Sub(img.FS(), "configs")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := catalog.Load(t.Context(), tree, catalog.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := catalog.NewIndex(loaded, digest)
	if err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(want, chain); diff != "" {
		t.Errorf("the chain, head first (-want +got):\n%s", diff)
	}
}

func TestRelocate(t *testing.T) {
	published, err := publisher(t).Bundles(t.Context(), bundles(t))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := fs.Sub(examples.Catalogs, "catalog")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load(t.Context(), tree, catalog.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Relocate(c, published[1:]); err == nil || !strings.Contains(err.Error(), "is not among the published bundles") {
		t.Errorf("a bundle that was not published: %v", err)
	}
	if err := Relocate(c, published); err != nil {
		t.Fatal(err)
	}
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
	if _, err := publisher(t).Bundles(t.Context(), fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "lay them out as <package>/<version>/manifests") {
		t.Errorf("an empty directory: %v", err)
	}
}
