package grpccatalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// writtenBundle is the first bundle in what was written.
func writtenBundle(t *testing.T, text io.Reader) catalog.Bundle {
	t.Helper()
	decoder := json.NewDecoder(text)
	for {
		var b catalog.Bundle
		must.NoError(t, decoder.Decode(&b))
		if b.Schema == catalog.SchemaBundle {
			return b
		}
	}
}

func entry(name string, properties ...*registry.Property) *registry.Bundle {
	return &registry.Bundle{PackageName: "a", ChannelName: "stable", CsvName: name, Version: "1.0.0", Properties: properties}
}

func TestTheDigestDoesNotDependOnTheOrder(t *testing.T) {
	bundles := []*registry.Bundle{entry("a.v1"), entry("a.v2"), entry("a.v3")}
	other := slices.Clone(bundles)
	slices.Reverse(other)
	changed := []*registry.Bundle{entry("a.v1"), entry("a.v2"), entry("a.v3", &registry.Property{Type: "x", Value: "1"})}
	var digests []string
	for _, listed := range [][]*registry.Bundle{bundles, other, changed} {
		s := grpc.NewServer()
		registry.RegisterRegistryServer(s, &oldServer{bundles: listed})
		digest := must.Value(dial(t, listen(t, s)).Write(t.Context(), io.Discard))(t)
		digests = append(digests, digest)
	}
	if digests[0] != digests[1] || digests[0] == digests[2] {
		t.Errorf("digests %v, want the same for the same bundles only", digests)
	}
}

// TestALargeCatalogIsNotKeptInMemory: bundles of a megabyte, always more of them than the memory holds.
func TestALargeCatalogIsNotKeptInMemory(t *testing.T) {
	const limit = 100 << 20
	n := sweep.Of(150, 150, 400)
	large := &registry.Property{Type: "x", Value: fmt.Sprintf("%q", strings.Repeat("x", 1<<20))}
	var bundles []*registry.Bundle
	for i := range n {
		bundles = append(bundles, entry(fmt.Sprintf("a.v%d", i), large))
	}
	s := grpc.NewServer()
	registry.RegisterRegistryServer(s, &oldServer{bundles: bundles})
	w := &measured{}
	must.Value(dial(t, listen(t, s)).Write(t.Context(), w))(t)
	if w.bytes < n<<20 || w.most > limit {
		t.Errorf("%d bytes took %d of memory, want at most %d", w.bytes, w.most, limit)
	}
}

// measured counts what it is given, and what is alive from time to time.
type measured struct{ bytes, most, next int }

func (m *measured) Write(p []byte) (int, error) {
	if m.bytes += len(p); m.bytes > m.next {
		m.next += 50 << 20
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		m.most = max(m.most, int(stats.HeapAlloc))
	}
	return len(p), nil
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	g := newGatherer(io.Discard, NewTurns(), defaultMemory)
	b := entry("a.v1")
	b.Skips = []string{strings.Repeat("s", 1<<20)}
	for range defaultMemory >> 20 {
		if err := g.addEntry(t.Context(), nil, b, func() {}); err != nil {
			must.Contain(t, "result", err.Error(), "takes more memory than the limit")
			return
		}
	}
	t.Error("a server may fill the memory with names")
}

// TestAFullDisk is told.
func TestAFullDisk(t *testing.T) {
	s := grpc.NewServer()
	registry.RegisterRegistryServer(s, &oldServer{bundles: []*registry.Bundle{entry("a.v1")}})
	_, err := dial(t, listen(t, s)).Write(t.Context(), full{})
	must.Fail(t, "Write", err, "no space left")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// silentServer says nothing when it is asked for one thing.
type silentServer struct {
	oldServer
	packages, pkg bool
}

func (s *silentServer) ListPackages(r *registry.ListPackageRequest, stream grpc.ServerStreamingServer[registry.PackageName]) error {
	if s.packages {
		<-stream.Context().Done()
	}
	return s.oldServer.ListPackages(r, stream)
}

func (s *silentServer) GetPackage(ctx context.Context, r *registry.GetPackageRequest) (*registry.Package, error) {
	if s.pkg {
		<-ctx.Done()
	}
	return s.oldServer.GetPackage(ctx, r)
}

func TestSilenceIsTold(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]*silentServer{"packages": {packages: true}, "a package": {pkg: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := grpc.NewServer()
			registry.RegisterRegistryServer(s, server)
			begun := time.Now()
			_, err := dial(t, listen(t, s)).Outline(t.Context())
			if !errors.Is(err, errSilent) || time.Since(begun) > silence+5*time.Second {
				t.Errorf("after %s: %v, want that it says nothing", time.Since(begun), err)
			}
		})
	}
}
