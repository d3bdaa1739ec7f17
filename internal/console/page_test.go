package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestErrorsHaveTheirStatus: a refusal of the API server is not shown as a failure of it, and says what to do about it.
func TestErrorsHaveTheirStatus(t *testing.T) {
	kind, resource := schema.GroupKind{Group: "example.com", Kind: "Kite"}, schema.GroupResource{Group: "example.com", Resource: "kites"}
	for name, test := range map[string]struct {
		err    error
		status int
		remedy string
	}{
		"not there":      {apierrors.NewNotFound(resource, "a"), http.StatusNotFound, "it may have been removed"},
		"no right":       {apierrors.NewForbidden(resource, "a", errors.New("no")), http.StatusForbidden, "ask an administrator"},
		"unknown":        {apierrors.NewUnauthorized("no"), http.StatusUnauthorized, "begin a new session"},
		"changed":        {apierrors.NewConflict(resource, "a", errors.New("changed")), http.StatusConflict, "load that page again"},
		"there already":  {apierrors.NewAlreadyExists(resource, "a"), http.StatusConflict, "load that page again"},
		"invalid":        {apierrors.NewInvalid(kind, "a", nil), http.StatusUnprocessableEntity, "correct what it says"},
		"not understood": {apierrors.NewBadRequest("strict decoding error"), http.StatusUnprocessableEntity, "correct what it says"},
		"busy":           {apierrors.NewTooManyRequests("later", 1), http.StatusServiceUnavailable, "try again in a minute"},
		"slow":           {context.DeadlineExceeded, http.StatusGatewayTimeout, "took too long"},
		"slow, it says":  {apierrors.NewTimeoutError("slow", 1), http.StatusGatewayTimeout, "took too long"},
		"no namespace":   {fmt.Errorf("list: %w", &messages.AskedError{Lack: messages.NoNamespace, Text: "no", Command: "correct -n"}), http.StatusNotFound, "choose a namespace in the header"},
		"no such thing":  {&messages.AskedError{Lack: messages.NotThere, Text: "no"}, http.StatusNotFound, "correct its name"},
		"not now":        {&messages.AskedError{Lack: messages.NotNow, Text: "no"}, http.StatusConflict, "load that page again"},
		"never":          {&messages.AskedError{Lack: messages.NotFit, Text: "no"}, http.StatusBadRequest, "correct what it says"},
		"not offered":    {&preview.NotOfferedError{AskedError: messages.AskedError{Lack: messages.NotThere, Part: messages.OfPackage, Text: "no"}}, http.StatusNotFound, "search the catalog"},
		"another one":    {&ops.MeantError{Object: "Kite a"}, http.StatusConflict, "check what it would do now"},
		"something else": {errors.New("broken"), http.StatusBadGateway, "fairlead doctor"},
		"one of our own": {&statusError{http.StatusTeapot, "x", "drink"}, http.StatusTeapot, "drink"},
		"within another": {fmt.Errorf("create: %w", apierrors.NewInvalid(kind, "a", nil)), http.StatusUnprocessableEntity, "correct"},
	} {
		got := explain(test.err)
		must.Equal(t, name, got.status, test.status)
		must.Contain(t, name, got.whatToDo, test.remedy)
	}
}

// TestNoSuchPage: a browser gets a page that says so, and a program gets JSON.
func TestNoSuchPage(t *testing.T) {
	v := newTour(t, nil)
	must.Contain(t, "a page", v.shows(http.StatusNotFound, "/nothing").text("main"), "There is no such page", "What to do: begin at the catalog")
	w := v.ask(http.MethodGet, "/api/nothing", nil)
	must.Equal(t, "status", w.Code, http.StatusNotFound)
	must.Equal(t, "type", w.Header().Get("Content-Type"), "application/json")
	must.Contain(t, "a program", w.Body.String(), `"error": "There is no such page"`, `"remedy": "begin at the catalog`)
}

// TestNamespaceOfAnError: another namespace can be chosen where an error is shown, for the page that the user came from, or for one that is there.
func TestNamespaceOfAnError(t *testing.T) {
	v := newTour(t, nil)
	form := func(w *httptest.ResponseRecorder) []string {
		page := v.parse(w)
		form := page.all("form", "class=where")[0]
		out := []string{attribute(form, "action")}
		for n := range form.Descendants() {
			if n.Data == "input" {
				out = append(out, attribute(n, "name")+"="+attribute(n, "value"))
			}
		}
		return out
	}
	nowhere := v.ask(http.MethodGet, "/nothing?namespace=a&q=b", nil)
	must.Equal(t, "no such page", form(nowhere), []string{"/installed", "namespace=a"})
	must.Equal(t, "the place of no such page", len(v.parse(nowhere).all("a", "aria-current=page")), 0)
	must.Equal(t, "nor of one below a place", len(v.parse(v.ask(http.MethodGet, "/installed/nothing", nil)).all("a", "aria-current=page")), 0)
	misspelt := v.ask(http.MethodGet, "/operator/Subscription/a/nothing?namespace=a&q=b", nil)
	must.Equal(t, "status", misspelt.Code, http.StatusNotFound)
	must.Equal(t, "an object that is not there", form(misspelt), []string{"/operator/Subscription/a/nothing", "q=b", "namespace=a"})
	must.Equal(t, "its place", v.parse(misspelt).all("a", "aria-current=page")[0].FirstChild.Data, "Installed")
	r := httptest.NewRequest(http.MethodPost, "/approvals/approve", nil)
	r.Host = tourHost
	r.AddCookie(v.cookie)
	r.Header.Set("Origin", "http://"+tourHost)
	r.Header.Set("Referer", "http://"+tourHost+"/approvals?namespace=a&q=b")
	w := httptest.NewRecorder()
	v.console.Handler().ServeHTTP(w, r)
	must.Equal(t, "status", w.Code, http.StatusForbidden)
	must.Equal(t, "not done", form(w), []string{"/approvals", "q=b", "namespace=a"})
}

