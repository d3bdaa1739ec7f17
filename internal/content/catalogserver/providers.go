package catalogserver

import (
	"context"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

// gvkRequest is any of the requests that name an API.
type gvkRequest interface {
	GetGroup() string
	GetVersion() string
	GetKind() string
}

func gvkOf(r gvkRequest) catalog.GVK {
	return catalog.GVK{Group: r.GetGroup(), Version: r.GetVersion(), Kind: r.GetKind()}
}

// GetChannelEntriesThatProvide streams all upgrades to bundles that provide an API.
func (s *registryServer) GetChannelEntriesThatProvide(request *registry.GetAllProvidersRequest, stream grpc.ServerStreamingServer[registry.ChannelEntry]) error {
	return s.sendProviders(stream, request, false)
}

// GetLatestChannelEntriesThatProvide streams the upgrades to heads of channels that provide an API, as far as they are from entries of
// the same channel or by replaces.
func (s *registryServer) GetLatestChannelEntriesThatProvide(request *registry.GetLatestProvidersRequest, stream grpc.ServerStreamingServer[registry.ChannelEntry]) error {
	return s.sendProviders(stream, request, true)
}

// sendProviders sends the upgrades to all places that provide an API, or to the latest.
func (s *registryServer) sendProviders(stream grpc.ServerStreamingServer[registry.ChannelEntry], request gvkRequest, latest bool) error {
	x, err := s.index(stream.Context())
	if err != nil {
		return err
	}
	found := false
	for at := range providers(x, gvkOf(request)) {
		if latest && at.entry.Name != at.channel.Head {
			continue
		}
		from := []string{at.entry.Replaces}
		for _, skip := range at.entry.Skips {
			if _, inside := at.channel.Entry(skip); skip != at.entry.Replaces && (inside || !latest) {
				from = append(from, skip)
			}
		}
		for _, name := range from {
			found = true
			if err := stream.Send(upgrade(at, name)); err != nil {
				return err
			}
		}
	}
	if !found {
		return noProvider("no channel entries found that provide", request)
	}
	return nil
}

// GetDefaultBundleThatProvides answers with the head of a default channel that provides an API, of the first such package by name.
func (s *registryServer) GetDefaultBundleThatProvides(ctx context.Context, request *registry.GetDefaultProviderRequest) (*registry.Bundle, error) {
	x, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	for at := range providers(x, gvkOf(request)) {
		if at.channel.Name == at.pkg.DefaultChannel && at.entry.Name == at.channel.Head {
			return bundleAt(x, at, true)
		}
	}
	return nil, noProvider("no entry found that provides", request)
}

func noProvider(what string, r gvkRequest) error {
	return status.Errorf(codes.NotFound, "%s group:%q version:%q kind:%q", what, r.GetGroup(), r.GetVersion(), r.GetKind())
}

// providers are the entries whose bundle provides an API, by the names of package and channel, the newest version first.
func providers(x *catalog.Index, gvk catalog.GVK) iter.Seq[place] {
	return func(yield func(place) bool) {
		bundles := x.Providers(gvk)
		for len(bundles) > 0 {
			n := 1
			for n < len(bundles) && bundles[n].Package == bundles[0].Package {
				n++
			}
			p, _ := x.Package(bundles[0].Package)
			for _, c := range channelsByName(p) {
				for _, b := range bundles[:n] {
					if e, ok := c.Entry(b.Name); ok && !yield(place{p, c, e}) {
						return
					}
				}
			}
			bundles = bundles[n:]
		}
	}
}
