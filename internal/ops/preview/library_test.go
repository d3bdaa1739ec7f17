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
}

// TestThroughTheCluster: which registries are reached by way of the cluster, and none before one is asked about.
func TestThroughTheCluster(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	l := &Library{}
	must.Equal(t, "without a cluster", l.throughCluster("registry.cat.svc"), false)
	l.reach(func(context.Context, string) (net.Conn, error) { return nil, errors.New("no") })
	for host, want := range map[string]bool{"registry.cat.svc": true, "registry.cat.svc.cluster.local": true, "registry.cat.svc.example.com": false, "cat.svc": false, "registry.example.com": false,
		"10.96.0.7": true, "fd00::7": true, "127.0.0.1": false, "::1": false, "localhost": false, "": false} {
		must.Equal(t, host, l.throughCluster(host), want)
	}
	t.Setenv("HTTPS_PROXY", "http://proxy.lan:3128")
	t.Setenv("NO_PROXY", "10.96.0.0/16")
	for host, want := range map[string]bool{"registry.cat.svc": true, "10.96.0.7": true, "192.0.2.7": false} {
		must.Equal(t, host+" beside a proxy", l.throughCluster(host), want)
	}
}

// TestReachWhileImagesAreRead: several questions share a library.
func TestReachWhileImagesAreRead(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	r := &bundleio.Renderer{}
	l := must.Value(OpenLibrary(t.Context(), r))(t)
	t.Cleanup(func() { must.NoError(t, errors.Join(l.Close(), r.Close())) })
	refuse := func(context.Context, string) (net.Conn, error) { return nil, errors.New("none of its pods is ready") }
	l.reach(refuse)
	read := make(chan error)
	for i := range 4 {
		go func() {
			_, err := l.Image(t.Context(), fmt.Sprintf("registry-%d.cat.svc:5000/cat:v1", i), image.Auth{})
			read <- err
		}()
	}
	for range 4 {
		l.reach(refuse)
		must.Fail(t, "read", <-read, "none of its pods is ready")
	}
}

// TestExplain: of a registry that does not answer it is said by which way it was asked.
func TestExplain(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		t.Setenv(name, "")
	}
	through, direct := &Library{}, &Library{}
	through.reach(func(context.Context, string) (net.Conn, error) { return nil, errors.New("no") })
	for name, test := range map[string]struct {
		l          *Library
		host, want string
	}{
		"another registry":                   {through, "registry.lan", "; it was asked from this machine: where only the cluster reaches it, name a mirror in registries.conf, or run the command in a pod of the cluster"},
		"without a cluster":                  {direct, "registry.lan", "; it was asked from this machine: where only the cluster reaches it"},
		"a Service":                          {through, "registry.cat.svc:5000", "; it was asked as Service cat/registry of the cluster: kubectl -n cat get service,pods shows whether it and its pods are there"},
		"a Service, without a cluster":       {direct, "registry.cat.svc:5000", "; it was asked from this machine, as no cluster is asked: Service cat/registry is reached where a cluster is named, or in a pod of it"},
		"an address":                         {through, "10.96.0.7:5000", "; it was asked from this machine: if a Service of the cluster has this address, and only the cluster reaches it, use the name of the Service, NAME.NAMESPACE.svc"},
		"an address, without a cluster":      {direct, "10.96.0.7:5000", "; it was asked from this machine: where only the cluster reaches it"},
		"an address of IPv6":                 {through, "[fd00::7]:5000", "if a Service of the cluster has this address"},
		"a host that only looks like one of": {through, "registry.cat.svc.example.com", "; it was asked from this machine: where only the cluster reaches it"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.l.Explain(fmt.Errorf("read catalog: %w", &image.Error{Kind: image.Unavailable, Op: "pull", Ref: test.host + "/cat:v1", Reason: "no such host"}))
			must.Fail(t, "read", err, test.host+"/cat:v1", test.want)
		})
	}
	other := &image.Error{Kind: image.NotFound, Op: "pull", Ref: "registry.lan/cat:v1", Reason: "no such tag"}
	must.Equal(t, "of one that answers", through.Explain(other).Error(), other.Error())
	must.NoError(t, through.Explain(nil))
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
