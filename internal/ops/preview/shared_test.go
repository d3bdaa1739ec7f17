package preview

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// heldByServer has content of every catalog, and notes which it is asked for.
type heldByServer struct {
	t     *testing.T
	asked []string
}

func (h *heldByServer) index() *catalog.Index {
	c := must.Value(catalog.Load(h.t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(content)}}, catalog.LoadOptions{}))(h.t)
	return must.Value(catalog.NewIndex(c, "sha256:0"))(h.t)
}

// ClusterCatalog implements Held.
func (h *heldByServer) ClusterCatalog(_ context.Context, name, digest string) *catalog.Index {
	h.asked = append(h.asked, name+"@"+digest)
	return h.index()
}

// CatalogSource implements Held.
func (h *heldByServer) CatalogSource(_ context.Context, ref catalog.Ref) *catalog.Index {
	h.asked = append(h.asked, ref.String())
	return h.index()
}

// TestHeldContent: what a server has is read by those alone who may read its catalog, also where they bring the object themselves.
func TestHeldContent(t *testing.T) {
	source := func(namespace string) *v1alpha1.CatalogSource {
		return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cat", UID: "uid-1"},
			Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "127.0.0.1:1/private:v1"}}
	}
	clustered := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "all", UID: "uid-2"},
		Spec:   olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: "Image", Image: &olmv1.ImageSource{Ref: "127.0.0.1:1/all:v1"}}},
		Status: olmv1.ClusterCatalogStatus{ResolvedSource: &olmv1.ResolvedCatalogSource{Type: "Image", Image: &olmv1.ResolvedImageSource{Ref: "127.0.0.1:1/all@sha256:0"}}}}
	all := fake.NewClientBuilder().WithScheme(must.Value(kubeconfig.Scheme())(t)).WithObjects(source("team"), source("victim"), clustered).Build()
	tenant := fakeapi.Tenant(all, "team")
	h := &heldByServer{t: t}
	l := must.Value(OpenShared(t.TempDir(), image.Config{}, catalog.Limits{}, h))(t)

	mine := must.Value((&Question{Secrets: tenant}).content(t.Context(), l, source("team")))(t)
	must.Equal(t, "packages", len(mine.PackageNames()) > 0, true)
	must.Equal(t, "asked for", h.asked, []string{"team/cat"})
	if _, err := (&Question{Secrets: tenant}).content(t.Context(), l, source("victim")); err == nil {
		t.Error("the catalog of another namespace is read by who names it")
	}
	other := source("team")
	other.UID = "forged"
	if _, err := (&Question{Secrets: tenant}).content(t.Context(), l, other); err == nil {
		t.Error("another object of the name is answered")
	}
	if _, err := (&Question{}).content(t.Context(), l, source("team")); err == nil {
		t.Error("a question without a cluster is answered")
	}
	must.Equal(t, "asked for", h.asked, []string{"team/cat"})

	if x := (&Question{Secrets: tenant}).heldNamed(t.Context(), l, clustered); x != nil {
		t.Error("a ClusterCatalog is read without the right")
	}
	if answer, err := (BrowseCluster{Reader: tenant, Library: l}).V1(t.Context(), ""); err == nil || len(answer.Packages) > 0 {
		t.Errorf("packages without the right: %v, %v", answer.Packages, err)
	}
	must.Equal(t, "asked for", h.asked, []string{"team/cat"})
	answer := must.Value((BrowseCluster{Reader: all, Library: l}).V1(t.Context(), ""))(t)
	must.Equal(t, "packages with the right", len(answer.Packages) > 0, true)
	must.Equal(t, "asked for", h.asked, []string{"team/cat", "all@sha256:0"})
}

// TestSharedLibraries use nothing of the program, nor of other users.
func TestSharedLibraries(t *testing.T) {
	var seen []string
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(registry.Close)
	host := strings.TrimPrefix(registry.URL, "http://")
	auth := filepath.Join(t.TempDir(), "auth.json")
	must.NoError(t, os.WriteFile(auth, []byte(`{"auths":{"`+host+`":{"auth":"bWFuYWdlcjpzZWNyZXQ="}}}`), 0o600))
	t.Setenv("REGISTRY_AUTH_FILE", auth)
	l := must.Value(OpenShared(t.TempDir(), image.Config{AuthFile: auth}, catalog.Limits{}, nil))(t)
	_, err := l.Image(t.Context(), host+"/private:v1", image.Auth{})
	must.Equal(t, "the registry refuses", image.KindOf(err), image.Unauthorized)
	for _, header := range seen {
		if header != "" && header != "Basic Og==" { // no user, and no password
			t.Errorf("the credentials %q are sent", header)
		}
	}
	must.Equal(t, "requests were made", len(seen) > 0, true)

	l.reach(func(context.Context, string) (net.Conn, error) { return nil, errors.New("the way of one user") })
	must.Equal(t, "a way for others", l.throughCluster("registry.victim.svc"), false)
	for _, source := range []string{"/etc", t.TempDir(), ".", "../.."} {
		_, err := l.Read(t.Context(), source)
		must.Fail(t, "the directory "+source, err, "directories are not read here")
	}
	must.NoError(t, l.Collect(t.Context(), 0))
	must.NoError(t, l.Close())
}
