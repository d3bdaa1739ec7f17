package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/ops"
)

// installedPage is what is installed or asked for, by both APIs.
type installedPage struct {
	Filter installedFilter `json:"filter"`
	// Summary counts the states of all operators in view: 12 work, 2 need attention, 1 waits for approval.
	Summary string `json:"summary"`
	// Operators are those of this page, in the order of namespaces, of Found in all, of Total that there are.
	Operators []installedRow `json:"operators"`
	Found     int            `json:"found"`
	Total     int            `json:"total"`
	Page      int            `json:"page"`
	Pages     int            `json:"pages"`
	// Reading is true while they are compared with the catalogs for the first time: there is more to come.
	Reading bool     `json:"reading,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// installedFilter is what the address asks for.
type installedFilter struct {
	Text string `json:"text,omitempty"`
	// State is works, fails or waits, or empty for all; API is v0 or v1, or empty for both.
	State string `json:"state,omitempty"`
	API   string `json:"api,omitempty"`
}

// installedRow is an operator with how it compares with the catalogs.
type installedRow struct {
	ops.Listed
	// Standing is works, fails or waits.
	Standing string `json:"standing"`
	standing
	// First is true of the first of a namespace on the page.
	First bool `json:"-"`
}

// installedPerPage is how many operators a page shows.
const installedPerPage = 100

func (c *Console) installed(ctx context.Context, q *query) (any, error) {
	namespace := q.namespace(ctx)
	listing, err := ops.List(ctx, q.user.client, namespace)
	if err != nil {
		return nil, err
	}
	p := &installedPage{Filter: installedFilter{q.get("q"), q.get("state"), q.get("api")}, Notes: listing.Notes, Total: len(listing.Operators), Summary: summaryOf(listing.Operators), Operators: []installedRow{}}
	slices.SortStableFunc(listing.Operators, func(a, b ops.Listed) int { return cmp.Compare(a.Namespace, b.Namespace) })
	var fitting []ops.Listed
	for _, l := range listing.Operators {
		if p.Filter.fits(l) {
			fitting = append(fitting, l)
		}
	}
	var from, to int
	p.Found = len(fitting)
	p.Page, p.Pages, from, to = paged(q.get("page"), p.Found, installedPerPage)
	fitting = fitting[from:to]
	compared := standings{}
	if p.Total > 0 {
		if compared, p.Reading, err = (comparison{c}).of(ctx, standingKey{user: q.user, namespace: namespace}, listing.Operators, q.whole); err != nil {
			p.Notes = append(p.Notes, "they are not compared with the catalogs: "+explain(err).text)
		}
	}
	p.Notes = append(p.Notes, compared.notes...)
	for i, l := range fitting {
		p.Operators = append(p.Operators, installedRow{l, l.Standing(), compared.of[keyOf(l)], i == 0 || fitting[i-1].Namespace != l.Namespace})
	}
	return p, nil
}

// fits reports whether an operator is what is asked for.
func (f installedFilter) fits(l ops.Listed) bool {
	text := strings.ToLower(strings.Join([]string{l.Name, l.Namespace, l.Package, l.Kind, l.Version, l.Channel, l.State, l.Reason}, "\n"))
	for _, word := range strings.Fields(strings.ToLower(f.Text)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return (f.State == "" || l.Standing() == f.State) && (f.API == "" || l.API == f.API)
}

// summaryOf counts states.
func summaryOf(all []ops.Listed) string {
	counts := map[string]int{}
	for _, l := range all {
		counts[l.Standing()]++
	}
	var parts []string
	for _, one := range []struct{ state, single, several string }{{ops.Works, "works", "work"}, {ops.Fails, "needs attention", "need attention"}, {ops.Waits, "waits for approval", "wait for approval"}} {
		if n := counts[one.state]; n == 1 {
			parts = append(parts, "1 "+one.single)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.several))
		}
	}
	return strings.Join(parts, ", ")
}

func (c *Console) installedPart() part {
	return part{views: []view{{path: "/installed", template: "installed", title: "Installed", load: c.installed}}}
}
