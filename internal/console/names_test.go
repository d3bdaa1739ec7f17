package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// connected is a client as one that speaks with an API server: it sends no name that would be no part of a path, and knows no group that has a slash.
func connected(c client.WithWatch) client.WithWatch {
	return byName{interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if wrong := content.IsPathSegmentName(key.Name); key.Name == "" || len(wrong) > 0 {
				return fmt.Errorf("invalid resource name %q: %v", key.Name, wrong)
			}
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if kind := list.GetObjectKind().GroupVersionKind(); strings.Contains(kind.Group+kind.Version, "/") {
				return fmt.Errorf("unexpected GroupVersion string: %s", kind.GroupVersion())
			}
			return c.List(ctx, list, options...)
		},
	})}
}

// TestMisnamedDefinitions: an operator that owns a definition which can have no such name has a page all the same, as have the other definitions; it is said of
// that one what is wrong, and nothing leads to it.
func TestMisnamedDefinitions(t *testing.T) {
	for name, wrong := range map[string]string{"a slash": "kites/x.example.com", "a group with a slash": "kites.example.com/x", "nothing": "", "spaces": "my kites.example.com", "dots": "..", "a way up": "../../api.v1",
		"300 characters": strings.Repeat("a", 288) + ".example.com", "a Secret": "secrets"} {
		t.Run(name, func(t *testing.T) {
			objects := append(subscribes("ops", "mine", func(_ *v1alpha1.Subscription, csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.CustomResourceDefinitions.Owned = append([]v1alpha1.CRDDescription{{Name: wrong, Kind: "Secret", Version: "v1"}}, csv.Spec.CustomResourceDefinitions.Owned...)
			}), kiteDefinition(), aKite("sky", "a", "x"))
			v := newTour(t, connected, objects...)
			page := v.shows(http.StatusOK, "/operands?namespace=ops")
			must.Contain(t, "the kinds", page.text("#found"), "Kite kites.example.com, v1 1 sky: 1", "no CustomResourceDefinition can be called", "correct spec.customresourcedefinitions.owned of ClusterServiceVersion ops/mine.v1.0.0", "unknown")
			must.Equal(t, "links to kinds", len(page.all("a", "href=/operands/")), 1)
			found := answers[ops.Operands](v, "/operands?namespace=ops")
			must.Equal(t, "kinds for programs", len(found.Kinds), 2)
			if wrong != "" && wrong != ".." {
				at := "/operands/" + url.PathEscape(wrong) + "?namespace=ops"
				must.Contain(t, at, v.shows(http.StatusBadRequest, at).text("main"), "What to do:")
			}
			for _, address := range []string{"/operator/Subscription/ops/mine", "/operator/ClusterServiceVersion/ops/mine.v1.0.0", "/operator/Subscription/ops/mine/uninstall", "/operator/Subscription/ops/mine/upgrade", "/installed", "/why?namespace=ops"} {
				v.shows(http.StatusOK, address)
			}
		})
	}
}

// TestByName: an object of a name that none can have is not there.
func TestByName(t *testing.T) {
	v := newTour(t, connected)
	for _, name := range []string{"", "a/b", "..", "a%b"} {
		err := v.user.client.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: name}, &v1alpha1.Subscription{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("%q: %v", name, err)
		}
	}
	must.NoError(t, v.cluster.Create(t.Context(), aKite("sky", "a", "x")))
	kite := aKite("sky", "a", "")
	must.NoError(t, v.user.client.Get(t.Context(), client.ObjectKeyFromObject(kite), kite))
}

// TestNamesThatAreTooLong: an address with a name that nothing can have is refused with what to do on every page that takes one, before the cluster is asked.
func TestNamesThatAreTooLong(t *testing.T) {
	asked := ""
	v := newTour(t, func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if len(key.Name) > 253 || len(key.Namespace) > 63 {
				asked = key.String()
			}
			return c.Get(ctx, key, o, options...)
		}})
	}, append(operated(), extended("apps", "modern", "a", "b")...)...)
	name, label := strings.Repeat("a", 254), strings.Repeat("a", 64)
	refused := func(address string) {
		t.Helper()
		text := v.shows(http.StatusBadRequest, address).text("main")
		must.Contain(t, address, text, " has at most ", "What to do: ")
		var answer map[string]string
		w := v.ask(http.MethodGet, "/api"+address, nil)
		must.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		must.Equal(t, "for programs, "+address, w.Code, http.StatusBadRequest)
		must.Contain(t, "for programs, "+address, answer["error"], " has at most ")
	}
	const kites = "/operands/kites.example.com"
	for _, address := range []string{kites + "/object?namespace=ops&in=sky&object=" + name, kites + "/object?namespace=ops&in=" + label + "&object=a", kites + "/new?namespace=ops&in=" + label, "/operands?name=" + name, "/operands/" + name,
		"/operator/Subscription/ops/mine/diff?to=" + name, "/operator/Subscription/ops/mine/diff?from=" + name, "/operator/ClusterExtension/apps/modern/rollback?to=" + name, "/operator/Subscription/ops/mine/uninstall?delete=x&delete=" + name,
		"/why?kind=why&name=" + name, "/install?package=" + name, "/install?package=kite&account=" + name, "/install?package=kite&name=" + name} {
		refused(address)
	}
	paths := 0
	for _, pattern := range Paths(v.console) { // each name of a path, on every page
		for _, key := range []string{"{name}", "{definition}"} {
			if !strings.HasPrefix(pattern, apiPrefix) && strings.Contains(pattern, key) {
				refused(strings.NewReplacer(key, name, "{namespace}", "ops", "{kind}", "Subscription").Replace(pattern))
				paths++
			}
		}
		if !strings.HasPrefix(pattern, apiPrefix) && strings.Contains(pattern, "{namespace}") {
			address := strings.NewReplacer("{namespace}", label, "{name}", "mine", "{kind}", "Subscription").Replace(pattern)
			must.Contain(t, address, v.shows(http.StatusBadRequest, address).text("main"), "No namespace can be called", "at most 63", "What to do: choose a namespace")
		}
	}
	if paths < 10 {
		t.Errorf("%d paths with names", paths)
	}
	must.Contain(t, "a form", v.refuses(http.StatusBadRequest, "/operator/Subscription/ops/"+name+"/hold", "reason", "x"), "has at most 253")
	for _, address := range []string{kites + "/object?namespace=ops&in=sky&object=" + name[1:], "/operator/Subscription/ops/" + name[1:], "/operands/" + name[1:]} {
		v.shows(http.StatusNotFound, address)
	}
	must.Equal(t, "asked for", asked, "")
	page := v.ask(http.MethodGet, kites+"/object?namespace=ops&in=sky&object="+strings.Repeat("a", 30_000), nil)
	must.Equal(t, "a very long one", page.Code, http.StatusBadRequest)
	must.Contain(t, "a very long one", v.parse(page).text("main"), "which has 30000 characters")
}
