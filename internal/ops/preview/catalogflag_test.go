package preview

import (
	"os"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestCatalogFlag: one grammar for all commands, and each says what it cannot use.
func TestCatalogFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	must.NoError(t, os.MkdirAll("cat/inner", 0o755))
	const image = "registry.example.com/org/cat@sha256:0f1e"
	named := func(namespace, name, source string) Catalog {
		return Catalog{Ref: catalog.Ref{Namespace: namespace, Name: name}, Source: source}
	}
	for text, want := range map[string]Catalog{
		"toys":                  named("", "toys", ""),
		"olm/toys":              named("olm", "toys", ""),
		"cat":                   named("", "cat", "cat"),
		"./cat/inner/":          named("", "inner", "./cat/inner/"),
		"cat/inner":             named("", "inner", "cat/inner"),
		"./gone":                named("", "gone", "./gone"),
		image:                   named("", "cat", image),
		"localhost/cat:v1":      named("", "cat", "localhost/cat:v1"),
		"toys=cat":              named("", "toys", "cat"),
		"olm/toys=" + image:     named("olm", "toys", image),
		"toys,priority=2=./cat": {Ref: catalog.Ref{Name: "toys"}, Priority: 2, Source: "./cat"},
	} {
		got, err := ParseCatalogFlag(text)
		must.NoErrorf(t, err, "%s", text)
		must.Equal(t, text, got, want)
		_, err = ParseOfflineCatalog(text)
		must.Equal(t, text+" without a cluster", err == nil, want.Offline())
		_, err = ParseClusterCatalogs(text + ",toys")
		isName := !want.Offline() || text == "cat" || text == "cat/inner" // a directory of the name is in no one's way
		must.Equal(t, text+" of a cluster", err == nil, isName)
		_, err = ParseCatalogImage(text)
		must.Equal(t, text+" as an image", err == nil, want.Source == image || text == "localhost/cat:v1")
	}
	for text, want := range map[string]string{
		"": `--catalog "": the catalog is missing; write [NAMESPACE/]NAME of one of the cluster, or an image or a directory`, "No Such": "; write [NAMESPACE/]NAME", "=cat": "the catalog is missing",
	} {
		_, err := ParseCatalogFlag(text)
		must.Fail(t, text, err, want)
	}
	_, err := ParseClusterCatalogs("./cat")
	must.Fail(t, "a directory", err, "this command needs a catalog that the cluster has; to make one of an image: fairlead catalog add NAME IMAGE")
}
