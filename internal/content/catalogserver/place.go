package catalogserver

import (
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

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

// head is the first entry, that nothing else upgrades from.
func head(c *catalog.ChannelInfo) *catalog.EntryInfo { return c.Entries[0] }

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
