package snapshot

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"
)

// TestPackageOfUnsaid infers the package of an operator that does not say it.
func TestPackageOfUnsaid(t *testing.T) {
	const blobs = `
{"schema":"olm.package","name":"web","defaultChannel":"stable"}
{"schema":"olm.channel","package":"web","name":"stable","entries":[{"name":"web.v1.0.0"}]}
{"schema":"olm.bundle","package":"web","name":"web.v1.0.0","image":"registry.example.com/web:1","properties":[{"type":"olm.package","value":{"packageName":"web","version":"1.0.0"}}]}
{"schema":"olm.package","name":"other","defaultChannel":"stable"}
{"schema":"olm.channel","package":"other","name":"stable","entries":[{"name":"web.v1.0.0"}]}
{"schema":"olm.bundle","package":"other","name":"web.v1.0.0","image":"registry.example.com/web:2","properties":[{"type":"olm.package","value":{"packageName":"other","version":"1.0.0"}}]}
`
	index := must.Value(catalog.Build(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(blobs)}}, "", filepath.Join(t.TempDir(), "index"), catalog.LoadOptions{}))(t)
	asks := func(pkg, source, installed string) v1alpha1.Subscription {
		sub := v1alpha1.Subscription{Spec: &v1alpha1.SubscriptionSpec{Package: pkg, CatalogSource: source, CatalogSourceNamespace: "olm"}}
		sub.Name, sub.Status.InstalledCSV = pkg+"-"+source, installed
		return sub
	}
	for name, c := range map[string]struct {
		subscriptions []v1alpha1.Subscription
		want          string
	}{
		"nobody asks":                            {nil, ""},
		"one stands for it":                      {[]v1alpha1.Subscription{asks("any", "gone", "web.v1.0.0"), asks("web", "cat", "")}, "any"},
		"its name is in the package":             {[]v1alpha1.Subscription{asks("web", "cat", "")}, "web"},
		"two ask for the package":                {[]v1alpha1.Subscription{asks("web", "cat", ""), asks("web", "gone", "")}, "web"},
		"the catalog is not in view":             {[]v1alpha1.Subscription{asks("web", "gone", "")}, ""},
		"the catalog has no content":             {[]v1alpha1.Subscription{asks("web", "dead", "")}, ""},
		"the package has no bundle of that name": {[]v1alpha1.Subscription{asks("missing", "cat", "")}, ""},
		"two packages have one, and who knows":   {[]v1alpha1.Subscription{asks("web", "cat", ""), asks("other", "cat", "")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := Namespace{Name: "demo", Subscriptions: c.subscriptions, Sources: []Source{{}, {}}}
			n.Sources[0].Object.Name, n.Sources[0].Object.Namespace, n.Sources[0].Served = "cat", "olm", catalogstore.Entry{Index: index}
			n.Sources[1].Object.Name, n.Sources[1].Object.Namespace = "dead", "olm"
			csv := v1alpha1.ClusterServiceVersion{}
			csv.Name = "web.v1.0.0"
			n.Operators = []v1alpha1.ClusterServiceVersion{csv}
			if in, _ := n.Input(); in.Operators[0].Package != c.want {
				t.Errorf("package %q, want %q", in.Operators[0].Package, c.want)
			}
		})
	}
}
