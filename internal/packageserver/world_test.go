package packageserver

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// world is a server without a cluster: whoever asks may do everything.
type world struct {
	*Server
	sources  []v1alpha1.CatalogSource
	excludes map[string]bool
	contents *catalogstore.Set
	clock    *clocktesting.FakePassiveClock
	broken   error // of reading the cluster
}

var created = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

func newWorld(t testing.TB) *world {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the server wants to know its port
	must.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	w := &world{contents: catalogstore.NewSet(), excludes: map[string]bool{}}
	w.clock = clocktesting.NewFakePassiveClock(created.Time)
	w.Server = newServer(Config{REST: &rest.Config{Host: "https://127.0.0.1:1"}, Cluster: w, Contents: w.contents, GlobalNamespace: "olm", Listener: listener,
		Clock: w.clock, Log: logr.Discard()})
	w.config.Authentication.Authenticator = authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: "test"}}, true, nil
	})
	w.config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	must.NoError(t, w.install())
	w.generic.PrepareRun()
	w.contents.OnChange(func(catalog.Ref) { w.refresh(t) })
	t.Cleanup(w.end)
	must.NoError(t, w.Open(t.Context()))
	return w
}

// refresh lets the server look at everything, as it does after a change.
func (w *world) refresh(t testing.TB) {
	t.Helper()
	must.NoError(t, w.storage.present.refresh(t.Context()))
}

// revision is that of what is shown.
func (w *world) revision() string { return revisionText(w.storage.present.now().revision) }

func (w *world) CatalogSources(context.Context) ([]v1alpha1.CatalogSource, error) {
	return slices.Clone(w.sources), w.broken // as a cache does, which exchanges what has changed
}

func (w *world) WithoutGlobal(context.Context) (map[string]bool, error) {
	return maps.Clone(w.excludes), nil
}

// offer declares a catalog with packages, each given as its name and version, name@version.
func (w *world) offer(t testing.TB, ref string, packages ...string) {
	t.Helper()
	namespace, name, _ := strings.Cut(ref, "/")
	source := v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(ref), CreationTimestamp: created, Labels: map[string]string{"of": name}}}
	source.Spec.DisplayName, source.Spec.Publisher = "Catalog "+name, "Publisher of "+name
	w.sources = append(w.sources, source)
	w.publish(t, ref, packages...)
}

func (w *world) publish(t testing.TB, ref string, packages ...string) {
	t.Helper()
	namespace, name, _ := strings.Cut(ref, "/")
	w.contents.Publish(catalog.Ref{Namespace: namespace, Name: name}, catalogstore.Entry{Index: testIndex(t, packages...)})
}

func testIndex(t testing.TB, packages ...string) *catalog.Index {
	t.Helper()
	c := must.Value(catalog.Load(t.Context(), testCatalog(packages...), catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:"+strings.Join(packages, ",")))(t)
	return x
}

func testCatalog(packages ...string) fstest.MapFS {
	var b strings.Builder
	for _, p := range packages {
		name, version, _ := strings.Cut(p, "@")
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"stable","icon":{"base64data":"PHN2Zz4=","mediatype":"image/svg+xml"}}`, name)
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":"stable","entries":[{"name":"%s.v%s"}]}`, name, name, version)
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":"%s.v%s","image":"quay.io/p@sha256:%064d","properties":[{"type":"olm.package","value":{"packageName":%q,"version":%q}},
			{"type":"olm.csv.metadata","value":{"displayName":"<%s> & more","provider":{"name":"Who"},"labels":{"kind":"test"}}}]}`, name, name, version, 1, name, version, name)
	}
	return fstest.MapFS{"catalog.json": {Data: []byte(b.String())}}
}

// ask sends a request for a path below the API's own; headers are given as "Name: value".
func (w *world) ask(t testing.TB, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, ask(t, path, headers...))
	return answer
}

func ask(t testing.TB, path string, headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/packages.operators.coreos.com/v1/"+path, nil)
	for _, h := range headers {
		key, value, _ := strings.Cut(h, ": ")
		r.Header.Set(key, value)
	}
	return r
}
