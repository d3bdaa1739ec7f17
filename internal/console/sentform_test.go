package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// longOrder is an order with a configuration that no address has room for.
func longOrder() url.Values {
	long := "deploymentConfig:\n  env:\n"
	for i := range 300 {
		long += fmt.Sprintf("  - {name: VARIABLE_%d, value: some text}\n", i)
	}
	return url.Values{"package": {"greeter-operator"}, "catalog": {"samples"}, "namespace": {"ops"}, "version": {"1.1.0"}, "config": {long}}
}

// back sends the form that leads back from the answer to another one.
func (v *shopping) back(w *httptest.ResponseRecorder, button, to string) shopPage {
	v.t.Helper()
	failed := v.page(w)
	failed.harmless()
	if failed.status < 400 {
		v.t.Fatalf("it does not fail: %d, %s", failed.status, failed.says())
	}
	must.Contain(v.t, "a page that is not read again: no address has its order", failed.text, ` data-follow="">`)
	must.Contain(v.t, "the ways back", failed.says(), button)
	fields := failed.fields(to)
	must.Equal(v.t, "what is of the former page", []bool{fields.Has(shownKey), fields.Has(backKey), len(fields["form"]) == 1}, []bool{false, false, true})
	return v.page(v.post(to, fields))
}

// TestBackWithLongOrders: the way back from an install that failed leads to the form with all that it said, however long that is, and to its plan.
func TestBackWithLongOrders(t *testing.T) {
	refuse := false
	v := newShoppingAs(t, func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if _, is := o.(*olmv1.ClusterExtension); is && refuse {
				return errors.New("refused")
			}
			return c.Create(ctx, o, options...)
		}})
	})
	said := func(page shopPage, more string) {
		t.Helper()
		must.Equal(t, "status", page.status, 200)
		must.Contain(t, "the plan", page.says(), "Bundle greeter-operator.v1.1.0", "VARIABLE_299", more)
		must.Equal(t, "the version", page.fields("/install").Get("version"), "1.1.0")
	}
	fields := v.page(v.post("/install", longOrder())).fields("/install/create")
	refuse = true
	said(v.back(v.post("/install/create", fields), "Back", "/install"), "refused")
	refuse = false

	stale := longOrder()
	stale.Set("form", "of another session")
	r := httptest.NewRequest("POST", "/install/create", strings.NewReader(stale.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+shopHost)
	said(v.back(v.serve(r), "Back", "/install"), "Bundle")

	changed := url.Values(http.Header(fields).Clone())
	changed.Set("config", longOrder().Get("config")+"  - {name: LAST, value: x}\n")
	failed := v.post("/install/create", changed)
	must.Equal(t, "changed after its plan was made", failed.Code, http.StatusConflict)
	page := v.back(failed, "Back", "/install")
	said(page, "LAST")
	must.Contain(t, "what is then installed", v.post("/install/create", page.fields("/install/create")).Header().Get("Location"), "/operator/ClusterExtension/ops/greeter-operator")

	wrong := longOrder()
	wrong.Set("namespace", "Bad_Name")
	page = v.back(v.post("/install/create", wrong), "Back", "/install")
	must.Contain(t, "the wrong field", page.wrongFields()["namespace"], "Bad_Name")
	must.Contain(t, "the configuration", page.fields("/install").Get("config"), "VARIABLE_299")

	lost := longOrder()
	lost.Set("package", "greter-operator")
	must.Contain(t, "a plan that cannot be made is asked for again", v.back(v.post("/install", lost), "Send the form again", "/install").says(), "did you mean greeter-operator?")
}

// TestBackToTheYAML: a custom resource that is refused is not lost.
func TestBackToTheYAML(t *testing.T) {
	v := newTour(t, nil, append(subscribes("ops", "mine"), kiteDefinition(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})...)
	text := "apiVersion: example.com/v1\nkind: Kite\nmetadata: {name: a}\nspec: {text: kept}\n---\nkind: Kite\n"
	form := v.console.sessions.get(v.cookie.Value).formToken()
	w := v.ask(http.MethodPost, "/operands/kites.example.com/create", url.Values{"form": {form}, "in": {"ops"}, "text": {text}})
	must.Equal(t, "status", w.Code, http.StatusBadRequest)
	page := v.parse(w)
	must.Equal(t, "where it leads back to", attribute(page.all("form", "action=/operands/kites.example.com/new")[0], "method"), "post")
	must.Equal(t, "what it has", attribute(page.all("input", "name=text")[0], "value"), text)
}

// TestEndOfAJobStaysOnThePage: a page that a form has sent says where it can be read again; what has no such address has no button that would lose it, and nothing leads to another host.
func TestEndOfAJobStaysOnThePage(t *testing.T) {
	v := newShopping(t)
	done := func() string {
		s := must.Value(v.session())(t)
		q := &query{session: s}
		must.NoError(t, v.console.runner.begin(t.Context(), q, "Upgrade of x", "/", func(context.Context, func(string)) (string, error) { return "", errors.New("failed") }))
		var id string
		must.Eventually(t, "the end of the job", func() error {
			for _, job := range s.jobs.shown(v.console.Clock.Now()) {
				if id = job.ID; !job.Running() {
					return nil
				}
			}
			return errors.New("it runs")
		})
		return id
	}
	ends := func(page shopPage) (all []string) {
		for _, form := range page.find("form", "action") {
			if at := attribute(form, "action"); strings.HasPrefix(at, "/jobs/") {
				all = append(all, at)
			}
		}
		return all
	}
	end := "/jobs/" + done() + "/end"
	must.Equal(t, "where no address has the order", ends(v.page(v.post("/install", longOrder()))), nil)
	wrong := longOrder()
	wrong.Set("config", "")
	wrong.Set("namespace", "Bad_Name")
	page := v.page(v.post("/install", wrong))
	must.Equal(t, "where one has it", slices.Compact(ends(page)), []string{end})
	at := ""
	for _, n := range page.find("input", "name") {
		if attribute(n, "name") == backKey {
			at = attribute(n, "value")
		}
	}
	must.Contain(t, "the address", at, "/install?", "namespace=Bad_Name", "version=1.1.0")
	must.Equal(t, "where it leads", v.post(end, url.Values{backKey: {at}}).Header().Get("Location"), at)
	for _, other := range []string{"https://evil.example.com/", "//evil.example.com/", `/\evil.example.com`, "javascript:alert(1)"} {
		must.Equal(t, "elsewhere", v.post("/jobs/"+done()+"/end", url.Values{backKey: {other}}).Header().Get("Location"), "/")
	}
}
