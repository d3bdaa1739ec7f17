package grpccatalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/test/must"
)

const served = `
schema: olm.package
name: a
defaultChannel: stable
---
schema: olm.channel
package: a
name: stable
entries:
- {name: a.v2.0.0, replaces: a.v1.0.0, skips: [a.v1.5.0], skipRange: ">=1.0.0 <2.0.0"}
- {name: a.v1.0.0}
---
schema: olm.channel
package: a
name: fast
entries:
- {name: a.v2.0.0, replaces: a.v1.0.0}
---
schema: olm.bundle
package: a
name: a.v2.0.0
image: quay.io/example/a:v2
properties:
- {type: olm.package, value: {packageName: a, version: 2.0.0}}
- {type: olm.gvk, value: {group: example.com, version: v1, kind: Thing}}
- {type: olm.gvk.required, value: {group: other.example.com, version: v1, kind: Other}}
- {type: olm.package.required, value: {packageName: b, versionRange: ">=1.0.0"}}
- {type: example.com.other, value: ["<x>", 9007199254740993]}
---
schema: olm.bundle
package: a
name: a.v1.0.0
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
# {"kind":"ClusterServiceVersion","spec":{"relatedImages":[{"name":"x","image":"quay.io/example/x:v1"}]}}
- {type: olm.bundle.object, value: {data: eyJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwic3BlYyI6eyJyZWxhdGVkSW1hZ2VzIjpbeyJuYW1lIjoieCIsImltYWdlIjoicXVheS5pby9leGFtcGxlL3g6djEifV19fQ==}}
relatedImages: [{name: x, image: "quay.io/example/x:v1"}]
---
schema: olm.deprecations
package: a
entries:
- {reference: {schema: olm.package}, message: use b}
- {reference: {schema: olm.channel, name: fast}, message: use stable}
- {reference: {schema: olm.bundle, name: a.v1.0.0}, message: use 2.0.0}
`

// listen serves gRPC on loopback until the test ends.
func listen(t testing.TB, s *grpc.Server) string {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	go s.Serve(listener)
	t.Cleanup(s.Stop)
	return listener.Addr().String()
}

func dial(t testing.TB, address string) *Client {
	t.Helper()
	c := must.Value(Dial(address, Options{}))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// original is the index of the catalog that is served, and a client of its server.
func original(t *testing.T) (*catalog.Index, *catalogserver.Health, *Client) {
	t.Helper()
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(served)}}, catalog.LoadOptions{}))(t)
	x := index(t, c)
	var set catalogserver.Set
	set.Publish("c", x)
	health := catalogserver.NewHealth()
	health.Set(true)
	return x, health, dial(t, listen(t, catalogserver.NewGRPC(&set, health, slog.New(slog.DiscardHandler), catalogserver.GRPCOptions{})))
}

func index(t testing.TB, c *catalog.Catalog) *catalog.Index {
	t.Helper()
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	must.NoError(t, x.Problems().Err())
	return x
}

func TestCatalogIsWhatIsServed(t *testing.T) {
	want, _, client := original(t)
	var text bytes.Buffer
	must.Value(client.Write(t.Context(), &text))(t)
	read := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.json": {Data: text.Bytes()}}, catalog.LoadOptions{}))(t)
	got := index(t, read)
	texts := cmp.Transformer("text", func(v interface{ String() string }) string { return v.String() })
	for _, name := range want.PackageNames() {
		a, _ := want.Package(name)
		b, _ := got.Package(name)
		must.Equal(t, name, b, a, texts)
	}
	bundle, _ := got.Bundle("a", "a.v1.0.0")
	manifests, err := got.Manifests(bundle)
	must.NoErrorf(t, err, "got manifests")
	must.Equal(t, "manifests", len(manifests), 1)
}

func TestQuestions(t *testing.T) {
	_, health, client := original(t)
	must.NoErrorf(t, client.Serving(t.Context()), "healthy")
	health.Set(false)
	must.Fail(t, "not healthy", client.Serving(t.Context()), "does not serve now")
	b, err := client.Bundle(t.Context(), "a", "stable", "a.v1.0.0")
	must.NoErrorf(t, err, "err")
	must.Equal(t, "err", b.GetVersion(), "1.0.0")
	if _, err := client.Bundle(t.Context(), "a", "stable", "b"); status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), `get bundle "b" of channel "stable" of package "a"`) {
		t.Errorf("got %v, want NotFound", err)
	}
	if err := client.withPackage(t.Context(), "b", nil); status.Code(err) != codes.NotFound {
		t.Errorf("got %v, want NotFound", err)
	}
	for range client.Bundles(t.Context()) {
		break // what is not wanted is not read
	}
	must.Equal(t, "state", client.State().String(), "READY")
}

func TestDialTakesAddressesOnly(t *testing.T) {
	for _, address := range []string{"", "a", "unix:///run/x.sock", "passthrough:///a:1", "dns:a", "a:b:c"} {
		if c, err := Dial(address, Options{}); err == nil {
			c.Close()
			t.Errorf("%q was taken", address)
		}
	}
}

