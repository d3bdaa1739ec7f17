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
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	"golang.org/x/net/html"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// visit is a browser with a session of a console, whose user has a fake cluster.
type visit struct {
	t       *testing.T
	console *Console
	user    *User
	cookie  *http.Cookie
	cluster client.WithWatch
	// missing are the rights that the user lacks, as "patch installplans".
	missing []string
}

const visited = "127.0.0.1:8090"

// newVisit begins a session, with what change makes of the client of the user.
func newVisit(t *testing.T, change func(client.WithWatch) client.WithWatch, objects ...client.Object) *visit {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{olmv1.AddToScheme, operatorsv1.AddToScheme, v1alpha1.AddToScheme, v2.AddToScheme, packagesv1.AddToScheme, corev1.AddToScheme,
		rbacv1.AddToScheme, appsv1.AddToScheme, apiextensionsv1.AddToScheme, authorizationv1.AddToScheme} {
		must.NoError(t, add(scheme))
	}
	v := &visit{t: t}
	v.cluster = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).WithObjects(inNamespaces(objects)...).Build()
	mine := v.cluster
	if change != nil {
		mine = change(mine)
	}
	mine = interceptor.NewClient(mine, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
		if review, is := o.(*authorizationv1.SelfSubjectAccessReview); is {
			asks := review.Spec.ResourceAttributes
			review.Status.Allowed = !slices.Contains(v.missing, asks.Verb+" "+asks.Resource)
			return nil
		}
		return c.Create(ctx, o, options...)
	}})
	v.user = &User{Name: "dev", Namespace: "ops", config: &rest.Config{Host: "https://127.0.0.1:1"}, client: mine, cluster: preview.Cluster{Reader: mine, Server: tourServer{}}}
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	r := &bundleio.Renderer{}
	library := must.Value(preview.OpenLibrary(t.Context(), r))(t)
	t.Cleanup(func() {
		v.console.shelf.kept.settle() // which, as the content of a catalog, is read with the library
		v.console.contents.settle()
		must.NoError(t, library.Close())
		must.NoError(t, r.Close())
	})
	access := NewOneTime(v.user)
	v.console = must.Value(New(Options{Access: access, Hosts: []string{visited}, Library: library, GlobalNamespace: "olm", OwnMachine: true, Log: slog.New(slog.DiscardHandler),
		Clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)), Changes: func(context.Context, *User, string, func()) {}}))(t)
	w := v.serve(httptest.NewRequest("GET", access.Query(), nil))
	v.cookie = w.Result().Cookies()[0]
	return v
}

func (v *visit) serve(r *http.Request) *httptest.ResponseRecorder {
	v.t.Helper()
	r.Host = visited
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	w := httptest.NewRecorder()
	v.console.Handler().ServeHTTP(w, r)
	return w
}

// page asks for a page, and again until nothing on it is being read any more.
func (v *visit) page(address string) (text string, root *html.Node) {
	v.t.Helper()
	must.Eventually(v.t, "the page "+address, func() error {
		w := v.serve(httptest.NewRequest("GET", address, nil))
		must.Equal(v.t, "status of "+address, w.Code, 200)
		if text = w.Body.String(); strings.Contains(text, "being read") || strings.Contains(text, "being answered") {
			return fmt.Errorf("it is being read")
		}
		return nil
	})
	root = must.Value(html.Parse(strings.NewReader(text)))(v.t)
	return text, root
}

// json asks for the same as a program does.
func (v *visit) json(address string, into any) int {
	v.t.Helper()
	w := v.serve(httptest.NewRequest("GET", "/api"+address, nil))
	must.NoError(v.t, json.Unmarshal(w.Body.Bytes(), into))
	return w.Code
}

// form is the form of a page whose button has a text: its fields, and where it goes.
func (v *visit) form(root *html.Node, button string) (action string, fields url.Values) {
	v.t.Helper()
	for _, f := range elements(root, "form", "") {
		for _, b := range elements(f, "button", "") {
			if textOf(b) != button {
				continue
			}
			if _, disabled := attributeOf(b, "disabled"); disabled {
				v.t.Fatalf("the button %q is disabled", button)
			}
			fields = url.Values{}
			for _, input := range slices.Concat(elements(f, "input", ""), elements(f, "select", ""), elements(f, "textarea", "")) {
				name, _ := attributeOf(input, "name")
				value, _ := attributeOf(input, "value")
				if kind, _ := attributeOf(input, "type"); kind == "checkbox" {
					continue
				}
				if name != "" {
					fields.Add(name, value)
				}
			}
			action, _ = attributeOf(f, "action")
			return action, fields
		}
	}
	v.t.Fatalf("there is no form with the button %q", button)
	return "", nil
}

// send posts a form, and follows to the page that comes then; status is that of the answer to the form.
func (v *visit) send(action string, fields url.Values, from string) (text string, status int) {
	v.t.Helper()
	r := httptest.NewRequest("POST", action, strings.NewReader(fields.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+visited)
	r.Header.Set("Referer", "http://"+visited+from)
	w := v.serve(r)
	if w.Code != http.StatusSeeOther {
		return w.Body.String(), w.Code
	}
	next := v.serve(httptest.NewRequest("GET", w.Header().Get("Location"), nil))
	return next.Body.String(), w.Code
}

func attributeOf(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// harmless checks that nothing of a page that has hostileText content would run, or be another element than those of the template.
func (v *visit) harmless(text string, root *html.Node) {
	v.t.Helper()
	must.Lack(v.t, "the page", text, "<script>alert", "<img src=x", "javascript:alert", "\u202e", "\x1b")
	must.Equal(v.t, "scripts", len(elements(root, "script", "")), 1)
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				v.t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	showsAll(v.t, "the page", root)
}

// hostileText is what an author could write wherever there is a text.
const hostileText = `<script>alert(1)</script><img src=x onerror=alert(1)>" onmouseover="alert(1)` + "\u202e\x1b[31m" + unseenText
