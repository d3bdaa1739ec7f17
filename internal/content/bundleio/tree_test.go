package bundleio

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

func TestCatalogTree(t *testing.T) {
	p := publisher(t)
	tree := fstest.MapFS{"a/catalog.yaml": {Data: []byte("schema: x\n")}, ".indexignore": {Data: []byte("*.md\n")}}
	pushed := must.Value(CatalogTree(t.Context(), tree, p.Registry+"/catalog:v1", map[string]string{"team": "t", image.LabelConfigs: "/elsewhere"}))(t)
	if want := p.Registry + "/catalog@" + pushed.Digest; pushed.Image != want || pushed.Ref != p.Registry+"/catalog:v1" {
		t.Errorf("%+v", pushed)
	}
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	img := must.Value(store.Pull(t.Context(), pushed.Image, image.PullOptions{Select: image.SelectCatalog}))(t)
	defer img.Close()
	if content, err := fs.ReadFile(img.FS(), "configs/a/catalog.yaml"); string(content) != "schema: x\n" || img.Labels["team"] != "t" {
		t.Errorf("%q, %v, labels %v", content, err, img.Labels)
	}
	_, err := CatalogTree(t.Context(), fstest.MapFS{}, "", nil)
	must.Fail(t, "no reference", err, "push image")
}
