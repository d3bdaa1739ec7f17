package preview

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// registryServer is the address of a server of the catalog, on loopback.
func registryServer(t *testing.T) string {
	t.Helper()
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(content)}}, catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	var set catalogserver.Set
	set.Publish("c", x)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := catalogserver.NewGRPC(&set, catalogserver.NewHealth(), slog.New(slog.DiscardHandler), catalogserver.GRPCOptions{})
	go s.Serve(listener)
	t.Cleanup(s.Stop)
	return listener.Addr().String()
}

// ready is a CatalogSource that the cluster says it serves.
func ready(spec v1alpha1.CatalogSourceSpec) *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat"}, Spec: spec,
		Status: v1alpha1.CatalogSourceStatus{GRPCConnectionState: &v1alpha1.GRPCConnectionState{LastObservedState: "READY"}}}
}

// TestEveryKindOfCatalogIsRead: as the manager reads it, so that the answer is what it decides.
func TestEveryKindOfCatalogIsRead(t *testing.T) {
	content := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "content"}, Data: map[string]string{"catalog.json": content}}
	// The reference of an image that holds no file-based catalog.
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	ref := strings.TrimPrefix(registry.URL, "http://") + "/run:v1"
	must.Value(image.Push(t.Context(), ref, fstest.MapFS{"bin/server": {Data: []byte("x")}}, map[string]string{}, image.PushOptions{}))(t)
	run := ready(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref})
	run.Status.RegistryServiceStatus = &v1alpha1.RegistryServiceStatus{Protocol: "grpc", ServiceName: "cat", ServiceNamespace: "olm", Port: "50051"}
	server := registryServer(t)
	for name, source := range map[string]*v1alpha1.CatalogSource{
		"a ConfigMap":                   ready(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeConfigmap, ConfigMap: "content"}),
		"a ConfigMap, as it was called": ready(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeInternal, ConfigMap: "content"}),
		"an address":                    ready(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: "cat.olm.svc:50051"}),
		"a pod":                         run,
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{source, content}
			for _, o := range inNamespace("") {
				if _, other := o.(*v1alpha1.CatalogSource); !other {
					objects = append(objects, o)
				}
			}
			q := must.Value(Cluster{Reader: reader(t, objects...), Server: kubernetes129}.Question(t.Context(), "here", "olm"))(t)
			q.Dial = func(ctx context.Context, address string) (net.Conn, error) {
				if address != "cat.olm.svc:50051" {
					return nil, errors.New("not " + address)
				}
				return (&net.Dialer{}).DialContext(ctx, "tcp", server)
			}
			p := must.Value(q.Decide(t.Context(), library(t)))(t)
			var text strings.Builder
			if r := p.Resolution(); r.Write(&text) != nil || !r.Solved() || !strings.Contains(text.String(), "app.v1.1.0") {
				t.Errorf("resolve says:\n%s", &text)
			}
			if o, err := p.Outdated(t.Context()); err != nil || o.Subscriptions[0].Newest != "app.v2.0.0" {
				t.Errorf("outdated: %+v, %v", o, err)
			}
			if w := p.Why("app"); w.State != StateChosen {
				t.Errorf("why: %+v", w)
			}
			if n, err := p.WhyNot(t.Context(), "app", "2.0.0"); err != nil || len(n.Verdicts) != 1 {
				t.Errorf("why-not: %+v, %v", n, err)
			}
		})
	}
}

var kubernetes129 = server{version: "v1.29.3"}

// TestACatalogThatOnlyTheClusterReaches is not called broken, and no one is advised to repair or delete it.
func TestACatalogThatOnlyTheClusterReaches(t *testing.T) {
	source := ready(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: "cat.olm.svc:50051"})
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "app"},
		Spec: &v1alpha1.SubscriptionSpec{Package: "app", CatalogSource: "cat", CatalogSourceNamespace: "olm"}}
	for name, annotations := range map[string]map[string]string{"one by one": nil, "together": {"operators.fairlead.dev/resolve-together": "true"}} {
		t.Run(name, func(t *testing.T) {
			group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "all", Annotations: annotations}}
			q := must.Value(Cluster{Reader: reader(t, source, sub, group), Server: kubernetes129}.Question(t.Context(), "here", "olm"))(t)
			q.Dial = func(context.Context, string) (net.Conn, error) { return nil, errors.New("no such host") }
			p := must.Value(q.Decide(t.Context(), library(t)))(t)
			var text strings.Builder
			r := p.Resolution()
			must.NoError(t, r.Write(&text))
			must.Contain(t, "text", text.String(), "the cluster serves it, but it cannot be read by this command", "no such host", "--catalog olm/cat=DIR|IMAGE")
			if strings.Contains(text.String(), "repair") || strings.Contains(text.String(), "delete") {
				t.Errorf("it advises to mend what works:\n%s", &text)
			}
		})
	}
}