// TestCookies have the port in their name, whatever the host is written like: browsers send those of one host to all of its ports.
func TestCookies(t *testing.T) {
	for host, want := range map[string]string{"127.0.0.1:8090": "fairlead-console-8090", "[::1]:8090": "fairlead-console-8090", "[fd00::1]": "fairlead-console-443", "console.example.com": "fairlead-console-443"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		must.Equal(t, host, (&Console{}).cookie(r), want)
		w := httptest.NewRecorder()
		http.SetCookie(w, &http.Cookie{Name: (&Console{}).cookie(r), Value: "x"})
		must.Equal(t, "cookies for "+host, len(w.Result().Cookies()), 1)
		must.Equal(t, "with TLS", (&Console{guard: guard{secure: true}}).cookie(r), "__Host-"+want)
	}
}

// TestPlaces: a page belongs to the place that people come from, which is marked.
func TestPlaces(t *testing.T) {
	for path, want := range map[string]string{"/catalog": "/catalog", "/package/kite": "/catalog", "/install": "/catalog", "/installed": "/installed", "/operator/Subscription/a/b": "/installed",
		"/operator/Subscription/a/b/upgrade": "/installed", "/operands/kites.example.com/new": "/operands", "/source/v1/cat": "/sources", "/sources": "/sources", "/why": "/why", "/jobs": ""} {
		got := ""
		for _, place := range places {
			if under(path, place.Path) {
				got += place.Path
			}
		}
		must.Equal(t, path, got, want)
	}
}

// TestPaged: a page that does not exist is the nearest that does.
func TestPaged(t *testing.T) {
	for asked, want := range map[string][4]int{"": {1, 3, 0, 10}, "2": {2, 3, 10, 20}, "3": {3, 3, 20, 25}, "99": {3, 3, 20, 25}, "-1": {1, 3, 0, 10}, "x": {1, 3, 0, 10}} {
		page, pages, from, to := paged(asked, 25, 10)
		must.Equal(t, "page "+asked, [4]int{page, pages, from, to}, want)
	}
	page, pages, from, to := paged("7", 0, 10)
	must.Equal(t, "of nothing", [4]int{page, pages, from, to}, [4]int{1, 1, 0, 0})
}

// TestWhatAPageFollows: the stream of a page is that of the namespace which it is about, also where the user works in another one; what is in no stream is read
// again from time to time, and a script that reads a page again is not a person who goes to it.
func TestWhatAPageFollows(t *testing.T) {
	v := newTour(t, nil, append(subscribes("apps", "kite"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "apps"}})...)
	v.lacking = []string{"list subscriptions"}
	main := func(address string) (namespace, stream string, slow bool) {
		page := v.shows(http.StatusOK, address)
		of := page.all("main", "")[0]
		for _, a := range of.Attr {
			slow = slow || a.Key == "data-slow"
		}
		return attribute(page.all("input", "id=where")[0], "value"), attribute(of, "data-stream"), slow
	}
	for address, want := range map[string][]any{
		"/operator/Subscription/apps/kite":                {"apps", "apps", true},
		"/operator/Subscription/apps/kite?namespace=apps": {"apps", "apps", true},
		"/installed":                {"ops", "ops", false},
		"/installed?namespace=apps": {"apps", "apps", false},
		"/operands?namespace=apps":  {"apps", "apps", true},
	} {
		namespace, stream, slow := main(address)
		must.Equal(t, address, []any{namespace, stream, slow}, want)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for mode, want := range map[string]bool{"": true, "navigate": true, "cors": false, "same-origin": false} {
		r.Header.Set("Sec-Fetch-Mode", mode)
		must.Equal(t, "mode "+mode, navigates(r), want)
	}
}

// TestChangesThatAStreamSees: what was worked out for a user before has another version afterwards, and the number that waits is read again.
func TestChangesThatAStreamSees(t *testing.T) {
	v := newTour(t, nil)
	var changed func()
	v.console.Changes = func(_ context.Context, _ *User, _ string, tell func()) { changed = tell }
	before := v.user.version()
	v.user.waiting(t.Context(), "ops")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes := v.console.follow(ctx, v.user, "ops")
	changed()
	<-changes
	if v.user.version() == before || v.user.tally.read != nil {
		t.Error("nothing is another one")
	}
}
