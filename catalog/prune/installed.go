package prune

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
)

// resident is an installed version of a kept package.
type resident struct {
	graph.Outcome
	pkg     *keptPackage
	version catalog.Departure
	related bool // to a kept channel, directly
	chosen  bool // the package was selected, too
}

// keepInstalled keeps what is installed, and its way to the heads of the
// channels that it is in or could be upgraded in.
func (p *pruner) keepInstalled() error {
	chosen := map[string]bool{}
	for name := range p.kept {
		chosen[name] = true
	}
	seen := map[graph.Installed]bool{}
	for _, outcome := range graph.Simulate(p.source, p.opts.Installed) {
		if seen[outcome.Installed] {
			continue
		}
		seen[outcome.Installed] = true
		if outcome.Journey == nil {
			p.note("installed %s is left out of account: %s", outcome.Installed, outcome.Problem)
			continue
		}
		r := resident{Outcome: outcome, chosen: chosen[outcome.Package], version: catalog.Departure{Name: outcome.Journey.From.Name}}
		if read, err := version.Parse(outcome.Journey.From.Version); err == nil {
			r.version.Version = &version.VersionRelease{Version: read}
		}
		// Of a package that is selected as well, only channels that are kept count, unless the installed version names one.
		var err error
		if r.pkg, err = p.keep(r.Package, "installed"); err != nil {
			return err
		}
		if r.Channel != "" {
			if _, err := r.pkg.channel(r.Channel); err != nil {
				return fmt.Errorf("installed %s: %w", r.Installed, err)
			}
		}
		for _, c := range r.pkg.stretches {
			if r.Channel == c.info.Name || r.Channel == "" && (!r.chosen || !c.empty()) {
				r.related = p.keepVersionIn(r.pkg, c, r.version) || r.related
			}
		}
		p.residents = append(p.residents, r)
	}
	return nil
}

// keepVersionIn keeps an installed version in a channel, and tells whether the
// channel has to do with it.
func (p *pruner) keepVersionIn(pkg *keptPackage, c *stretch, v catalog.Departure) bool {
	upgraders := c.upgraders(v)
	_, listed := c.entries[v.Name]
	if !listed && len(upgraders) == 0 {
		return false
	}
	if c.empty() {
		c.why.add("has what is installed")
		p.extend(pkg, c, 0, "head of channel "+safetext.Quote(c.info.Name))
	}
	if place, ok := c.place[v.Name]; ok {
		p.extend(pkg, c, place, "installed")
		return true
	}
	if listed {
		c.ask(v.Name, "installed", true)
		if on := c.skippers(v.Name); len(on) > 0 {
			upgraders = on // these lead on from it, and let it stay
		}
	}
	if place := c.nearest(upgraders); place >= 0 {
		p.extend(pkg, c, place, "upgrades from what is installed, "+safetext.Quote(v.Name))
	}
	return true
}

// note adds a remark to the report, once.
func (p *pruner) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !p.noted[text] {
		p.noted[text] = true
		p.notes = append(p.notes, text)
	}
}
