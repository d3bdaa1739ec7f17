package catalogserver

import (
	"errors"
	"io"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/grpc"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
)

// TestPublicCatalogsAreServed asks for everything that there is in public catalogs.
func TestPublicCatalogsAreServed(t *testing.T) {
	for _, archive := range []string{publicdata.OwnCatalog, publicdata.FullCatalog} {
		t.Run(archive, func(t *testing.T) {
			if archive == publicdata.FullCatalog && !sweep.Whole() {
				t.Skip("the large catalog takes some seconds: it is tried with FAIRLEAD_TEST_SWEEP=1")
			}
			tree := fstest.MapFS{}
			publicdata.Each(t, archive, func(name string, content func() []byte) {
				_, inside, _ := strings.Cut(name, "/")
				if base := path.Base(inside); !strings.HasPrefix(base, ".") {
					tree[inside] = &fstest.MapFile{Data: content()}
				}
			})
			x := indexOf(t, tree, "sha256:"+archive)
			must.NoError(t, x.Problems().Err())
			askForEverything(t, x, dial(t, serve(t, map[string]*catalog.Index{"public": x}).address, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20))))
		})
	}
}

func askForEverything(t *testing.T, x *catalog.Index, conn *grpc.ClientConn) {
	client := registry.NewRegistryClient(conn)
	entries, gvks := 0, map[catalog.GVK]bool{}
	for _, name := range x.PackageNames() {
		p := must.Value(client.GetPackage(t.Context(), &registry.GetPackageRequest{Name: name}))(t)
		for _, channel := range p.GetChannels() {
			info, _ := x.Package(name)
			c, _ := info.Channel(channel.GetName())
			for _, e := range c.Entries {
				entries++
				for _, gvk := range e.Bundle.Provides {
					gvks[gvk] = true
				}
				// Ask for a bundle and expects something that can be shown of it.
				request := &registry.GetBundleRequest{PkgName: name, ChannelName: channel.GetName(), CsvName: e.Name}
				b, err := client.GetBundle(t.Context(), request)
				if err != nil {
					t.Error(err)
					continue
				}
				if b.GetCsvName() != request.GetCsvName() || b.GetVersion() == "" || b.GetReplaces() != "" || len(b.GetSkips()) > 0 ||
					!strings.Contains(b.GetCsvJson(), `"`+b.GetCsvName()+`"`) || len(b.GetObject()) == 0 {
					t.Errorf("%v is answered by a bundle %s %s, replaces %q, %d skips, %d objects, CSV of %d bytes", request,
						b.GetCsvName(), b.GetVersion(), b.GetReplaces(), len(b.GetSkips()), len(b.GetObject()), len(b.GetCsvJson()))
				}
			}
		}
	}
	stream := must.Value(client.ListBundles(t.Context(), &registry.ListBundlesRequest{}))(t)
	listed := 0
	for {
		b, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		must.NoError(t, err)
		if listed++; b.GetBundlePath() != "" && (b.GetCsvJson() != "" || len(b.GetObject()) > 0) {
			t.Errorf("%s has an image and manifests", b.GetCsvName())
		}
	}
	if listed != entries || entries == 0 || len(gvks) == 0 {
		t.Errorf("%d entries were listed, there are %d, with %d APIs", listed, entries, len(gvks))
	}
	for gvk := range gvks {
		provided, err := client.GetChannelEntriesThatProvide(t.Context(), &registry.GetAllProvidersRequest{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind})
		if err == nil {
			_, err = provided.Recv()
		}
		if err != nil {
			t.Errorf("%s: %v", gvk, err)
		}
	}
}
