package resolution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// correct begins the advice about what a Subscription has wrong itself; what it could say instead is told with the trouble.
const correct = "correct "

// trouble is why a Subscription has nothing to choose from. The first part of each text is what the field's tools have always said.
type trouble struct {
	field   string
	text    string
	advice  string
	passing bool    // it may pass by itself: what is installed is not called wrong because of it
	catalog *Source // whose content it is about, if not that of the Subscription's own catalog
}

// findChannels finds the channels that a request follows, in order of preference, or says why there is none.
func findChannels(r *request) *trouble {
	s := r.sub
	none := fmt.Sprintf("no operators found from catalog %s in namespace %s referenced by subscription %s", s.Catalog.Name, s.Catalog.Namespace, s.Name)
	if r.source == nil {
		return &trouble{fieldSource, none + ": there is no such CatalogSource in view of the namespace",
			fmt.Sprintf(correct+"spec.source and spec.sourceNamespace of Subscription %s, or create CatalogSource %s", s.Name, s.Catalog), true, nil}
	}
	if r.source.Index == nil {
		return &trouble{fieldSource, fmt.Sprintf("%s: its content is not available: %s", none, r.source.problem()),
			cmp.Or(r.source.Remedy, fmt.Sprintf("repair CatalogSource %s, or let Subscription %s name another one", s.Catalog, s.Name)), true, nil}
	}
	x, mend := r.source.Index, fmt.Sprintf("ask the authors of catalog %s to correct it", s.Catalog)
	p, served := x.Package(s.Package)
	if !served {
		if problem := withheld(x, s.Package); problem != "" {
			return &trouble{fieldName, fmt.Sprintf("no operators found in package %s in the catalog referenced by subscription %s: "+
				"catalog %s has the package, but nothing of it can be used: %s", s.Package, s.Name, s.Catalog, problem), mend, false, nil}
		}
		return &trouble{fieldName, fmt.Sprintf("no operators found in package %s in the catalog referenced by subscription %s: catalog %s has %s%s",
			s.Package, s.Name, s.Catalog, safetext.Count(len(x.PackageNames()), "package"), similar(s.Package, x.PackageNames())),
			fmt.Sprintf(correct+"spec.name of Subscription %s", s.Name), false, nil}
	}
	if r.channels = followed(p, s.Channel); len(r.channels) > 0 {
		return nil
	}
	problem := problemOf(x, func(o catalog.Object) bool {
		return s.Channel != "" && o == catalog.Object{Schema: catalog.SchemaChannel, Package: s.Package, Name: s.Channel}
	})
	if problem != "" {
		return &trouble{fieldChannel, fmt.Sprintf("no operators found in channel %s of package %s in the catalog referenced by subscription %s: "+
			"the catalog has the channel, but it cannot be used: %s", s.Channel, s.Package, s.Name, problem), mend, false, nil}
	}
	return &trouble{fieldChannel, fmt.Sprintf("no operators found in channel %s of package %s in the catalog referenced by subscription %s: its channels are %s",
		s.Channel, s.Package, s.Name, strings.Join(channelNames(p.Channels), ", ")),
		fmt.Sprintf(correct+"spec.channel of Subscription %s", s.Name), false, nil}
}

// followed are the channels of a package that have a name; all of them, the default channel first, when none is given.
func followed(p *catalog.PackageInfo, channel string) []*catalog.ChannelInfo {
	if channel == "" {
		return p.Channels
	}
	if c, ok := p.Channel(channel); ok {
		return []*catalog.ChannelInfo{c}
	}
	return nil
}

// nothingToInstall says why no entry of the channels may be installed first; nil when there is one.
func nothingToInstall(r *request) *trouble {
	s, names := r.sub, strings.Join(channelNames(r.channels), ", ")
	switch {
	case len(r.options) > 0:
		return nil
	case s.StartingCSV == "":
		return &trouble{fieldChannel, fmt.Sprintf("no operators found matching the criteria of subscription %s: no entry of channel %s has a usable bundle in the catalog", s.Name, names),
			fmt.Sprintf("ask the authors of catalog %s to correct it%s", s.Catalog, r.missing("")), false, nil}
	}
	// With what the Subscription could start in the channels that it follows, and which other one has what it wants.
	const shown = 3
	var entries []string
	for _, c := range r.channels {
		for _, e := range c.Entries {
			if !slices.Contains(entries, e.Name) {
				entries = append(entries, e.Name)
			}
		}
	}
	there, elsewhere := "it has none that can be used", ""
	if len(entries) > 0 {
		there = "it has " + safetext.List(entries, shown, ", ")
	}
	if p, ok := r.source.Index.Package(s.Package); ok {
		if i := slices.IndexFunc(p.Channels, func(c *catalog.ChannelInfo) bool { _, has := c.Entry(s.StartingCSV); return has }); i >= 0 {
			c := p.Channels[i]
			there, elsewhere = there+"; channel "+c.Name+" has "+s.StartingCSV, fmt.Sprintf("; or let it follow channel %s, which has %s", c.Name, s.StartingCSV)
		}
	}
	return &trouble{fieldStartingCSV, fmt.Sprintf("no operators found with name %s in channel %s of package %s in the catalog referenced by subscription %s: %s",
		s.StartingCSV, names, s.Package, s.Name, there),
		fmt.Sprintf(correct+"spec.startingCSV of Subscription %s, or leave it out to get the newest%s%s", s.Name, elsewhere, r.missing(s.StartingCSV)), false, nil}
}

func (s *Source) problem() string { return cmp.Or(s.Problem, "it is still being loaded") }

func channelNames(channels []*catalog.ChannelInfo) []string {
	names := make([]string, len(channels))
	for i, c := range channels {
		names[i] = c.Name
	}
	if len(names) > 1 {
		slices.SortFunc(names[1:], safetext.Natural) // the default channel comes first
	}
	return names
}

// whyMissing says why an entry is not served: what is wrong with its bundle, or that it has none.
func (r *request) whyMissing(c *catalog.ChannelInfo, name string) string {
	problem := problemOf(r.source.Index, func(o catalog.Object) bool {
		return o == catalog.Object{Schema: catalog.SchemaBundle, Package: c.Package, Name: name}
	})
	if problem == "" {
		return fmt.Sprintf("entry %s of channel %s of package %s has no bundle in catalog %s", name, c.Name, c.Package, r.source.Ref)
	}
	return problem
}

// unusable finds an entry that would be preferred to what was chosen and that is not served because its bundle is broken.
func (r *request) unusable(chosen string) (name, problem string) {
	for _, c := range r.channels {
		place := len(c.Entries)
		for i, e := range c.Entries {
			if e.Name == chosen {
				place = i
				break
			}
		}
		if place == len(c.Entries) {
			continue // how it stands to that of another channel no one knows
		}
		for _, m := range c.Missing {
			if m.Place <= place && m.Name != chosen {
				return m.Name, r.whyMissing(c, m.Name)
			}
		}
	}
	return "", ""
}

// missing names an entry of the channels that is not served, or the one of that name, with the reason.
func (r *request) missing(name string) string {
	for _, c := range r.channels {
		for _, m := range c.Missing {
			if name == "" || m.Name == name {
				return fmt.Sprintf("; %s cannot be used: %s", m.Name, r.whyMissing(c, m.Name))
			}
		}
	}
	return ""
}
