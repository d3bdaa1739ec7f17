package grpccatalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	packages "fairlead.dev/fairlead/internal/packageserver"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// readBack is the index of what a server says, as the manager makes it.
func readBack(t testing.TB, client *Client) *catalog.Index {
	t.Helper()
	var text bytes.Buffer
	must.Value(client.Write(t.Context(), &text))(t)
	read := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.json": {Data: text.Bytes()}}, catalog.LoadOptions{}))(t)
	return index(t, read)
}

// TestPackagesAreShownAsTheyAreServed: lists of bundles have no ClusterServiceVersions of those with an image, and what a package looks like is
// read from its heads. Every package of a public catalog is shown as it would be from the catalog itself, which is read within a second or two.
func TestPackagesAreShownAsTheyAreServed(t *testing.T) {
	tree := fstest.MapFS{}
	publicdata.Each(t, publicdata.OwnCatalog, func(name string, content func() []byte) {
		if base := path.Base(name); !strings.HasPrefix(base, ".") {
			tree[name] = &fstest.MapFile{Data: content()}
		}
	})
	c := must.Value(catalog.Load(t.Context(), tree, catalog.LoadOptions{}))(t)
	want := index(t, c)
	var set catalogserver.Set
	set.Publish("c", want)
	client := dial(t, listen(t, catalogserver.NewGRPC(&set, catalogserver.NewHealth(), slog.New(slog.DiscardHandler), catalogserver.GRPCOptions{})))
	begun := time.Now()
	got := readBack(t, client)
	t.Logf("%d packages were read and indexed in %s", len(got.PackageNames()), time.Since(begun))
	shown, icons := 0, 0
	for _, name := range want.PackageNames() {
		a, ok, err := packages.Convert(want, name)
		if !ok || err != nil {
			t.Errorf("package %s is not shown from the catalog itself: %v", name, err)
			continue
		}
		b, ok, err := packages.Convert(got, name)
		if !ok || err != nil {
			t.Errorf("package %s is not shown: %v", name, err)
			continue
		}
		shown++
		must.Equal(t, name, b, a, cmp.Transformer("text", func(v interface{ String() string }) string { return v.String() }))
		before, _, _ := packages.FindIcon(want, name)
		after, _, _ := packages.FindIcon(got, name)
		if before != nil {
			icons++
		}
		must.Equal(t, name, after, before)
	}
	if shown < 30 || icons < 20 {
		t.Errorf("%d packages and %d icons were compared", shown, icons)
	}
}

// headServer has channels whose heads it answers as a test says.
type headServer struct {
	oldServer
	channels []*registry.Channel
	answer   func(channel string) (*registry.Bundle, error)
	asked    atomic.Int32
}

func (s *headServer) GetPackage(context.Context, *registry.GetPackageRequest) (*registry.Package, error) {
	return &registry.Package{Name: "a", DefaultChannelName: "c0", Channels: s.channels}, nil
}

func (s *headServer) GetBundleForChannel(_ context.Context, r *registry.GetBundleInChannelRequest) (*registry.Bundle, error) {
	s.asked.Add(1)
	return s.answer(r.GetChannelName())
}

// serving is a server with n channels of one bundle each, of which the first two have the same one.
func serving(n int, answer func(channel string) (*registry.Bundle, error)) *headServer {
	s := &headServer{answer: answer}
	for i := range n {
		channel, name := fmt.Sprintf("c%d", i), fmt.Sprintf("a.v%d", max(i, 1))
		s.channels = append(s.channels, &registry.Channel{Name: channel, CsvName: name})
		s.bundles = append(s.bundles, &registry.Bundle{PackageName: "a", ChannelName: channel, CsvName: name, Version: fmt.Sprintf("%d.0.0", max(i, 1)), BundlePath: "quay.io/a:v" + name})
	}
	return s
}

func withCSV(channel, name string) *registry.Bundle {
	csv := fmt.Sprintf(`{"kind":"ClusterServiceVersion","metadata":{"name":%q},"spec":{"displayName":"of %s","icon":[{"base64data":"aWNvbg==","mediatype":"image/png"}],`+
		`"install":{"spec":{"deployments":[{"spec":{"template":{"spec":{"containers":[{"image":"quay.io/run:v1"}]}}}}]}},"relatedImages":[{"name":"x","image":"quay.io/x:v1"}]}}`, name, channel)
	return &registry.Bundle{PackageName: "a", ChannelName: channel, CsvName: name, CsvJson: csv, Object: []string{csv, "{}"}}
}

