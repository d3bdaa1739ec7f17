package bigcatalog

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec of all other messages
	"google.golang.org/grpc/mem"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/test/must"
)

// hostileServers are registry servers that are made to cost a reader as much as their messages can. Each goes for something else that a reader
// decodes or keeps.
var hostileServers = map[string]*hostileServer{
	// A channel without anything is sent as 2 bytes: the number and type of its field, and its size.
	"server-channels": {pkg: bytes.Repeat([]byte{2<<3 | 2, 0}, 8<<20)},
	// So is a property.
	"server-properties": {bundle: func(int) *registry.Bundle {
		return &registry.Bundle{Properties: slices.Repeat([]*registry.Property{{}}, 4<<20+1)}
	}},
	// A value of JSON takes as much.
	"server-values": {bundle: func(int) *registry.Bundle {
		return &registry.Bundle{Properties: []*registry.Property{{Type: "x", Value: "[" + strings.Repeat("0,", 2<<20) + "0]"}}}
	}},
	// Entries of channels are kept until all are known.
	"server-entries": {bundle: func(i int) *registry.Bundle {
		return &registry.Bundle{ChannelName: "stable", CsvName: fmt.Sprintf("v%d", i), BundlePath: "x", Skips: slices.Repeat([]string{"s"}, 100)}
	}},
}

// hostileServer has one package, and a list of bundles without an end.
type hostileServer struct {
	registry.UnimplementedRegistryServer
	pkg    []byte // encoded; nil for one like those of others
	bundle func(i int) *registry.Bundle
}

// HostileServerKinds are the names of the hostile registry servers.
func HostileServerKinds() []string {
	return []string{"server-channels", "server-entries", "server-properties", "server-values"}
}

// ServeHostile serves a hostile catalog until the test ends, and returns the address.
func ServeHostile(t testing.TB, kind string) string {
	t.Helper()
	hostile := hostileServers[kind]
	if hostile == nil {
		t.Fatalf("there is no hostile registry server %q, but %v", kind, HostileServerKinds())
	}
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := grpc.NewServer(grpc.ForceServerCodecV2(hostileCodec{encoding.GetCodecV2("proto"), hostile.pkg}))
	registry.RegisterRegistryServer(s, hostile)
	go func() { _ = s.Serve(listener) }() // it ends when the server is stopped
	t.Cleanup(s.Stop)
	return listener.Addr().String()
}

// ListPackages implements the registry.
func (s *hostileServer) ListPackages(_ *registry.ListPackageRequest, stream grpc.ServerStreamingServer[registry.PackageName]) error {
	return stream.Send(&registry.PackageName{Name: "hostile"})
}

// GetPackage implements the registry.
func (s *hostileServer) GetPackage(context.Context, *registry.GetPackageRequest) (*registry.Package, error) {
	return &registry.Package{Name: "hostile", DefaultChannelName: "stable", Channels: []*registry.Channel{{Name: "stable"}}}, nil
}

// hostileCodec sends a package that is encoded already, at once.
type hostileCodec struct {
	encoding.CodecV2
	pkg []byte
}

// Marshal implements the codec.
func (c hostileCodec) Marshal(v any) (mem.BufferSlice, error) {
	if _, ok := v.(*registry.Package); ok && c.pkg != nil {
		return mem.BufferSlice{mem.SliceBuffer(c.pkg)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// ListBundles implements the registry.
func (s *hostileServer) ListBundles(_ *registry.ListBundlesRequest, stream grpc.ServerStreamingServer[registry.Bundle]) error {
	if s.bundle == nil {
		return nil
	}
	for i := 0; ; i++ {
		b := s.bundle(i)
		b.PackageName = "hostile"
		if err := stream.Send(b); err != nil {
			return err
		}
	}
}
