package console

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPackagePage: what a package is, what would be installed and why, what it may do then, and how its versions follow on each other, by both APIs.
func TestPackagePage(t *testing.T) {
	v := newShopping(t)
	for catalog, want := range map[string][]string{
		"olm/samples": {"because subscription greeter-operator", "Install with a Subscription", "Install as a ClusterExtension from samples", "Greeter", "The greeter writes a ConfigMap", "Provided APIs", "Greeting demo.fairlead.dev/v1",
			"Maturity stable", "Kubernetes 1.25.0 or newer", "Maintainers Fairlead samples@fairlead.dev", "Links Fairlead", "Provider Fairlead"},
		"samples": {"because ClusterExtension greeter-operator asks for package greeter-operator", "Install as a ClusterExtension", "Install with a Subscription from olm/samples", "Provided APIs Greeting (demo.fairlead.dev/v1)"},
	} {
		page := v.get("/package/greeter-operator?namespace=ops&catalog=" + catalog)
		page.harmless()
		must.Equal(t, "status", page.status, 200)
		must.Contain(t, catalog, page.says(), want...)
		must.Contain(t, catalog, page.says(), "greeter-operator.v1.2.0 would be installed, from channel stable of catalog "+catalog, "What would be installed in namespace ops", "in the whole cluster", "ServiceAccount ops/greeter-operator",
			"Channels", "stable default", "Versions", "1.2.0", "Upgrade graph of channel stable", "The same as text", "Why not another version")
		drawings := page.find("svg", "")
		if len(drawings) != 1 || attribute(drawings[0], "aria-hidden") != "true" {
			t.Fatalf("%s: %d drawings", catalog, len(drawings))
		}
		must.Contain(t, "the drawing", textOf(drawings[0]), "greeter-operator.v1.2.0", "greeter-operator.v1.0.0", "stable (default)")
		var current []string
		for _, a := range page.find("a", "aria-current") {
			current = append(current, textOf(a))
		}
		must.Equal(t, "the place, and the tab", current, []string{"Catalog", catalog})
	}
	var told packagePage
	must.Equal(t, "status", v.json("/package/greeter-operator?namespace=ops&catalog=olm/samples", &told), 200)
	must.Equal(t, "provided", told.Detail.Owned[0].Kind, "Greeting")
	must.Equal(t, "catalogs", told.Catalogs, []string{"samples", "olm/samples"})
	must.Equal(t, "the graph has entries", len(told.Detail.Graph.Picture.Packages[0].Channels[0].Entries) > 1, true)
	needs := v.get("/package/guestbook-operator?namespace=ops&catalog=samples")
	must.Contain(t, "what a ClusterExtension lacks", needs.says(), "guestbook-operator cannot be installed: it needs package greeter-operator", "create a ClusterExtension for package greeter-operator", "Nothing would be installed")
}

// TestPackageInAConflict says why nothing would be installed.
func TestPackageInAConflict(t *testing.T) {
	v := newShopping(t)
	must.NoError(t, v.cluster.Delete(t.Context(), &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "samples"}}))
	shopCatalog(t, v, "alone", `
{"schema":"olm.package","name":"needy","defaultChannel":"stable"}
{"schema":"olm.channel","package":"needy","name":"stable","entries":[{"name":"needy.v1.0.0"}]}
{"schema":"olm.bundle","package":"needy","name":"needy.v1.0.0","image":"127.0.0.1:1/needy:1","properties":[{"type":"olm.package","value":{"packageName":"needy","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"gone","versionRange":">=1.0.0"}}]}`)
	page := v.get("/package/needy?namespace=ops&catalog=alone")
	must.Contain(t, "the page", page.says(), "gone", "Why not another version", "requires an operator from package gone")
	must.Lack(t, "the page", page.says(), "would be installed, from")
}

// shopCatalog is a ClusterCatalog with some content.
func shopCatalog(t *testing.T, v *shopping, name, content string) {
	t.Helper()
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	ref := strings.TrimPrefix(registry.URL, "http://") + "/" + name + ":v1"
	must.Value(image.Push(t.Context(), ref, fstest.MapFS{"configs/catalog.json": {Data: []byte(content)}}, image.CatalogLabels(), image.PushOptions{}))(t)
	c := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{olmv1.MetadataNameKey: name}},
		Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}}}
	must.NoError(t, v.cluster.Create(t.Context(), c))
	v.forget()
}

