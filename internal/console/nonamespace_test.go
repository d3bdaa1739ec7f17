package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// How a page takes a namespace that does not exist.
const (
	refusesIt = "refuses" // for there is nothing to be shown
	asksOn    = "asks"    // shows its form with what is wrong
	goesOn    = "goes on" // shows what may be installed there, in a namespace that an installation creates, and notes that nothing is installed
	besides   = "besides" // has nothing of a namespace, or of the one that its path names
)

// ofNoNamespace is how each page takes it.
var ofNoNamespace = map[string]string{
	"/approvals": refusesIt, "/installed": refusesIt, "/sources": refusesIt, "/operands": refusesIt, "/operands/{definition}": refusesIt, "/operands/{definition}/object": refusesIt, "/operands/{definition}/new": refusesIt,
	"/why": asksOn, "/catalog": goesOn, "/package/{name}": goesOn, "/install": besides, "/jobs": besides, "/docs": besides, "/docs/{page}": besides,
	"/source/v0/{namespace}/{name}": besides, "/source/v0/{namespace}/{name}/update": besides, "/source/v1/{name}": besides, "/source/v1/{name}/update": besides,
}

// TestNamespaceThatIsNotThere: no page shows a namespace that does not exist as one in which there is nothing.
func TestNamespaceThatIsNotThere(t *testing.T) {
	v := newShopping(t)
	visited := 0
	for _, pattern := range Paths(v.console) {
		if strings.HasPrefix(pattern, apiPrefix) || strings.HasPrefix(pattern, "/icon") || strings.HasPrefix(pattern, operatorPath) {
			continue
		}
		how, known := ofNoNamespace[pattern]
		if !known {
			t.Errorf("it is not known how the page %s takes a namespace that does not exist", pattern)
		}
		visited++
		address := strings.NewReplacer("{definition}", "kites.example.com", "{name}", "greeter-operator").Replace(pattern) + "?namespace=nope"
		if how == besides {
			continue
		}
		for _, address := range []string{address, address + "&name=mine", address + "&kind=resolve"} {
			if how == goesOn && strings.Contains(address, "&") {
				continue
			}
			page := v.get(address)
			must.Contain(t, address, page.says(), "there is no such namespace")
			want := http.StatusOK
			if how == refusesIt {
				want = http.StatusNotFound
				must.Contain(t, address, page.says(), "What to do: choose a namespace in the header")
				must.Lack(t, address, page.says(), commandWords...)
			}
			must.Equal(t, "status of "+address, page.status, want)
			var answer map[string]json.RawMessage
			if status := v.json(address, &answer); how != goesOn {
				must.Equal(t, "status for programs, "+address, status, http.StatusNotFound)
				must.Contain(t, "for programs, "+address, string(answer["error"]), "there is no such namespace")
			}
		}
	}
	must.Equal(t, "pages", visited, len(ofNoNamespace))
	for _, address := range []string{"/approvals?namespace=ops", "/approvals", "/why?namespace=ops"} {
		page := v.get(address)
		must.Equal(t, "status of "+address, page.status, http.StatusOK)
		must.Lack(t, address, page.says(), "no such namespace")
	}
}

// TestNamespaceOfOthers: a tenant is answered the same about a namespace of others as about one that does not exist: the API server says no more.
func TestNamespaceOfOthers(t *testing.T) {
	var objects []client.Object
	for _, name := range []string{"ops", "theirs"} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	v := newTour(t, func(c client.WithWatch) client.WithWatch { return fakeapi.Tenant(c, "ops") }, append(objects, subscribes("theirs", "mine")...)...)
	v.lacking = []string{"list subscriptions"}
	for pattern, how := range ofNoNamespace {
		if how == besides {
			continue
		}
		answer := func(namespace string) string {
			address := strings.NewReplacer("{definition}", "kites.example.com", "{name}", "mine").Replace(pattern) + "?namespace=" + namespace
			w := v.ask(http.MethodGet, address, nil)
			page := v.parse(w)
			must.Lack(t, address, page.text("main"), "no such namespace")
			return http.StatusText(w.Code) + strings.ReplaceAll(page.text("main"), namespace, "X")
		}
		must.Equal(t, pattern, answer("theirs"), answer("nowhere"))
	}
}
