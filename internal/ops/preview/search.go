package preview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Found is what a search found, the best first.
type Found struct {
	Text     string     `json:"text,omitempty"`
	Packages []*Package `json:"packages"`
}

// Search finds the packages whose name, display name, keywords, kinds or description have a text, in whatever case; an empty one finds
// all. A package whose name has it comes before others.
func Search(packages []*Package, text string) Found {
	f := Found{Text: text, Packages: []*Package{}}
	rank := map[*Package]int{}
	for _, p := range packages {
		if r := p.rank(strings.ToLower(text)); r > 0 {
			summary := *p
			summary.Versions = nil // which `versions` lists
			rank[&summary] = r
			f.Packages = append(f.Packages, &summary)
		}
	}
	slices.SortStableFunc(f.Packages, func(a, b *Package) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(a.Name, b.Name), strings.Compare(a.Catalog, b.Catalog))
	})
	return f
}

// rank says how well a package fits a text; 0 is not at all, 1 the best.
func (p *Package) rank(text string) int {
	has := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), text) })
	}
	switch {
	case text == "" || p.Name == text:
		return 1
	case has(p.Name):
		return 2
	case has(p.DisplayName):
		return 3
	case has(p.Keywords...) || has(p.Provides...):
		return 4
	case has(p.Description, p.Provider):
		return 5
	}
	return 0
}

// maxDescription is how many characters of a description a table shows.
const maxDescription = 60

// Write prints a table.
func (f Found) Write(w io.Writer) error {
	rows := [][]string{{"PACKAGE", "NEWEST", "CHANNEL", "CATALOG", "DESCRIPTION"}}
	for _, p := range f.Packages {
		text := cmp.Or(p.Description, p.DisplayName)
		if p.Deprecation != "" {
			text = "deprecated: " + p.Deprecation
		}
		rows = append(rows, []string{p.Name, p.Newest, p.DefaultChannel, p.Catalog, messages.Short(text, maxDescription)})
	}
	_, err := fmt.Fprint(w, messages.Table(rows...))
	return err
}
