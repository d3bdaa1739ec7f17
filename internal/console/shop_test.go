package console

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	"golang.org/x/net/html"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const shopHost = "127.0.0.1:8090"

// shopping is a browser with a session, in a cluster whose catalogs of both APIs have the sample operators: CatalogSource olm/samples and ClusterCatalog samples.
type shopping struct {
	t       *testing.T
	console *Console
	user    *User
	cookie  *http.Cookie
	cluster client.WithWatch
	library *preview.Library
	// icons are what the API server answers for the icon of a package.
	icons map[string]*preview.Icon
	// lacks are the rights that the user does not have, as "create namespaces".
	lacks []string
}

func newShopping(t *testing.T, objects ...client.Object) *shopping {
	t.Helper()
	return newShoppingAs(t, func(c client.WithWatch) client.WithWatch { return c }, objects...)
}

// newShoppingAs is the same for a user whose client is another one.
func newShoppingAs(t *testing.T, as func(client.WithWatch) client.WithWatch, objects ...client.Object) *shopping {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{olmv1.AddToScheme, operatorsv1.AddToScheme, v1alpha1.AddToScheme, v2.AddToScheme, packagesv1.AddToScheme, corev1.AddToScheme,
		rbacv1.AddToScheme, appsv1.AddToScheme, apiextensionsv1.AddToScheme, authorizationv1.AddToScheme} {
		must.NoError(t, add(scheme))
	}
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	ref, published := fixture.Samples(t, bundleio.Publisher{Registry: strings.TrimPrefix(registry.URL, "http://")}, "samples", nil)
	objects = append(objects, shopCatalogs(ref)...)
	for _, m := range shopManifests(published) {
		objects = append(objects, m)
	}
	v := &shopping{t: t, icons: map[string]*preview.Icon{}}
	v.cluster = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).WithObjects(objects...).Build()
	mine := as(interceptor.NewClient(v.cluster, interceptor.Funcs{Create: v.create, List: shopEverywhere, Get: shopEverywhereOne}))
	server := httptest.NewServer(http.HandlerFunc(v.api))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	v.user = &User{Name: "dev", Namespace: "ops", config: config, client: mine, cluster: preview.Cluster{Reader: mine, Server: tourServer{}}, servers: must.Value(preview.NewServers(config))(t)}
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	r := &bundleio.Renderer{}
	v.library = must.Value(preview.OpenLibrary(t.Context(), r))(t)
	t.Cleanup(func() {
		must.NoError(t, v.library.Close())
		must.NoError(t, r.Close())
	})
	access := NewOneTime(v.user)
	v.console = must.Value(New(Options{Access: access, Hosts: []string{shopHost}, Library: v.library, GlobalNamespace: "olm", Log: slog.New(slog.DiscardHandler),
		Clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)), Changes: func(context.Context, *User, string, func()) {}}))(t)
	v.cookie = v.serve(httptest.NewRequest("GET", access.Query(), nil)).Result().Cookies()[0]
	return v
}

func shopCatalogs(ref string) []client.Object {
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "samples"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}
	clustered := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "samples", Labels: map[string]string{olmv1.MetadataNameKey: "samples"}},
		Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}}}
	return []client.Object{source, clustered, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}}}
}

// shopManifests are the PackageManifests of the samples in namespace ops, as the API server makes them of the CatalogSource.
func shopManifests(published []bundleio.PublishedBundle) (all []*packagesv1.PackageManifest) {
	heads := map[string]*bundle.Bundle{}
	entries := map[string][]packagesv1.ChannelEntry{}
	for _, p := range published {
		b := p.Bundle
		entries[b.Package] = append(entries[b.Package], packagesv1.ChannelEntry{Name: b.Name, Version: b.Version.String()})
		if heads[b.Package] == nil || b.Version.Compare(heads[b.Package].Version) > 0 {
			heads[b.Package] = b
		}
	}
	for name, b := range heads {
		s := b.CSV.Spec
		m := &packagesv1.PackageManifest{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}
		m.Status = packagesv1.PackageManifestStatus{PackageName: name, CatalogSource: "samples", CatalogSourceNamespace: "olm", DefaultChannel: "stable", Provider: s.Provider,
			Channels: []packagesv1.PackageChannel{{Name: "stable", CurrentCSV: b.Name, Entries: entries[name], CurrentCSVDesc: packagesv1.CSVDescription{
				DisplayName: s.DisplayName, Version: s.Version, Provider: s.Provider, Annotations: b.CSV.Annotations, Keywords: s.Keywords, Links: s.Links, Maintainers: s.Maintainers,
				Maturity: s.Maturity, LongDescription: s.Description, InstallModes: s.InstallModes, CustomResourceDefinitions: s.CustomResourceDefinitions, MinKubeVersion: s.MinKubeVersion}}}}
		all = append(all, m)
	}
	return all
}

