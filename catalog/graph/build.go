package graph

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// networks are the graphs of all packages with channels or bundles, by name.
func networks(c *catalog.Catalog) []*network {
	b := builder{networks: map[string]*network{}}
	for i := range c.Packages {
		n := b.network(c.Packages[i].Name)
		if n.source == nil {
			n.source = &c.Packages[i]
		}
	}
	for i := range c.Bundles {
		b.network(c.Bundles[i].Package).addBundle(&c.Bundles[i])
	}
	for i := range c.Channels {
		b.network(c.Channels[i].Package).addChannel(&c.Channels[i])
	}
	for i := range c.Deprecations {
		n := b.network(c.Deprecations[i].Package)
		entries := c.Deprecations[i].Entries
		for _, d := range entries {
			switch d.Reference.Schema {
			case catalog.SchemaPackage:
				n.deprecation = d.Message
			case catalog.SchemaChannel:
				for _, c := range n.named[d.Reference.Name] {
					c.deprecation = d.Message
				}
			case catalog.SchemaBundle:
				if v := n.nodes[d.Reference.Name]; v != nil {
					v.deprecation = d.Message
				}
			}
		}
	}
	all := make([]*network, 0, len(b.networks))
	for _, n := range b.networks {
		// Put the channels in order and find their chains.
		for _, c := range n.channels {
			c.standard = n.source != nil && n.source.DefaultChannel == c.name
			c.repeated = len(n.named[c.name]) > 1
			c.chain = newChain(c)
			c.refusal = c.refuse()
		}
		slices.SortStableFunc(n.channels, func(a, b *channel) int {
			if a.standard != b.standard {
				if a.standard {
					return -1
				}
				return 1
			}
			return strings.Compare(a.name, b.name)
		})
		all = append(all, n)
	}
	slices.SortFunc(all, func(x, y *network) int { return strings.Compare(x.name, y.name) })
	return all
}

// find is the graph of one package, nil when the catalog has no such package.
func find(c *catalog.Catalog, pkg string) *network {
	one := catalog.Catalog{}
	for _, p := range c.Packages {
		if p.Name == pkg {
			one.Packages = append(one.Packages, p)
		}
	}
	for _, o := range c.Channels {
		if o.Package == pkg {
			one.Channels = append(one.Channels, o)
		}
	}
	for _, o := range c.Bundles {
		if o.Package == pkg {
			one.Bundles = append(one.Bundles, o)
		}
	}
	for _, o := range c.Deprecations {
		if o.Package == pkg {
			one.Deprecations = append(one.Deprecations, o)
		}
	}
	if all := networks(&one); len(all) == 1 {
		return all[0]
	}
	return nil
}

type builder struct{ networks map[string]*network }

func (b *builder) network(name string) *network {
	n := b.networks[name]
	if n == nil {
		n = &network{name: name, nodes: map[string]*node{}, named: map[string][]*channel{}}
		b.networks[name] = n
	}
	return n
}

// node is the one of that name, which is made when there is none yet.
func (n *network) node(name string) *node {
	v := n.nodes[name]
	if v == nil {
		v = &node{name: name, order: len(n.order)}
		n.nodes[name] = v
		n.order = append(n.order, v)
	}
	return v
}

func (n *network) addBundle(b *catalog.Bundle) {
	v := n.node(b.Name)
	if v.bundle != nil {
		v.usable = false // which of the two is meant no one knows
		return
	}
	v.bundle = b
	read, err := versionOf(b)
	v.version, v.known, v.usable = read, err == nil, err == nil
	v.forbidden = slices.ContainsFunc(b.Properties, func(p catalog.Property) bool { return p.Type == catalog.PropertyDeprecated })
}

func (n *network) addChannel(source *catalog.Channel) {
	c := &channel{name: source.Name, source: source, entries: make([]*entry, 0, len(source.Entries))}
	ranges := map[string]skipRange{}
	for i := range source.Entries {
		from := &source.Entries[i]
		if from.Name == "" {
			c.nameless = true
			continue
		}
		e := &entry{channel: c, node: n.node(from.Name), skips: make([]*node, 0, len(from.Skips))}
		if from.Replaces != "" {
			e.replaces = n.node(from.Replaces)
		}
		for _, skip := range from.Skips {
			if skip != "" {
				e.skips = append(e.skips, n.node(skip))
			}
		}
		if r, ok := ranges[from.SkipRange]; ok {
			e.skipRange = r
		} else if from.SkipRange != "" {
			if r, err := version.ParseRange(from.SkipRange); err != nil {
				e.badRange = err
			} else {
				e.skipRange = newSkipRange(r)
				ranges[from.SkipRange] = e.skipRange
			}
		}
		e.node.entries = append(e.node.entries, e)
		c.entries = append(c.entries, e)
	}
	n.channels = append(n.channels, c)
	n.named[c.name] = append(n.named[c.name], c)
}
