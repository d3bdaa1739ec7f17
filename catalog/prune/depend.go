package prune

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// keepRequired keeps what a bundle requires, unless something kept provides it.
func (p *pruner) keepRequired(b *catalog.BundleInfo) error {
	all, untold := p.needs(b)
	who := "bundle " + quote(b.Name) + " of package " + quote(b.Package)
	for _, reason := range untold {
		p.note("%s: %s", who, reason)
	}
	for _, n := range all {
		text := n.text()
		key := settledNeed{n.by, text}
		if p.settled[key] {
			continue
		}
		p.settled[key] = true
		switch offered := p.offered(n); {
		case !offered && p.rules.spent():
			p.note("%s requires %s, and the rules of constraints cost too much to find out who provides it; if a mirror needs it, name that package", who, clip(text))
		case !offered:
			p.note("%s requires %s, which no other package of the catalog has", who, clip(text))
		default:
			if err := p.provide(n, who+" requires "+clip(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// settledNeed is a need that was looked at.
type settledNeed struct{ by, text string }

// provide keeps what meets a need that can be met, if nothing does so yet.
func (p *pruner) provide(n need, reason string) error {
	if p.met(n) {
		return nil
	}
	found, alone := p.provider(n)
	switch {
	case alone: // also of an "all": some resolvers want one bundle to be all of it
		pkg, err := p.keep(found.pkg, reason)
		if err != nil {
			return err
		}
		c, err := pkg.channel(found.channel)
		if err != nil {
			return err
		}
		c.why.add("has what is required")
		p.extend(pkg, c, found.place, reason)
		return nil
	case n.All != nil:
		for _, part := range n.parts() {
			if err := p.provide(part, reason); err != nil {
				return err
			}
		}
		return nil
	}
	choices := n.choices()
	return p.provide(choices[slices.IndexFunc(choices, p.offered)], reason)
}
