package console

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// perPage is how many packages a page of the catalog shows.
const perPage = 48

// catalogPage is what catalogs offer.
type catalogPage struct {
	Filter filter `json:"filter"`
	// Packages are those of this page, of Found in all, of Total that there are.
	Packages []card `json:"packages"`
	Found    int    `json:"found"`
	Total    int    `json:"total"`
	Page     int    `json:"page"`
	Pages    int    `json:"pages"`
	// Reading is true while catalogs are read for the first time: there is more to come.
	Reading bool     `json:"reading,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Elsewhere says which CatalogSources other namespaces have, where this one sees none.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Choices are what filters can be set to.
	Choices choices `json:"choices"`
}

// filter is what the address asks for.
type filter struct {
	Text       string `json:"q,omitempty"`
	Catalog    string `json:"catalog,omitempty"`
	Provider   string `json:"provider,omitempty"`
	Category   string `json:"category,omitempty"`
	Capability string `json:"capability,omitempty"`
	Mode       string `json:"mode,omitempty"`
	// Installed and Deprecated are yes, no, or empty for both.
	Installed  string `json:"installed,omitempty"`
	Deprecated string `json:"deprecated,omitempty"`
}

// Set reports whether anything is asked for.
func (f filter) Set() bool { return f != filter{} }

// Narrowed is how many of the filters beside the text are set.
func (f filter) Narrowed() (n int) {
	for _, value := range []string{f.Catalog, f.Provider, f.Category, f.Capability, f.Mode, f.Installed, f.Deprecated} {
		if value != "" {
			n++
		}
	}
	return n
}

// choices are the values of filters, with how many packages have each.
type choices struct {
	Catalogs     []option `json:"catalogs"`
	Providers    []option `json:"providers"`
	Categories   []option `json:"categories"`
	Capabilities []option `json:"capabilities"`
	Modes        []option `json:"modes"`
}

type option struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// card is a package, of one catalog or of several.
type card struct {
	*preview.Package
	// Catalogs are all that have the package, as it fits: Catalog is the first of them.
	Catalogs []string `json:"catalogs"`
	// Installed are the operators that are installed, or asked for, of it.
	Installed []ops.Listed `json:"installedAs,omitempty"`
}

// Title is how the package calls itself.
func (c card) Title() string { return messages.Line(cmp.Or(c.DisplayName, c.Name), maxTitle) }

// About is what the package says of itself, as far as a card has place for it.
func (c card) About() string { return messages.Line(c.Description, maxAbout) }

// Others is how many catalogs have it besides the first.
func (c card) Others() int { return len(c.Catalogs) - 1 }

// Shown are the operators that a card names, and More how many there are besides.
func (c card) Shown() []ops.Listed { return c.Installed[:min(len(c.Installed), maxInstalled)] }

// More is how many operators a card does not name.
func (c card) More() int { return max(0, len(c.Installed)-maxInstalled) }

// Bounds of a card, in bytes and in badges.
const (
	maxTitle     = 80
	maxAbout     = 240
	maxInstalled = 3
	// maxChoices is how many values a filter offers.
	maxChoices = 300
	// maxChoice is how long one may be, in bytes.
	maxChoice = 100
)

func (c *storefront) catalog(ctx context.Context, q *query) (any, error) {
	namespace := cmp.Or(q.namespace(ctx), q.user.Namespace)
	offered, reading, err := c.shelf.offers(ctx, q.user, namespace, q.whole)
	if err != nil {
		return nil, err
	}
	installed := c.listed(ctx, q)
	p := chosen(filterOf(q), offered.Packages, installed.Operators)
	p.Reading, p.Notes, p.Elsewhere = reading, slices.Concat(offered.Notes, installed.Notes), offered.Elsewhere
	p.turn(q.get("page"))
	return p, nil
}

// listed is what is installed, as far as the user may see it: in a namespace that does not exist yet nothing is, and catalogs are shown all the same.
func (c *storefront) listed(ctx context.Context, q *query) ops.Listing {
	listing, err := ops.List(ctx, q.user.client, q.namespace(ctx))
	if err != nil {
		listing.Notes = append(listing.Notes, "what is installed is not shown: "+explain(err).text)
	}
	return listing
}

func filterOf(q *query) filter {
	return filter{Text: q.get("q"), Catalog: q.get("catalog"), Provider: q.get("provider"), Category: q.get("category"), Capability: q.get("capability"),
		Mode: q.get("mode"), Installed: q.get("installed"), Deprecated: q.get("deprecated")}
}

// chosen are the packages that a filter leaves, the best first. A package that several catalogs have is one card.
func chosen(f filter, all []*preview.Package, operators []ops.Listed) *catalogPage {
	p := &catalogPage{Filter: f, Packages: []card{}, Choices: choicesOf(all).with(f)}
	installed := map[string][]ops.Listed{}
	for _, o := range operators {
		if o.Package != "" {
			installed[o.Package] = append(installed[o.Package], o)
		}
	}
	found := cards{}
	for _, one := range preview.Search(all, f.Text).Packages {
		if c := (card{Package: one, Installed: installed[one.Name]}); f.fits(c) {
			found.add(c)
		}
	}
	known := cards{}
	for _, one := range all {
		known.add(card{Package: one})
	}
	p.Packages = append(p.Packages, found.all...)
	p.Found, p.Total = len(found.all), len(known.all)
	return p
}

// cards are packages, each with the catalogs that have it: one of the same name from the same provider, as far as catalogs tell that, is the same one.
type cards struct {
	all    []card
	byName map[string][]int
}

func (s *cards) add(c card) {
	if s.byName == nil {
		s.byName = map[string][]int{}
	}
	for _, i := range s.byName[c.Name] {
		known := &s.all[i]
		if known.Provider != "" && c.Provider != "" && known.Provider != c.Provider {
			continue
		}
		if known.Catalogs = append(known.Catalogs, c.Catalog); known.Provider == "" && c.Provider != "" { // which tells more
			known.Package = c.Package
			last := len(known.Catalogs) - 1
			known.Catalogs[0], known.Catalogs[last] = known.Catalogs[last], known.Catalogs[0]
		}
		return
	}
	c.Catalogs = []string{c.Catalog}
	s.byName[c.Name] = append(s.byName[c.Name], len(s.all))
	s.all = append(s.all, c)
}

// turn leaves those of one page.
func (p *catalogPage) turn(page string) {
	var from, to int
	p.Page, p.Pages, from, to = paged(page, p.Found, perPage)
	p.Packages = p.Packages[from:to]
}

// fits reports whether a package is what is asked for, but for the text.
func (f filter) fits(c card) bool {
	is := func(asked string, has bool) bool { return asked == "" || (asked == "yes") == has }
	return (f.Catalog == "" || c.Catalog == f.Catalog) && (f.Provider == "" || c.Provider == f.Provider) &&
		(f.Category == "" || slices.Contains(c.Categories, f.Category)) && (f.Capability == "" || c.Capability == f.Capability) &&
		(f.Mode == "" || slices.Contains(c.InstallModes, f.Mode)) && is(f.Installed, len(c.Installed) > 0) && is(f.Deprecated, c.Deprecation != "")
}

// with adds what is chosen and not there, as while the catalogs are being read: a filter shows what it is set to.
func (c choices) with(f filter) choices {
	for options, value := range map[*[]option]string{&c.Catalogs: f.Catalog, &c.Providers: f.Provider, &c.Categories: f.Category, &c.Capabilities: f.Capability, &c.Modes: f.Mode} {
		if value != "" && len(value) <= maxChoice && !slices.ContainsFunc(*options, func(o option) bool { return o.Value == value }) {
			*options = append(*options, option{Value: value})
		}
	}
	return c
}

func choicesOf(all []*preview.Package) choices {
	has := [5]map[string]map[string]bool{{}, {}, {}, {}, {}} // of each value the packages
	for _, p := range all {
		for i, values := range [][]string{{p.Catalog}, {p.Provider}, p.Categories, {p.Capability}, p.InstallModes} {
			for _, v := range values {
				if v == "" || len(v) > maxChoice {
					continue
				}
				if has[i][v] == nil {
					has[i][v] = map[string]bool{}
				}
				has[i][v][p.Name] = true
			}
		}
	}
	sorted := func(of map[string]map[string]bool) []option {
		options := []option{}
		for _, v := range slices.SortedFunc(maps.Keys(of), func(a, b string) int {
			return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
		}) {
			if len(options) < maxChoices {
				options = append(options, option{v, len(of[v])})
			}
		}
		return options
	}
	return choices{sorted(has[0]), sorted(has[1]), sorted(has[2]), sorted(has[3]), sorted(has[4])}
}
