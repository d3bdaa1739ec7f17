package catalogserver

import (
	"context"
	"iter"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

// registryServer answers api.Registry.
type registryServer struct {
	registry.UnimplementedRegistryServer
	router
}

// ListPackages streams the packages by name.
func (s *registryServer) ListPackages(_ *registry.ListPackageRequest, stream grpc.ServerStreamingServer[registry.PackageName]) error {
	x, err := s.index(stream.Context())
	if err != nil {
		return err
	}
	for _, name := range x.PackageNames() {
		if err := stream.Send(&registry.PackageName{Name: name}); err != nil {
			return err
		}
	}
	return nil
}

// GetPackage answers with a package and its channels by name.
func (s *registryServer) GetPackage(ctx context.Context, request *registry.GetPackageRequest) (*registry.Package, error) {
	x, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	p, err := findPackage(x, request.GetName())
	if err != nil {
		return nil, err
	}
	found := &registry.Package{Name: p.Name, DefaultChannelName: p.DefaultChannel, Deprecation: deprecation(p.Deprecation)}
	for _, c := range channelsByName(p) {
		found.Channels = append(found.Channels, &registry.Channel{Name: c.Name, CsvName: c.Head, Deprecation: deprecation(c.Deprecation)})
	}
	return found, nil
}

// GetBundle answers with an entry of a channel.
func (s *registryServer) GetBundle(ctx context.Context, request *registry.GetBundleRequest) (*registry.Bundle, error) {
	x, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	p, c, err := findChannel(x, request.GetPkgName(), request.GetChannelName())
	if err != nil {
		return nil, err
	}
	e, ok := c.Entry(request.GetCsvName())
	if !ok {
		return nil, status.Errorf(codes.NotFound, "package %q, channel %q, bundle %q not found", p.Name, c.Name, request.GetCsvName())
	}
	return bundleAt(x, place{p, c, e}, true)
}

// GetBundleForChannel answers with the head of a channel.
func (s *registryServer) GetBundleForChannel(ctx context.Context, request *registry.GetBundleInChannelRequest) (*registry.Bundle, error) {
	x, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	p, c, err := findChannel(x, request.GetPkgName(), request.GetChannelName())
	if err != nil {
		return nil, err
	}
	return bundleAt(x, place{p, c, c.Entries[0]}, true) // nothing else upgrades from it
}

// GetBundleThatReplaces answers with the entry that upgrades from another; if there are several, with the one nearest to the head.
func (s *registryServer) GetBundleThatReplaces(ctx context.Context, request *registry.GetReplacementRequest) (*registry.Bundle, error) {
	x, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	if request.GetCsvName() == "" {
		return nil, errNoName
	}
	p, c, err := findChannel(x, request.GetPkgName(), request.GetChannelName())
	if err != nil {
		return nil, err
	}
	for _, e := range c.Entries {
		if e.Replaces == request.GetCsvName() || slices.Contains(e.Skips, request.GetCsvName()) {
			return bundleAt(x, place{p, c, e}, true)
		}
	}
	return nil, status.Errorf(codes.NotFound, "no entry found for package %q, channel %q", p.Name, c.Name)
}

// errNoName refuses the empty name, which entries without replaces would match.
var errNoName = status.Error(codes.InvalidArgument, "csvName is required")

// GetChannelEntriesThatReplace streams all entries that upgrade from a bundle.
func (s *registryServer) GetChannelEntriesThatReplace(request *registry.GetAllReplacementsRequest, stream grpc.ServerStreamingServer[registry.ChannelEntry]) error {
	x, err := s.index(stream.Context())
	if err != nil {
		return err
	}
	name := request.GetCsvName()
	if name == "" {
		return errNoName
	}
	found := false
	for at := range iter.
		Seq[place](func(yield func(place) bool) {
		for _, name := range x.PackageNames() {
			p, _ := x.Package(name)
			for _, c := range channelsByName(p) {
				for _, e := range entriesByName(c) {
					if !yield(place{p, c, e}) {
						return
					}
				}
			}
		}
	}) {
		ways := []string{at.entry.Replaces}
		if at.entry.Replaces != name {
			ways = at.entry.Skips
		}
		for _, from := range ways {
			if from != name {
				continue
			}
			found = true
			if err := stream.Send(upgrade(at, at.entry.Replaces)); err != nil {
				return err
			}
		}
	}
	if !found {
		return status.Errorf(codes.NotFound, "no channel entries found that replace %s", name)
	}
	return nil
}

// ListBundles streams every entry of every channel, by the names of channel, package and bundle.
func (s *registryServer) ListBundles(_ *registry.ListBundlesRequest, stream grpc.ServerStreamingServer[registry.Bundle]) error {
	x, err := s.index(stream.Context())
	if err != nil {
		return err
	}
	var channels []place
	for _, name := range x.PackageNames() {
		p, _ := x.Package(name)
		for _, c := range p.Channels {
			channels = append(channels, place{pkg: p, channel: c})
		}
	}
	slices.SortStableFunc(channels, func(a, b place) int { return strings.Compare(a.channel.Name, b.channel.Name) })
	for _, at := range channels {
		for _, e := range entriesByName(at.channel) {
			b, err := bundleAt(x, place{at.pkg, at.channel, e}, false)
			if err != nil {
				return err
			}
			if err := stream.Send(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// place is a bundle where it stands: the same bundle can be in several channels.
type place struct {
	pkg     *catalog.PackageInfo
	channel *catalog.ChannelInfo
	entry   *catalog.EntryInfo
}

func findPackage(x *catalog.Index, name string) (*catalog.PackageInfo, error) {
	p, ok := x.Package(name)
	if !ok {
		return nil, status.Errorf(codes.NotFound, "package %q not found", name)
	}
	return p, nil
}

func findChannel(x *catalog.Index, pkg, name string) (*catalog.PackageInfo, *catalog.ChannelInfo, error) {
	p, err := findPackage(x, pkg)
	if err != nil {
		return nil, nil, err
	}
	c, ok := p.Channel(name)
	if !ok {
		return nil, nil, status.Errorf(codes.NotFound, "package %q, channel %q not found", pkg, name)
	}
	return p, c, nil
}

func channelsByName(p *catalog.PackageInfo) []*catalog.ChannelInfo {
	return slices.SortedFunc(slices.Values(p.Channels), func(a, b *catalog.ChannelInfo) int { return strings.Compare(a.Name, b.Name) })
}

func entriesByName(c *catalog.ChannelInfo) []*catalog.EntryInfo {
	return slices.SortedFunc(slices.Values(c.Entries), func(a, b *catalog.EntryInfo) int { return strings.Compare(a.Name, b.Name) })
}

// upgrade is the way from one bundle to the one at a place.
func upgrade(at place, from string) *registry.ChannelEntry {
	return &registry.ChannelEntry{PackageName: at.pkg.Name, ChannelName: at.channel.Name, BundleName: at.entry.Name, Replaces: from}
}
