package resolution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
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

func (t *trouble) origin(self *node) resolve.Origin {
	o := self.origin(t.field, "%s", t.text)
	o.Hint = t.advice
	if t.catalog != nil {
		o.Object, o.Field, o.Catalog, o.Digest = "CatalogSource "+t.catalog.Ref.String(), "", t.catalog.Ref.String(), ""
	}
	return o
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
	p, ok := r.source.Index.Package(s.Package)
	if t := r.broken(); t != nil {
		return t
	}
	if !ok {
		return &trouble{fieldName, fmt.Sprintf("no operators found in package %s in the catalog referenced by subscription %s: catalog %s has %s%s",
			s.Package, s.Name, s.Catalog, plural(len(r.source.Index.PackageNames()), "package"), similar(s.Package, r.source.Index.PackageNames())),
			fmt.Sprintf(correct+"spec.name of Subscription %s", s.Name), false, nil}
	}
	if r.channels = followed(p, s.Channel); len(r.channels) == 0 {
		return &trouble{fieldChannel, fmt.Sprintf("no operators found in channel %s of package %s in the catalog referenced by subscription %s: its channels are %s",
			s.Channel, s.Package, s.Name, strings.Join(channelNames(p.Channels), ", ")),
			fmt.Sprintf(correct+"spec.channel of Subscription %s", s.Name), false, nil}
	}
	return nil
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
	there, elsewhere := r.startingVersions()
	return &trouble{fieldStartingCSV, fmt.Sprintf("no operators found with name %s in channel %s of package %s in the catalog referenced by subscription %s: %s",
		s.StartingCSV, names, s.Package, s.Name, there),
		fmt.Sprintf(correct+"spec.startingCSV of Subscription %s, or leave it out to get the newest%s%s", s.Name, elsewhere, r.missing(s.StartingCSV)), false, nil}
}

func replaceDeprecated(r *request) *trouble {
	text := fmt.Sprintf("the installed %s is deprecated and nothing upgrades from it", r.installed.Name)
	if r.waits != "" {
		text += ": " + r.waits
	}
	return &trouble{fieldChannel, text, fmt.Sprintf("ask the authors of catalog %s for an upgrade", r.sub.Catalog), false, nil}
}

// strict is the trouble of every Subscription when they are decided on together and a catalog in view has no content: what it would
// have offered cannot be known.
func (b *namespaceBuilder) strict() *trouble {
	if !b.in.Together {
		return nil
	}
	var dead []string
	remedy := ""
	for i := range b.in.Sources {
		if s := &b.in.Sources[i]; s.Index == nil {
			dead = append(dead, s.Ref.String())
			remedy = cmp.Or(remedy, s.Remedy)
		}
	}
	for i := range b.in.Sources {
		if s := &b.in.Sources[i]; s.Index == nil {
			return &trouble{fieldSource, fmt.Sprintf("catalog %s is in view of the namespace, its content is not available (%s), and the namespace is decided on as a whole", s.Ref, s.problem()),
				cmp.Or(remedy, fmt.Sprintf("repair or delete CatalogSource %s, or take annotation %s from the OperatorGroup", strings.Join(dead, " and "), "operators.fairlead.dev/resolve-together")), true, s}
		}
	}
	return nil
}

func (s *Source) problem() string { return cmp.Or(s.Problem, "it is still being loaded") }

func channelNames(channels []*catalog.ChannelInfo) []string {
	names := make([]string, len(channels))
	for i, c := range channels {
		names[i] = c.Name
	}
	return names
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// similar suggests the closest of some names.
func similar(wanted string, names []string) string {
	if name := closest(wanted, names); name != "" {
		return ", among them " + name
	}
	return ""
}

// closest is a name that contains the wanted one or that the wanted one contains, else the one that is least mistyped; empty for none.
func closest(wanted string, names []string) string {
	const meaningful, mistakes, longest = 4, 2, 100 // shorter names are part of too many others, or too like them
	if len(wanted) < meaningful || len(wanted) > longest {
		return ""
	}
	best, least := "", mistakes+1
	for _, n := range names {
		if strings.Contains(n, wanted) || len(n) >= meaningful && strings.Contains(wanted, n) {
			return n
		}
		if d := len(n) - len(wanted); d > mistakes || d < -mistakes {
			continue
		}
		if d := distance(n, wanted); d < least && d < len(wanted)/2 {
			best, least = n, d
		}
	}
	return best
}

// distance counts the bytes that have to be changed, put in, taken out, or exchanged with the next one, to make b of a.
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// startingVersions says with what a Subscription could start in the channels that it follows, and which other one has what it wants.
func (r *request) startingVersions() (there, elsewhere string) {
	const shown = 3
	var names []string
	for _, c := range r.channels {
		for _, e := range c.Entries {
			if !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	there = "it has none that can be used"
	if len(names) > 0 {
		there = "it has " + strings.Join(names[:min(shown, len(names))], ", ")
		if more := len(names) - shown; more > 0 {
			there += fmt.Sprintf(" and %d more", more)
		}
	}
	p, ok := r.source.Index.Package(r.sub.Package)
	if !ok {
		return there, ""
	}
	for _, c := range p.Channels {
		if _, has := c.Entry(r.sub.StartingCSV); has {
			return there + "; channel " + c.Name + " has " + r.sub.StartingCSV, fmt.Sprintf("; or let it follow channel %s, which has %s", c.Name, r.sub.StartingCSV)
		}
	}
	return there, ""
}