// oldServer lists one package and the bundles that a test gives it.
type oldServer struct {
	registry.UnimplementedRegistryServer
	bundles []*registry.Bundle
	err     error
}

func (s *oldServer) ListPackages(_ *registry.ListPackageRequest, stream grpc.ServerStreamingServer[registry.PackageName]) error {
	return stream.Send(&registry.PackageName{Name: "a"})
}

func (s *oldServer) GetPackage(context.Context, *registry.GetPackageRequest) (*registry.Package, error) {
	return &registry.Package{Name: "a", DefaultChannelName: "stable"}, nil
}

func (s *oldServer) ListBundles(_ *registry.ListBundlesRequest, stream grpc.ServerStreamingServer[registry.Bundle]) error {
	for _, b := range s.bundles {
		if err := stream.Send(b); err != nil {
			return err
		}
	}
	return s.err
}

func TestOtherServers(t *testing.T) {
	gvk := func(kind string) []*registry.GroupVersionKind {
		return []*registry.GroupVersionKind{{Group: "example.com", Version: "v1", Kind: kind, Plural: "things"}}
	}
	tests := map[string]struct {
		bundle *registry.Bundle
		err    error
		want   []string // properties
		fails  string
	}{
		"everything in fields": {
			bundle: &registry.Bundle{Version: "1.0.0", ProvidedApis: gvk("Thing"), RequiredApis: gvk("Other"), Dependencies: []*registry.Dependency{
				{Type: "olm.gvk", Value: `{"version":"v1", "kind":"Other", "group":"example.com"}`},
				{Type: "olm.package", Value: `{"packageName":"b","version":"<2.0.0"}`},
				{Type: "olm.constraint", Value: `{"failureMessage":"no"}`},
				{Type: "olm.label", Value: `{"label":"storage"}`},
			}},
			want: []string{`olm.package {"packageName":"a","version":"1.0.0"}`, `olm.gvk {"group":"example.com","kind":"Thing","version":"v1"}`,
				`olm.gvk.required {"group":"example.com","kind":"Other","version":"v1"}`, `olm.package.required {"packageName":"b","versionRange":"<2.0.0"}`,
				`olm.constraint {"failureMessage":"no"}`, `olm.label.required {"label":"storage"}`},
		},
		"the same in properties": {
			bundle: &registry.Bundle{Version: "1.0.0", ProvidedApis: gvk("Thing"), Properties: []*registry.Property{
				{Type: "olm.gvk", Value: `{"kind": "Thing", "group": "example.com", "version": "v1"}`},
				{Type: "olm.package", Value: `{"packageName":"a","version":"1.0.0"}`},
			}},
			want: []string{`olm.gvk {"group":"example.com","kind":"Thing","version":"v1"}`, `olm.package {"packageName":"a","version":"1.0.0"}`},
		},
		"manifests, equal ones too": {
			bundle: &registry.Bundle{Version: "1.0.0", Object: []string{"{}", "{}"}, CsvJson: "not JSON"},
			want:   []string{`olm.package {"packageName":"a","version":"1.0.0"}`, `olm.bundle.object {"data":"e30="}`, `olm.bundle.object {"data":"e30="}`},
		},
		"a property that is not JSON": {
			bundle: &registry.Bundle{Properties: []*registry.Property{{Type: "x", Value: "{"}}}, fails: `bundle "a.v1" of package "a": property x: the value is not JSON`,
		},
		"a property that is twice JSON": {
			bundle: &registry.Bundle{Properties: []*registry.Property{{Type: "x", Value: "{}{}"}}}, fails: "more than one value",
		},
		"a property with something behind it": {
			bundle: &registry.Bundle{Properties: []*registry.Property{{Type: "x", Value: "{}]"}}}, fails: "more than one value",
		},
		"a dependency that is not JSON": {
			bundle: &registry.Bundle{Dependencies: []*registry.Dependency{{Type: "olm.package", Value: "["}}}, fails: "dependency olm.package",
		},
		"a server that fails in the middle": {
			bundle: &registry.Bundle{Version: "1.0.0"}, err: errors.New("disk on fire"), fails: "disk on fire",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.bundle.PackageName, test.bundle.ChannelName, test.bundle.CsvName = "a", "stable", "a.v1"
			s := grpc.NewServer()
			registry.RegisterRegistryServer(s, &oldServer{bundles: []*registry.Bundle{test.bundle}, err: test.err})
			var text bytes.Buffer
			_, err := dial(t, listen(t, s)).Write(t.Context(), &text)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("got %v, want %s", err, test.fails)
				}
				return
			}
			must.NoError(t, err)
			var got []string
			for _, p := range writtenBundle(t, &text).Properties {
				var value bytes.Buffer
				must.NoError(t, json.Compact(&value, p.Value))
				got = append(got, p.Type+" "+value.String())
			}
			must.Equal(t, "properties", got, test.want)
		})
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"b":1,"a":[1.0,1e400,"<"]}`, "1 2", "\xff", `"\ud800"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, err := canonical(text)
		if err != nil {
			return
		}
		if twice, err := canonical(once); err != nil || twice != once {
			t.Fatalf("%q becomes %q, which becomes %q, %v", text, once, twice, err)
		}
	})
}
