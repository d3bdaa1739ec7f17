package catalogserver

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// onePackage is a catalog with a package of the given name.
func onePackage(t testing.TB, name string) *catalog.Index {
	t.Helper()
	x := must.Value(catalog.NewIndex(&catalog.Catalog{
		Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: name, DefaultChannel: "stable"}},
		Channels: []catalog.Channel{{Schema: catalog.SchemaChannel, Name: "stable", Package: name, Entries: []catalog.Entry{{Name: name + ".v1.0.0"}}}},
		Bundles: []catalog.Bundle{{Schema: catalog.SchemaBundle, Name: name + ".v1.0.0", Package: name, Image: "quay.io/example/" + name + ":v1",
			Properties: []catalog.Property{{Type: catalog.PropertyPackage, Value: []byte(`{"packageName":"` + name + `","version":"1.0.0"}`)}}}},
	}, "sha256:"+name))(t)
	must.NoError(t, x.Problems().Err())
	return x
}

// packageNames asks for the packages of the catalog that a client gets to.
func packageNames(ctx context.Context, conn *grpc.ClientConn) ([]string, error) {
	stream, err := registry.NewRegistryClient(conn).ListPackages(ctx, &registry.ListPackageRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		name, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name.GetName())
	}
}

func TestRouting(t *testing.T) {
	one := []string{"operators"}
	many := []string{"operators", "operators.olm", "certified", "with.dots"}
	tests := map[string]struct {
		catalogs  []string
		authority string
		metadata  string
		want      string // the catalog, which has a package of that name without dots
		code      codes.Code
	}{
		"one catalog needs no name":                      {one, "127.0.0.1:50051", "", "operators", codes.OK},
		"nor the right host":                             {one, "elsewhere.example.com", "", "operators", codes.OK},
		"but a name in the metadata has to be right":     {one, "operators", "elsewhere", "", codes.NotFound},
		"an empty name in the metadata names nothing":    {one, "operators", " ", "", codes.NotFound},
		"the first label":                                {many, "certified", "", "certified", codes.OK},
		"with a port":                                    {many, "certified:50051", "", "certified", codes.OK},
		"capital letters and the dot at the end":         {many, "Certified.:50051", "", "certified", codes.OK},
		"a service name":                                 {many, "certified.olm.svc:50051", "", "certified", codes.OK},
		"a full service name":                            {many, "certified.olm.svc.cluster.local:50051", "", "certified", codes.OK},
		"the longest beginning that is a catalog counts": {many, "operators.olm.svc:50051", "", "operatorsolm", codes.OK},
		"in another namespace the shorter one":           {many, "operators.other.svc:50051", "", "operators", codes.OK},
		"a name with dots":                               {many, "with.dots:50051", "", "withdots", codes.OK},
		"a part of a label is no label":                  {many, "certified2:50051", "", "", codes.NotFound},
		"an address names none of many":                  {many, "127.0.0.1:50051", "", "", codes.NotFound},
		"nor does an address of version six":             {many, "[::1]:50051", "", "", codes.NotFound},
		"metadata":                                       {many, "127.0.0.1:50051", "certified", "certified", codes.OK},
		"metadata counts more than the host":             {many, "operators", "certified", "certified", codes.OK},
		"metadata that names none":                       {many, "operators", "nobody", "", codes.NotFound},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			catalogs := map[string]*catalog.Index{}
			for _, c := range test.catalogs {
				catalogs[c] = onePackage(t, strings.ReplaceAll(c, ".", ""))
			}
			conn := dial(t, serve(t, catalogs).address, grpc.WithAuthority(test.authority))
			ctx := soon(t)
			if test.metadata != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, MetadataKey, test.metadata)
			}
			names, err := packageNames(ctx, conn)
			if status.Code(err) != test.code {
				t.Fatalf("got %v, %v, want code %s", names, err, test.code)
			}
			if test.want != "" && (len(names) != 1 || names[0] != test.want) {
				t.Errorf("answered from %v, want %s", names, test.want)
			}
		})
	}
}

func TestNothingIsMissingBeforeTheServerIsReady(t *testing.T) {
	s := serve(t, nil)
	s.health.Set(false)
	conn := dial(t, s.address)
	if _, err := packageNames(soon(t), conn); status.Code(err) != codes.Unavailable {
		t.Errorf("before: %v, want Unavailable", err)
	}
	s.health.Set(true)
	if _, err := packageNames(soon(t), conn); status.Code(err) != codes.NotFound {
		t.Errorf("when ready: %v, want NotFound", err)
	}
}

func FuzzHostOf(f *testing.F) {
	for _, seed := range []string{"", "a", "a.b.svc:50051", "[::1]:1", "[::1", "a:b:c", "A.", "..", ":1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, authority string) {
		host := hostOf([]string{authority})
		for name, steps := host, 0; name != ""; name, steps = parent(name), steps+1 {
			if steps > maxHost {
				t.Fatalf("%q takes more than %d look-ups", authority, maxHost)
			}
		}
	})
}
