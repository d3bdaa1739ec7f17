package catalogstore

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

const imageContent = `
{"schema":"olm.package","name":"app","defaultChannel":"stable"}
{"schema":"olm.channel","package":"app","name":"stable","entries":[{"name":"app.v1.0.0"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1.0.0","image":"registry.example.com/app:v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}
`

// TestRead reads images from a registry on loopback.
func TestRead(t *testing.T) {
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	images := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	indexes := must.Value(OpenCache(t.TempDir()))(t)
	reader := ImageReader{Images: images, Indexes: indexes}
	for name, test := range map[string]struct {
		file, content string
		labels        map[string]string
		want          string // of the error; empty when there is a catalog
	}{
		"a catalog": {"configs/catalog.json", imageContent, image.CatalogLabels(), ""},
		"no label":  {"configs/catalog.json", imageContent, map[string]string{"a": "b"}, "operators.operatorframework.io.index.configs.v1"},
		"a bundle": {"manifests/csv.yaml", "{}", image.BundleLabels("app", []string{"stable"}, ""), "it is a bundle image, of package app (label operators.operatorframework.io.bundle.package.v1), and no catalog " +
			"(put it into a catalog with fairlead catalog add-bundle, push that, and name its image here; or install the bundle alone with fairlead install --image)"},
		"nothing at all":     {"configs/.keep", "", image.CatalogLabels(), "directory configs of image "},
		"nothing to be used": {"configs/catalog.json", `{"schema":"olm.package","name":"app"}`, image.CatalogLabels(), "holds no usable package: "},
		"no catalog":         {"configs/catalog.json", `{`, image.CatalogLabels(), "configs of image "},
	} {
		t.Run(name, func(t *testing.T) {
			ref := strings.TrimPrefix(registry.URL, "http://") + "/" + strings.ReplaceAll(name, " ", "-") + ":v1"
			files := fstest.MapFS{test.file: {Data: []byte(test.content)}}
			pushed := must.Value(image.Push(t.Context(), ref, files, test.labels, image.PushOptions{}))(t)
			x, digest, err := reader.Read(t.Context(), ref, image.Auth{})
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || x != nil || digest != "" {
					t.Errorf("got %v, %q, %v, want %s", x, digest, err, test.want)
				}
				return
			}
			must.NoError(t, err)
			if now, err := reader.Digest(t.Context(), ref, image.Auth{}); err != nil || now != digest || !strings.HasSuffix(pushed, digest) {
				t.Errorf("digest %q now %q, pushed %q: %v", digest, now, pushed, err)
			}
			if _, ok := x.Package("app"); !ok || x.Digest() != digest {
				t.Errorf("packages %v, digest %s", x.PackageNames(), x.Digest())
			}
			must.NoError(t, x.Close())
		})
	}
	if _, _, err := reader.Read(t.Context(), strings.TrimPrefix(registry.URL, "http://")+"/gone:v1", image.Auth{}); image.KindOf(err) != image.NotFound {
		t.Errorf("an image that is not there: %v", err)
	}
}

// TestCheckV1 accepts a catalog of which v1 alone serves something.
func TestCheckV1(t *testing.T) {
	c := &catalog.Catalog{
		Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: "a", DefaultChannel: "stable"}},
		Channels: []catalog.Channel{{Schema: catalog.SchemaChannel, Package: "a", Name: "stable", Entries: []catalog.Entry{{Name: "a.v1"}, {Name: "a.v2"}}}},
	}
	for _, n := range []string{"1", "2"} {
		c.Bundles = append(c.Bundles, catalog.Bundle{Schema: catalog.SchemaBundle, Package: "a", Name: "a.v" + n, Image: "registry.example.com/a:" + n,
			Properties: []catalog.Property{{Type: catalog.PropertyPackage, Value: []byte(`{"packageName":"a","version":"` + n + `.0.0"}`)}}})
	}
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	must.NoErrorf(t, CheckImageV1(x, "here"), "under v1")
	if err := CheckImage(x, "here"); !errors.Is(err, ErrNoPackage) {
		t.Errorf("under v0: error %v, want %v", err, ErrNoPackage)
	}
	none := must.Value(catalog.NewIndex(&catalog.Catalog{}, "sha256:1"))(t)
	if err := CheckImageV1(none, "here"); !errors.Is(err, ErrNoPackage) {
		t.Errorf("without a package under v1: error %v, want %v", err, ErrNoPackage)
	}
}
