package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// add serves what is sound of a package, if that includes a channel.
func (x *Index) add(p *packageModel) {
	if p.broken {
		return
	}
	info := &PackageInfo{
		Name:           p.source.Name,
		DefaultChannel: p.source.DefaultChannel,
		Description:    p.source.Description,
		Icon:           p.source.Icon,
		Deprecation:    p.reasons[Reference{Schema: SchemaPackage}],
		Unusable:       p.unusable(),
	}
	var loose []*ChannelInfo
	for _, c := range p.order {
		if channel := p.channel(c); channel != nil {
			info.Channels = append(info.Channels, channel)
		} else if channel := p.loose(c); channel != nil {
			loose = append(loose, channel)
		}
	}
	info.order()
	for _, c := range slices.Concat(info.Channels, loose) {
		for _, e := range c.Entries {
			e.Bundle.Deprecation = p.reasons[Reference{Schema: SchemaBundle, Name: e.Name}]
			if payloads := p.bundles[e.Name].payloads; len(payloads) > 0 {
				x.payloads[bundleKey{p.source.Name, e.Name}] = payloads
			}
		}
	}
	x.addPackage(info, loose)
}

// order puts the channels in order.
func (p *PackageInfo) order() {
	slices.SortFunc(p.Channels, func(a, b *ChannelInfo) int {
		return cmp.Or(
			-compareBool(a.Name == p.DefaultChannel, b.Name == p.DefaultChannel),
			strings.Compare(a.Name, b.Name),
		)
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// channel is a channel as served: its chain, then the rest, as far as they
// have sound bundles. It is nil if no bundle of the chain is sound.
func (p *packageModel) channel(c *channelModel) *ChannelInfo {
	if c.broken {
		return nil
	}
	info := &ChannelInfo{
		Name:        c.source.Name,
		Package:     p.source.Name,
		Deprecation: p.reasons[Reference{Schema: SchemaChannel, Name: c.source.Name}],
	}
	for _, name := range c.graph.chain {
		c.entries[name].InChain = true
		if !p.appendEntry(info, c, name) {
			info.Missing = append(info.Missing, MissingEntry{name, len(info.Entries)})
		}
	}
	if len(info.Entries) == 0 {
		return nil
	}
	info.Head = info.Entries[0].Name
	var rest []string
	for name, e := range c.entries {
		if !e.InChain {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		p.appendEntry(info, c, name)
	}
	return info
}

// appendEntry adds an entry, if its bundle is sound.
func (p *packageModel) appendEntry(info *ChannelInfo, c *channelModel, name string) bool {
	b := p.bundles[name]
	if b == nil || b.broken {
		return false
	}
	e := c.entries[name]
	e.Skipped = c.graph.skipped[name]
	e.Bundle = b.info
	info.Entries = append(info.Entries, e)
	return true
}
