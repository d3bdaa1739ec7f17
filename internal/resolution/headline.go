package resolution

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
)

// maxHeadline is how long a headline is at most, in bytes.
const maxHeadline = 300

// headline says in one line which packages have no answer, and why: what a Subscription names and does not exist or, where all of that exists, the
// obstacle that the chain of reasons ends with.
func (b *namespaceFront) headline(names []string, obstacle string) string {
	var packages []string
	what := "installed"
	for _, name := range names {
		r := b.requestNamed(name)
		if r == nil {
			continue
		}
		if r.installed != nil {
			what = "upgraded"
		}
		if !slices.Contains(packages, r.sub.Package) {
			packages = append(packages, r.sub.Package)
		}
		if missing := r.missingName(); missing != "" && len(names) == 1 && strings.HasPrefix(obstacle, nothingFound) {
			obstacle = missing
		}
	}
	if len(packages) == 0 {
		return ""
	}
	if len(packages) > 1 {
		what += " together"
	}
	last := len(packages) - 1
	text := packages[last]
	if last > 0 {
		text = strings.Join(packages[:last], ", ") + " and " + text
	}
	return messages.Line(fmt.Sprintf("%s cannot be %s: %s", text, what, obstacle), maxHeadline)
}

// nothingFound begins the reasons why a Subscription has nothing to choose from.
const nothingFound = "no operators found "

// missingName says which name of a Subscription stands for nothing, with the nearest one that does; empty where all of them stand for something.
func (r *request) missingName() string {
	s := r.sub
	switch {
	case r.source == nil:
		return "there is no CatalogSource " + s.Catalog.String() + " in view of its namespace"
	case r.source.Index == nil:
		return fmt.Sprintf("catalog %s has no content: %s", s.Catalog, r.source.problem())
	}
	x := r.source.Index
	p, served := x.Package(s.Package)
	switch {
	case !served && withheld(x, s.Package) == "":
		return fmt.Sprintf("catalog %s has no package %s%s", s.Catalog, s.Package, messages.DidYouMean(s.Package, x.PackageNames()))
	case !served:
		return ""
	}
	channels := followed(p, s.Channel)
	broken := problemOf(x, func(o catalog.Object) bool {
		return o == catalog.Object{Schema: catalog.SchemaChannel, Package: s.Package, Name: s.Channel}
	})
	if len(channels) == 0 && broken == "" {
		return fmt.Sprintf("channel %s does not exist%s", s.Channel, messages.DidYouMean(s.Channel, channelNames(p.Channels)))
	}
	var entries []string
	for _, c := range channels {
		for _, e := range c.Entries {
			entries = append(entries, e.Name)
		}
	}
	if s.StartingCSV == "" || len(channels) == 0 || slices.Contains(entries, s.StartingCSV) || r.missing(s.StartingCSV) != "" {
		return ""
	}
	return fmt.Sprintf("%s has no version %s%s", list("channel", channelNames(channels)), s.StartingCSV, messages.DidYouMean(s.StartingCSV, entries))
}