// create answers what the user may, and creates everything else.
func (v *shopping) create(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
	if review, is := o.(*authorizationv1.SelfSubjectAccessReview); is {
		asks := review.Spec.ResourceAttributes
		review.Status.Allowed = !slices.Contains(v.lacks, asks.Verb+" "+asks.Resource)
		return nil
	}
	return c.Create(ctx, o, options...)
}

// shopEverywhere lists the packages of the global catalog in every namespace, as the server of PackageManifests does.
func shopEverywhere(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*packagesv1.PackageManifestList); is {
		return c.List(ctx, list, client.InNamespace("ops"))
	}
	return c.List(ctx, list, options...)
}

func shopEverywhereOne(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if _, is := o.(*packagesv1.PackageManifest); is {
		key.Namespace = "ops"
	}
	return c.Get(ctx, key, o, options...)
}

// api answers requests for icons, as the server of PackageManifests does.
func (v *shopping) api(w http.ResponseWriter, r *http.Request) {
	name, is := strings.CutSuffix(r.URL.Path, "/icon")
	icon := v.icons[name[strings.LastIndex(name, "/")+1:]]
	if !is || icon == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Etag", `"1"`)
	w.Header().Set("Content-Type", icon.MediaType)
	_, _ = w.Write(icon.Data)
}

func (v *shopping) serve(r *http.Request) *httptest.ResponseRecorder {
	v.t.Helper()
	r.Host = shopHost
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	w := httptest.NewRecorder()
	v.console.Handler().ServeHTTP(w, r)
	return w
}

// get asks for a page, and again until nothing of it is being read any more.
func (v *shopping) get(address string) shopPage {
	v.t.Helper()
	var w *httptest.ResponseRecorder
	must.Eventually(v.t, "the page "+address, func() error {
		w = v.serve(httptest.NewRequest("GET", address, nil))
		for _, waits := range []string{"being read", "being made", "when the bundle has been read"} {
			if strings.Contains(w.Body.String(), waits) {
				return fmt.Errorf("it is %s", waits)
			}
		}
		return nil
	})
	return v.page(w)
}

func (v *shopping) page(w *httptest.ResponseRecorder) shopPage {
	v.t.Helper()
	if w.Code == http.StatusSeeOther { // as a browser follows
		return v.get(w.Header().Get("Location"))
	}
	return shopPage{v.t, w.Code, w.Body.String(), must.Value(html.Parse(strings.NewReader(w.Body.String())))(v.t), w.Header()}
}

// post sends a form, as the page that has it does.
func (v *shopping) post(path string, fields url.Values) *httptest.ResponseRecorder {
	v.t.Helper()
	fields = url.Values(http.Header(fields).Clone())
	fields.Set("form", must.Value(v.session())(v.t).formToken())
	r := httptest.NewRequest("POST", path, strings.NewReader(fields.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+shopHost)
	return v.serve(r)
}

func (v *shopping) session() (*session, error) {
	if s := v.console.sessions.get(v.cookie.Value); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("the session has ended")
}

// forget lets everything be read again.
func (v *shopping) forget() {
	for _, mu := range []*sync.Mutex{&v.console.shelf.kept.mu, &v.console.front.plans.mu} {
		mu.Lock()
		defer mu.Unlock()
	}
	clear(v.console.shelf.kept.kept)
	clear(v.console.front.plans.kept)
}

// json asks for the same as a program.
func (v *shopping) json(address string, into any) int {
	v.t.Helper()
	w := v.serve(httptest.NewRequest("GET", "/api"+address, nil))
	must.NoError(v.t, json.Unmarshal(w.Body.Bytes(), into))
	return w.Code
}

// shopPage is what a browser got.
type shopPage struct {
	t      *testing.T
	status int
	text   string
	root   *html.Node
	header http.Header
}

// find are the elements of a name, with an attribute where one is named.
func (p shopPage) find(name, attribute string) []*html.Node { return elements(p.root, name, attribute) }

func elements(n *html.Node, name, attribute string) (found []*html.Node) {
	if n.Type == html.ElementNode && n.Data == name && (attribute == "" || slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == attribute })) {
		found = append(found, n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		found = append(found, elements(c, name, attribute)...)
	}
	return found
}

