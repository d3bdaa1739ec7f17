package console

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

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
	// Choices are what filters can be set to.
	Choices choices `json:"choices"`
}

// filter is what the address asks for.
type filter struct {
	Text, Catalog, Provider, Category, Capability, Mode string
	Installed, Deprecated                               string // yes, no, or empty for both
}

type choices struct{ Catalogs, Providers, Categories, Capabilities, Modes []string }

// card is a package of one catalog.
type card struct {
	*preview.Package
	// Installed are the versions of it that run, wherever.
	Installed []string `json:"installed,omitempty"`
}

// Title is how the package calls itself.
func (c card) Title() string { return cmp.Or(c.DisplayName, c.Name) }

func (c *Console) catalog(ctx context.Context, q *query) (any, error) {
	namespace := cmp.Or(q.namespace(ctx), q.user.Namespace)
	offered, reading, err := c.shelf.offers(ctx, q.user, namespace, q.whole)
	if err != nil {
		return nil, err
	}
	installed, err := ops.List(ctx, q.user.client, q.namespace(ctx))
	if err != nil {
		return nil, err
	}
	versions := map[string][]string{}
	for _, o := range installed.Operators {
		if o.Version != "" && !slices.Contains(versions[o.Package], o.Version) {
			versions[o.Package] = append(versions[o.Package], o.Version)
		}
	}
	p := &catalogPage{Reading: reading, Notes: offered.Notes, Total: len(offered.Packages), Packages: []card{},
		Filter: filter{q.get("q"), q.get("catalog"), q.get("provider"), q.get("category"), q.get("capability"), q.get("mode"), q.get("installed"), q.get("deprecated")}}
	var fitting []card
	for _, found := range preview.Search(offered.Packages, p.Filter.Text).Packages {
		one := card{found, versions[found.Name]}
		if p.Filter.fits(one) {
			fitting = append(fitting, one)
		}
	}
	p.Choices = choicesOf(offered.Packages)
	p.Found, p.Pages = len(fitting), max(1, (len(fitting)+perPage-1)/perPage)
	p.Page, _ = strconv.Atoi(q.get("page"))
	p.Page = min(max(1, p.Page), p.Pages)
	p.Packages = append(p.Packages, fitting[(p.Page-1)*perPage:min(p.Page*perPage, len(fitting))]...)
	return p, nil
}

// fits reports whether a package is what is asked for, but for the text.
func (f filter) fits(c card) bool {
	is := func(asked string, has bool) bool { return asked == "" || (asked == "yes") == has }
	return (f.Catalog == "" || c.Catalog == f.Catalog) && (f.Provider == "" || c.Provider == f.Provider) &&
		(f.Category == "" || slices.Contains(c.Categories, f.Category)) && (f.Capability == "" || c.Capability == f.Capability) &&
		(f.Mode == "" || slices.Contains(c.InstallModes, f.Mode)) && is(f.Installed, len(c.Installed) > 0) && is(f.Deprecated, c.Deprecation != "")
}

func choicesOf(all []*preview.Package) choices {
	sets := [5]map[string]bool{{}, {}, {}, {}, {}}
	for _, p := range all {
		for i, values := range [][]string{{p.Catalog}, {p.Provider}, p.Categories, {p.Capability}, p.InstallModes} {
			for _, v := range values {
				if v != "" {
					sets[i][v] = true
				}
			}
		}
	}
	sorted := func(set map[string]bool) []string {
		return slices.SortedFunc(maps.Keys(set), func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	}
	return choices{sorted(sets[0]), sorted(sets[1]), sorted(sets[2]), sorted(sets[3]), sorted(sets[4])}
}

func (c *Console) catalogPart() part {
	return part{views: []view{{path: "/catalog", template: "catalog", title: "Catalog", load: c.catalog}}}
}