// TestHeadsAreAskedForOnce: a bundle that several channels have at their head is asked for once, and what is not a head is not asked for.
func TestHeadsAreAskedForOnce(t *testing.T) {
	s := serving(3, func(channel string) (*registry.Bundle, error) {
		return withCSV(channel, map[string]string{"c0": "a.v1", "c1": "a.v1", "c2": "a.v2"}[channel]), nil
	})
	s.bundles = append(s.bundles, &registry.Bundle{PackageName: "a", ChannelName: "c2", CsvName: "a.v0", Version: "0.1.0", BundlePath: "quay.io/a:v0"})
	s.bundles[2].Replaces = "a.v0"
	server := grpc.NewServer()
	registry.RegisterRegistryServer(server, s)
	x := readBack(t, dial(t, listen(t, server)))
	must.Equal(t, "heads were asked", s.asked.Load(), 2)
	p, _ := x.Package("a")
	if p.Icon == nil || string(p.Icon.Data) != "icon" || p.Icon.MediaType != "image/png" {
		t.Errorf("the icon of the package is %+v, want that of the head of its default channel", p.Icon)
	}
	for name, want := range map[string]bool{"a.v1": true, "a.v2": true, "a.v0": false} {
		b, _ := x.Bundle("a", name)
		text, err := x.CSVMetadata(b)
		must.NoErrorf(t, err, "%s", name)
		must.Equal(t, name, text != nil, want)
		must.Empty(t, name, must.Value(x.Manifests(b))(t))
		var images []string
		for _, i := range b.RelatedImages {
			images = append(images, i.Image)
		}
		if diff := cmp.Diff([]string{"quay.io/x:v1", "quay.io/run:v1"}, images); want && diff != "" {
			t.Errorf("images of %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAHeadThatCannotBeDescribed is served all the same: what is installed is in its image.
func TestAHeadThatCannotBeDescribed(t *testing.T) {
	for name, answer := range map[string]func(channel string) (*registry.Bundle, error){
		"the server fails":         func(string) (*registry.Bundle, error) { return nil, errors.New("no such row") },
		"the server has no call":   func(string) (*registry.Bundle, error) { return nil, status.Error(codes.Unimplemented, "no") },
		"another bundle":           func(channel string) (*registry.Bundle, error) { return withCSV(channel, "b.v1"), nil },
		"no ClusterServiceVersion": func(channel string) (*registry.Bundle, error) { return &registry.Bundle{CsvName: "a.v1"}, nil },
		"no JSON": func(channel string) (*registry.Bundle, error) {
			return &registry.Bundle{CsvName: "a.v1", CsvJson: "{"}, nil
		},
		"no metadata": func(channel string) (*registry.Bundle, error) {
			return &registry.Bundle{CsvName: "a.v1", CsvJson: `{"kind":"ClusterServiceVersion","spec":{"displayName":["x"]}}`}, nil
		},
		"too large": func(channel string) (*registry.Bundle, error) {
			return &registry.Bundle{CsvName: "a.v1", CsvJson: strings.Repeat("x", bundleBound.wire+1)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := grpc.NewServer()
			registry.RegisterRegistryServer(server, serving(3, func(channel string) (*registry.Bundle, error) {
				if channel == "c2" {
					return withCSV(channel, "a.v2"), nil
				}
				return answer(channel)
			}))
			x := readBack(t, dial(t, listen(t, server)))
			for bundle, want := range map[string]bool{"a.v1": false, "a.v2": true} {
				b, ok := x.Bundle("a", bundle)
				if !ok {
					t.Fatalf("%s is not there", bundle)
				}
				must.Equal(t, bundle, (must.Value(x.CSVMetadata(b))(t) != nil), want)
			}
		})
	}
}

// TestSilentHeadsAreGivenUp: a server that answers everything else is read in spite of them, and before its time is over.
func TestSilentHeadsAreGivenUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := serving(50, func(string) (*registry.Bundle, error) { <-release; return nil, errors.New("too late") })
	t.Cleanup(func() { close(release) })
	server := grpc.NewServer()
	registry.RegisterRegistryServer(server, s)
	client := dial(t, listen(t, server))
	begun := time.Now()
	must.Equal(t, "packages", len(readBack(t, client).PackageNames()), 1)
	if took := time.Since(begun); took > 2*silence || s.asked.Load() > 2*headsAtOnce {
		t.Errorf("it took %s, and %d heads were asked for", took, s.asked.Load())
	}
}