// says is the text of the main part of a page.
func (p shopPage) says() string { return textOf(p.find("main", "")[0]) }

// fields are those of the form that goes to a path, as a browser would send them.
func (p shopPage) fields(action string) url.Values {
	p.t.Helper()
	for _, form := range elements(p.find("main", "")[0], "form", "") {
		buttons := slices.ContainsFunc(elements(p.find("main", "")[0], "button", "formaction"), func(b *html.Node) bool {
			return attribute(b, "formaction") == action && attribute(b, "form") == attribute(form, "id")
		})
		if attribute(form, "action") != action && !buttons {
			continue
		}
		out := url.Values{}
		for _, input := range elements(form, "input", "name") {
			kind := attribute(input, "type")
			checked := slices.ContainsFunc(input.Attr, func(a html.Attribute) bool { return a.Key == "checked" })
			if kind != "checkbox" && kind != "radio" || checked {
				out.Set(attribute(input, "name"), attribute(input, "value"))
			}
		}
		for _, list := range elements(form, "select", "name") {
			for i, option := range elements(list, "option", "") {
				selected := slices.ContainsFunc(option.Attr, func(a html.Attribute) bool { return a.Key == "selected" })
				if i == 0 || selected {
					out.Set(attribute(list, "name"), attribute(option, "value"))
				}
			}
		}
		for _, area := range elements(form, "textarea", "name") {
			out.Set(attribute(area, "name"), "")
			if area.FirstChild != nil {
				out.Set(attribute(area, "name"), area.FirstChild.Data)
			}
		}
		return out
	}
	p.t.Fatalf("no form goes to %s", action)
	return nil
}

// harmless checks that nothing on a page can do anything but be read: no script, style, frame or handler, and no address that is a script.
func (p shopPage) harmless() {
	p.t.Helper()
	for _, name := range []string{"iframe", "object", "embed", "style", "base", "foreignobject"} {
		if n := len(p.find(name, "")); n > 0 {
			p.t.Errorf("the page has %d elements %s", n, name)
		}
	}
	for _, script := range p.find("script", "") {
		if !strings.HasPrefix(attribute(script, "src"), "/static/") || script.FirstChild != nil {
			p.t.Errorf("the page has a script: %s %s", attribute(script, "src"), textOf(script))
		}
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for _, a := range n.Attr {
			value := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style":
				p.t.Errorf("element %s has the attribute %s", n.Data, a.Key)
			case (a.Key == "href" || a.Key == "src" || a.Key == "action") && (strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:") || strings.HasPrefix(value, "//")):
				p.t.Errorf("element %s leads to %s", n.Data, a.Val)
			case n.Data == "img" && a.Key == "src" && !strings.HasPrefix(value, "/"):
				p.t.Errorf("a picture of %s is loaded", a.Val)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(p.root)
	showsAll(p.t, "the page", p.root)
	must.Equal(p.t, "headings of the first level", len(p.find("h1", "")), 1)
}

func shopRequest(address string) *http.Request {
	path, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		panic("the address of a test is wrong: " + err.Error())
	}
	return httptest.NewRequest("GET", path+"?"+values.Encode(), nil)
}

// shopTenant is a user who may read packages everywhere, as all users may, and else nothing outside of namespace ops.
func shopTenant(c client.WithWatch) client.WithWatch {
	inside := fakeapi.Tenant(c, "ops")
	return interceptor.NewClient(inside, interceptor.Funcs{
		List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, is := list.(*packagesv1.PackageManifestList); is {
				return c.List(ctx, list, options...)
			}
			return inside.List(ctx, list, options...)
		},
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if _, is := o.(*packagesv1.PackageManifest); is {
				return c.Get(ctx, key, o, options...)
			}
			return inside.Get(ctx, key, o, options...)
		},
		Create: func(ctx context.Context, _ client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if _, is := o.(*authorizationv1.SelfSubjectAccessReview); is {
				return c.Create(ctx, o, options...)
			}
			return inside.Create(ctx, o, options...)
		},
	})
}