// TestLongPackage: of hundreds of versions the newest are shown, and the others on demand, as far as a page has place.
func TestLongPackage(t *testing.T) {
	v := newShopping(t)
	var b strings.Builder
	b.WriteString(`{"schema":"olm.package","name":"long","defaultChannel":"stable"}` + "\n")
	var entries []string
	for i := range 600 {
		entry := fmt.Sprintf(`{"name":"long.v1.%d.0"}`, i)
		if i > 0 {
			entry = fmt.Sprintf(`{"name":"long.v1.%d.0","replaces":"long.v1.%d.0","skipRange":">=1.0.0 <1.%d.0"}`, i, i-1, i)
		}
		entries = append(entries, entry)
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"long","name":"long.v1.%d.0","image":"127.0.0.1:1/long:%d","properties":[{"type":"olm.package","value":{"packageName":"long","version":"1.%d.0"}}]}`+"\n", i, i, i)
	}
	fmt.Fprintf(&b, `{"schema":"olm.channel","package":"long","name":"stable","entries":[%s]}`, strings.Join(entries, ","))
	b.WriteString(`{"schema":"olm.deprecations","package":"long","entries":[{"reference":{"schema":"olm.package"},"message":"use short"},{"reference":{"schema":"olm.channel","name":"stable"},"message":"it is unstable"},{"reference":{"schema":"olm.bundle","name":"long.v1.599.0"},"message":"it leaks"}]}`)
	shopCatalog(t, v, "longs", b.String())
	page := v.get("/package/long?namespace=ops&catalog=longs")
	page.harmless()
	must.Contain(t, "the page", page.says(), "use short", "it is unstable", "it leaks", "1.599.0", "Show 560 older versions.", "Draw 560 older versions, too.")
	must.Lack(t, "the page", page.says(), "1.500.0")
	whole := v.get("/package/long?namespace=ops&catalog=longs&all=yes")
	must.Contain(t, "all", whole.says(), "1.500.0", "1.201.0", "and 200 older ones", "300 older versions are left out")
	for name, p := range map[string]shopPage{"the page": page, "all": whole} {
		r := shopRequest("/package/long?namespace=ops&catalog=longs&all=yes")
		r.Header.Set("Accept-Encoding", "gzip")
		w := v.serve(r)
		must.Equal(t, "encoding", w.Header().Get("Content-Encoding"), "gzip")
		if n := w.Body.Len(); n > 100<<10 {
			t.Errorf("%s has %d bytes compressed, %d in full", name, n, len(p.text))
		}
	}
	must.Contain(t, "another channel", v.page(v.serve(shopRequest("/package/long?namespace=ops&catalog=longs&graph=<x>"))).says(), "No channel is called <x>")
	must.Contain(t, "a channel that is not there", v.get("/package/long?namespace=ops&catalog=longs&graph=beta").says(), "package long has no channel beta")
}

// TestHostileGraph: the names of a graph are text, in the drawing as well.
func TestHostileGraph(t *testing.T) {
	v := newShopping(t)
	const evilName = `x</text></svg><script>alert(1)</script>`
	shopCatalog(t, v, "evils", `
{"schema":"olm.package","name":"evil","defaultChannel":"stable","icon":{"base64data":"PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+","mediatype":"image/svg+xml"},"description":"<script>alert(1)</script>\n\n[x](javascript:alert(1))"}
{"schema":"olm.channel","package":"evil","name":"stable","entries":[{"name":"evil.v1.0.0","replaces":"`+evilName+`","skipRange":"<1.0.0"}]}
{"schema":"olm.bundle","package":"evil","name":"evil.v1.0.0","image":"127.0.0.1:1/evil:1","properties":[{"type":"olm.package","value":{"packageName":"evil","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"<b>","kind":"<script>","version":"v1"}}]}
{"schema":"olm.deprecations","package":"evil","entries":[{"reference":{"schema":"olm.bundle","name":"evil.v1.0.0"},"message":"`+evilName+`"}]}`)
	page := v.get("/package/evil?namespace=ops&catalog=evils")
	page.harmless()
	must.Equal(t, "drawings", len(page.find("svg", "")), 1)
	must.Contain(t, "the drawing", textOf(page.find("svg", "")[0]), evilName)
	must.Contain(t, "the icon", v.serve(shopRequest("/icon?catalog=evils&package=evil")).Body.String(), ">E</text>")
}

// TestPackageOfATenant: who may read nothing of the cluster still sees the package, and what is not known is said.
func TestPackageOfATenant(t *testing.T) {
	v := newShoppingAs(t, shopTenant)
	page := v.get("/package/greeter-operator?namespace=ops&catalog=olm/samples")
	page.harmless()
	must.Contain(t, "the page", page.says(), "Greeter", "Description", "Versions", "the upgrade graph is not known from here", "It cannot be drawn from here")
	must.Equal(t, "status of the catalog", v.get("/catalog?namespace=ops").status, 200)
}

// TestPackageBeforeTheCatalogsAreRead: a page does not wait for them, and a program does.
func TestPackageBeforeTheCatalogsAreRead(t *testing.T) {
	v := newShopping(t)
	v.console.shelf = newShelf(v.library, "olm", v.console.Clock) // one that has not been read when the user came
	browse, read := v.console.shelf.browse, make(chan struct{})
	v.console.shelf.browse = func(ctx context.Context, u *User, namespace string) (preview.Answer, error) {
		<-read
		return browse(ctx, u, namespace)
	}
	for _, address := range []string{"/package/greeter-operator?namespace=ops", "/install?package=greeter-operator&namespace=ops"} {
		page := v.page(v.serve(httptest.NewRequest("GET", address, nil)))
		must.Equal(t, "status", page.status, 202)
		must.Contain(t, address, page.says(), "The catalogs are being read for the first time")
	}
	answered := make(chan int)
	go func() {
		answered <- v.serve(httptest.NewRequest("GET", "/api/package/greeter-operator?namespace=ops", nil)).Code
	}()
	close(read)
	must.Equal(t, "what a program gets", <-answered, 200)
	must.Contain(t, "the page then", v.get("/package/greeter-operator?namespace=ops").says(), "Channels")
}
