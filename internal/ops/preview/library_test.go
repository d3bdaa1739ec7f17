package preview

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// TestRegistryOfTheCluster: an image of a registry that is a Service of the cluster is read through it, and one of another registry is not.
func TestRegistryOfTheCluster(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	at := strings.TrimPrefix(registry.URL, "http://")
	files := must.Value(image.Files(map[string][]byte{"configs/kite/catalog.yaml": []byte(browseContent)}))(t)
	must.Value(image.Push(t.Context(), at+"/cat:v1", files, image.CatalogLabels(), image.PushOptions{}))(t)

	const service = "registry.cat.svc:5000"
	r := &bundleio.Renderer{Config: image.Config{Insecure: []string{service}}}
	l := must.Value(OpenLibrary(t.Context(), r))(t)
	t.Cleanup(func() { must.NoError(t, errors.Join(l.Close(), r.Close())) })
	var dialled []string
	l.reach(func(ctx context.Context, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return (&net.Dialer{}).DialContext(ctx, "tcp", at)
	})
	l.reach(nil) // of a question that knows no cluster
	x := must.Value(l.Image(t.Context(), service+"/cat:v1", image.Auth{}))(t)
	must.Equal(t, "packages", x.PackageNames(), []string{"kite", "wind"})
	must.NoError(t, x.Close())
	must.Equal(t, "dialled", len(dialled) > 0 && dialled[0] == service, true)

	dialled = nil
	x = must.Value(l.Image(t.Context(), at+"/cat:v1", image.Auth{}))(t)
	must.NoError(t, x.Close())
	must.Empty(t, "dialled for another registry", dialled)
	for host, want := range map[string]bool{"registry.cat.svc": true, "registry.cat.svc.cluster.local": true, "cat.svc": false, "registry.example.com": false, "svc": false, "": false} {
		must.Equal(t, "isService "+host, isService(host), want)
	}
}

// TestFromHere: of a registry that does not answer it is said who asked it.
func TestFromHere(t *testing.T) {
	err := FromHere(fmt.Errorf("read catalog: %w", &image.Error{Kind: image.Unavailable, Op: "pull", Ref: "registry.lan/cat:v1", Reason: "no such host"}))
	must.Fail(t, "read", err, "registry.lan/cat:v1", "it was asked from this machine: where only the cluster reaches it, name a mirror in registries.conf")
	other := &image.Error{Kind: image.NotFound, Op: "pull", Ref: "registry.lan/cat:v1", Reason: "no such tag"}
	must.Equal(t, "of one that answers", FromHere(other).Error(), other.Error())
	must.NoError(t, FromHere(nil))
}

// TestBundleImageAsACatalog is called what it is.
func TestBundleImageAsACatalog(t *testing.T) {
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	ref := strings.TrimPrefix(registry.URL, "http://") + "/kite:v1"
	files := must.Value(image.Files(map[string][]byte{"manifests/csv.yaml": []byte("kind: ClusterServiceVersion")}))(t)
	must.Value(image.Push(t.Context(), ref, files, image.BundleLabels("kite", []string{"stable"}, "stable"), image.PushOptions{}))(t)
	_, err := library(t).Read(t.Context(), ref)
	must.Fail(t, "read", err, ref, "it is a bundle image, of package kite", "fairlead catalog add-bundle")
}
