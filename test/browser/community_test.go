package browser

import (
	"context"
	"io/fs"
	"maps"
	"path"
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

var community struct {
	sync.Mutex
	ref string
}

// communityCatalog is the image of the full public catalog, in which the real packages have the bundles that are there, and grafana-operator a last version
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
	ref := path.Join(devcluster.Registry(), "community")
	digest := must.Value(image.Push(context.Background(), ref+":latest", tree, image.CatalogLabels(), p.Options))(t)
	community.ref = ref + "@" + digest
	return community.ref
}

func offered(c *catalog.Catalog, name string) (*catalog.Package, bool) {
	for i := range c.Packages {
		if c.Packages[i].Name == name {
			return &c.Packages[i], true
		}
	}
	return nil, false
}

// describe gives packages the icons that their owners gave them.
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
	})
}

// realBundles are the trees of the bundles that are pushed.
func realBundles(t testing.TB) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	last := fstest.MapFS{}
	for at, tree := range publicdata.BundleTrees(t) {
		for _, name := range real {
			if path.Dir(at) != name {
				continue
			}
			for file, content := range tree {
				all[path.Join(at, file)] = content
			}
			if at == "grafana-operator/5.24.0" {
				last = maps.Clone(tree)
			}
		}
	}
	for file, content := range last {
		text := strings.ReplaceAll(string(content.Data), "5.24.0", "5.24.1")
		const account = "\n                serviceAccountName:"
		text = strings.Replace(text, account, "\n                nodeSelector:\n                  example.com/gpu: \"true\""+account, 1)
		all[path.Join("grafana-operator/5.24.1", file)] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}
