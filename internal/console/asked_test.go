package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// commandWords are of the command line, and of no use where a form has them.
var commandWords = []string{" -n", "--", "fairlead doctor", "kubeconfig", "fairlead list", "fairlead status"}

// TestNamespaceThatCannotBe: a namespace that does not exist, or that none can be called, is a mistake of the address, which says where to choose another one; it is no failure of the cluster.
func TestNamespaceThatCannotBe(t *testing.T) {
	v := newTour(t, nil, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
	check := func(address string, status int, text string) {
		t.Helper()
		page := v.shows(status, address)
		must.Contain(t, address, page.text("main"), text, "What to do: choose a namespace in the header, or leave that empty for all of them")
		must.Lack(t, address, page.text("main"), commandWords...)
		var answer map[string]string
		w := v.ask(http.MethodGet, "/api"+address, nil)
		must.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		must.Equal(t, "for programs, "+address, w.Code, status)
		must.Contain(t, "for programs, "+address, answer["error"], text)
		must.Contain(t, "for programs, "+address, answer["remedy"], "choose a namespace")
	}
	for _, path := range []string{"/installed", "/approvals", "/sources", "/catalog", "/operands", "/why", "/package/kite", "/jobs"} {
		for _, wrong := range []string{"No/Pe", "../x", "-", strings.Repeat("a", 64)} {
			check(path+"?namespace="+url.QueryEscape(wrong), http.StatusBadRequest, "No namespace can be called")
		}
	}
	check("/operator/Subscription/No%2FPe/kite", http.StatusBadRequest, "No namespace can be called")
	for _, path := range []string{"/installed", "/sources"} {
		check(path+"?namespace=nope", http.StatusNotFound, "read namespace nope: there is no such namespace")
	}
	must.Equal(t, "one that is there", v.ask(http.MethodGet, "/installed?namespace=ops", nil).Code, http.StatusOK)
}

// TestWhatIsAskedForIsNotThere: a form or question about what is not there, or is not as it would have to be, is answered in terms of the console.
func TestWhatIsAskedForIsNotThere(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "mine"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"}}
	approved := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-a"}, Spec: v1alpha1.InstallPlanSpec{Approved: true}}
	v := newTour(t, nil, sub, approved, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
	for name, test := range map[string]struct {
		path   string
		fields url.Values
		status int
		want   []string
	}{
		"a plan that has gone":      {"/approvals/approve", url.Values{"namespace": {"ops"}, "name": {"gone"}, "mark": {"a"}}, http.StatusNotFound, []string{"approve gone", "What to do: correct its name, or go back"}},
		"a plan that was approved":  {"/approvals/approve", url.Values{"namespace": {"ops"}, "name": {"install-a"}, "mark": {"a"}}, http.StatusConflict, []string{"it is approved already", "load that page again"}},
		"nothing waits":             {"/approvals/approve", url.Values{"namespace": {"ops"}, "name": {"mine"}, "mark": {"a"}}, http.StatusConflict, []string{"no InstallPlan of it waits", "load that page again"}},
		"a namespace that cannot":   {"/approvals/approve", url.Values{"namespace": {"No/Pe"}, "name": {"mine"}, "mark": {"a"}}, http.StatusBadRequest, []string{"No namespace can be called"}},
		"a reason that is too long": {"/operator/Subscription/ops/mine/hold", url.Values{"reason": {strings.Repeat("a", 2000)}}, http.StatusBadRequest, []string{"the reason has 2000 bytes; it may have 1024", "go back, and correct what it says"}},
	} {
		test.fields.Set("form", must.Value(url.QueryUnescape(v.console.sessions.get(v.cookie.Value).formToken()))(t))
		w := v.ask(http.MethodPost, test.path, test.fields)
		must.Equal(t, name, w.Code, test.status)
		text := v.parse(w).text("main")
		must.Contain(t, name, text, test.want...)
		must.Lack(t, name, text, commandWords...)
	}
}

// TestWhyNotOfAVersionThatIsNotThere says how to find those that there are.
func TestWhyNotOfAVersionThatIsNotThere(t *testing.T) {
	v := newShopping(t)
	for address, want := range map[string]string{"/why?kind=why-not&name=guestbook-operator&version=9.9.9": "no catalog has that version of the package", "/why?kind=why-not&name=nothing": "no catalog has a package of that name"} {
		var answer map[string]string
		must.Equal(t, address, v.json(address, &answer), http.StatusNotFound)
		must.Contain(t, address, answer["error"], want)
		must.Contain(t, address, answer["remedy"], "without a version it is answered for all")
		must.Lack(t, address, answer["error"]+answer["remedy"], commandWords...)
		must.Contain(t, address, v.get(address).says(), want, "without a version it is answered for all")
	}
}

// TestSourceInNoNamespace: the form of a CatalogSource says where another namespace is written.
func TestSourceInNoNamespace(t *testing.T) {
	v := newTour(t, func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if o.GetNamespace() == "nope" {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "nope")
			}
			return c.Create(ctx, o, options...)
		}})
	})
	form := v.console.sessions.get(v.cookie.Value).formToken()
	w := v.ask(http.MethodPost, "/sources/add", url.Values{"form": {form}, "api": {"v0"}, "name": {"toys"}, "namespace": {"nope"}, "image": {"quay.io/a/b:c"}})
	must.Equal(t, "status", w.Code, http.StatusNotFound)
	text := v.parse(w).text("main")
	must.Contain(t, "the page", text, "create CatalogSource nope/toys", "write another one into the form")
	must.Lack(t, "the page", text, commandWords...)
	w = v.ask(http.MethodPost, "/sources/add", url.Values{"form": {form}, "api": {"v1"}, "name": {"toys"}, "image": {"quay.io/a/b@sha256:" + strings.Repeat("a", 64)}, "poll": {"5"}})
	must.Equal(t, "status", w.Code, http.StatusBadRequest)
	must.Lack(t, "an interval for a digest", v.parse(w).text("main"), commandWords...)
}

// TestCatalogWithoutClusterCatalogs: who may not list them, and has no other catalog in view, gets an empty page with a note, as elsewhere.
func TestCatalogWithoutClusterCatalogs(t *testing.T) {
	v := newTour(t, func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, is := list.(*olmv1.ClusterCatalogList); is {
				return apierrors.NewForbidden(olmv1.GroupVersion.WithResource("clustercatalogs").GroupResource(), "", nil)
			}
			return c.List(ctx, list, options...)
		}})
	}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
	var answer catalogPage
	w := v.ask(http.MethodGet, "/api/catalog?namespace=ops", nil)
	must.Equal(t, "status", w.Code, http.StatusOK)
	must.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	must.Equal(t, "packages", len(answer.Packages), 0)
	must.Equal(t, "a note tells of it", slices.ContainsFunc(answer.Notes, func(n string) bool { return strings.Contains(n, "ClusterCatalogs cannot be") }), true)
	must.Contain(t, "the page", v.shows(http.StatusOK, "/catalog?namespace=ops").text("main"), "ClusterCatalogs cannot be")
}
