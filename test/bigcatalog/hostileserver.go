package bigcatalog

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"fairlead.dev/fairlead/api/registry"
)

// hostileServers are registry servers that are made to cost a reader as much as their messages can. Each goes for something else that a reader
// decodes or keeps.
var hostileServers = map[string]*hostileServer{
	// A channel without anything is sent as 2 bytes.
	"server-channels": {pkg: func() *registry.Package {
		return &registry.Package{Channels: slices.Repeat([]*registry.Channel{{}}, 2<<20)}
	}},
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
	pkg    func() *registry.Package
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
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
	p := &registry.Package{Channels: []*registry.Channel{{Name: "stable"}}}
	if s.pkg != nil {
		p = s.pkg()
	}
	p.Name, p.DefaultChannelName = "hostile", "stable"
	return p, nil
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
