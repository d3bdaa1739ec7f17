package browser

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// real are the packages whose bundles are there, so that they can be installed. All others of the catalog can be read about.
var real = []string{"grafana-operator", "strimzi-kafka-operator", "rabbitmq-cluster-operator", "keycloak-operator", "external-secrets-operator", "service-binding-operator"}

// unready are versions that are made of others, and never become ready: their pod asks for a node that there is not.
var unready = map[string]string{"grafana-operator/5.24.0": "grafana-operator/5.24.1", "keycloak-operator/26.7.1": "keycloak-operator/26.7.2"}

var community struct {
	sync.Mutex
	ref string
	// next is an image without the versions that never become ready.
	next string
}

// communityCatalog is the image of the full public catalog, in which the real packages have the bundles that are there, and two a last version
// that never becomes ready. It is pushed once.
func communityCatalog(t testing.TB) string {
	t.Helper()
	community.Lock()
	defer community.Unlock()
	if community.ref != "" {
		return community.ref
	}
	p := bundleio.Publisher{Registry: devcluster.Registry()}
	published := must.Value(p.Bundles(t.Context(), realBundles(t)))(t)
	ready := slices.DeleteFunc(slices.Clone(published), func(b bundleio.PublishedBundle) bool {
		return b.Bundle.Name == "grafana-operator.v5.24.1" || b.Bundle.Name == "keycloak-operator.v26.7.2"
	})
	must.Equal(t, "versions that never become ready", len(published)-len(ready), len(unready))
	community.ref, community.next = pushCatalog(t, p, "community", published), pushCatalog(t, p, "next", ready)
	return community.ref
}

// pushCatalog pushes the public catalog with some bundles in the place of those of their packages, and returns its reference.
func pushCatalog(t testing.TB, p bundleio.Publisher, name string, published []bundleio.PublishedBundle) string {
	t.Helper()
	c := must.Value(bundleio.Linear(published))(t)
	describe(t, c)
	var own strings.Builder
	must.NoError(t, catalog.WriteJSON(&own, c))
	files := map[string][]byte{"configs/own/catalog.json": []byte(own.String())}
	publicdata.Each(t, publicdata.FullCatalog, func(name string, content func() []byte) {
		if _, offered := offered(c, path.Base(path.Dir(name))); !offered {
			files[path.Join("configs", name)] = content()
		}
	})
	tree := must.Value(image.Files(files))(t)
	ref := path.Join(devcluster.Registry(), name)
	digest := must.Value(image.Push(context.Background(), ref+":latest", tree, image.CatalogLabels(), p.Options))(t)
	return ref + "@" + digest
}

func offered(c *catalog.Catalog, name string) (*catalog.Package, bool) {
	for i := range c.Packages {
		if c.Packages[i].Name == name {
			return &c.Packages[i], true
		}
	}
	return nil, false
}

// describe gives packages the icons and the descriptions that their owners gave them.
func describe(t testing.TB, c *catalog.Catalog) {
	t.Helper()
	publicdata.Each(t, publicdata.FullCatalog, func(name string, content func() []byte) {
		p, ok := offered(c, path.Base(path.Dir(name)))
		if !ok {
			return
		}
		whole := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": &fstest.MapFile{Data: content()}}, catalog.LoadOptions{}))(t)
		if theirs, ok := offered(whole, p.Name); ok {
			p.Icon, p.Description = theirs.Icon, theirs.Description
		}
		present(t, c, p.Name, whole)
	})
}

// present gives the bundles of a package what their owners say of them, as the public catalog has it: of a version that is not there, what is said of the newest.
func present(t testing.TB, c *catalog.Catalog, name string, whole *catalog.Catalog) {
	t.Helper()
	said := map[string]catalog.Property{}
	var newest *catalog.Property
	for _, b := range whole.Bundles {
		for _, property := range must.Value(b.AllProperties())(t) {
			if property.Type == catalog.PropertyCSVMetadata {
				said[b.Name], newest = property, &property
			}
		}
	}
	for i := range c.Bundles {
		b := &c.Bundles[i]
		if b.Package != name || newest == nil {
			continue
		}
		property, known := said[b.Name]
		if !known {
			property = *newest
		}
		b.Properties = append(b.Properties, property)
	}
}

// realBundles are the trees of the bundles that are pushed.
func realBundles(t testing.TB) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	last := map[string]fstest.MapFS{}
	for at, tree := range publicdata.BundleTrees(t) {
		for _, name := range real {
			if path.Dir(at) != name {
				continue
			}
			for file, content := range tree {
				all[path.Join(at, file)] = content
			}
			if _, fails := unready[at]; fails {
				last[at] = maps.Clone(tree)
			}
		}
	}
	for at, tree := range last {
		to := unready[at]
		for file, content := range tree {
			text := strings.ReplaceAll(string(content.Data), path.Base(at), path.Base(to))
			const account = "\n                serviceAccountName:"
			text = strings.Replace(text, account, "\n                nodeSelector:\n                  example.com/gpu: \"true\""+account, 1)
			all[path.Join(to, file)] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return all
}
