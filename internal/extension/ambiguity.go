package extension

import (
	"fmt"

	"fairlead.dev/fairlead/resolve"
)

// rivals states that catalogs of one priority must not all have an answer, if the chosen one is in such a catalog, and tells whether it
// is. What is deprecated is no rival of what is not. Versions are not compared: which catalog to follow decides all upgrades to come.
func (b *builder) rivals(chosen *candidate) bool {
	var offers []resolve.Var
	seen := map[*Catalog]bool{}
	for _, c := range b.candidates {
		if len(c.refusals) > 0 || seen[c.catalog] || c.deprecated() != chosen.deprecated() || c.catalog.Priority != chosen.catalog.Priority ||
			c != chosen && b.refuseTooNew(c) {
			continue
		}
		seen[c.catalog] = true
		offer := b.problem.Var("offer of catalog:" + c.catalog.Name)
		b.problem.Require(offer, b.offer(c))
		offers = append(offers, offer)
	}
	if len(offers) < 2 {
		return false
	}
	origin := b.origin(fieldSelector, "the catalogs have the same priority, and only one of them can be followed")
	origin.Hint = fmt.Sprintf("let %s select one of them with matchLabels %s: %s, or give one of the ClusterCatalogs a higher spec.priority",
		fieldSelector, LabelName, chosen.catalog.Name)
	b.problem.AtMostOne(offers, origin)
	return true
}

func (b *builder) offer(c *candidate) resolve.Origin {
	return resolve.Origin{
		Object: "ClusterCatalog " + c.catalog.Name, Field: "spec.priority", Catalog: c.catalog.Name, Digest: c.catalog.digest(),
		Text: fmt.Sprintf("catalog %s has %s and priority %d", c.catalog.Name, c.bundle.Name, c.catalog.Priority),
	}
}

// ambiguous are the names of the catalogs that a core calls equal, by name; none when it is about something else.
func (b *builder) ambiguous(core []resolve.Clause) []string {
	var names []string
	limited := false
	for _, c := range core {
		limited = limited || c.Kind == resolve.Limited
	}
	if !limited {
		return nil
	}
	for _, c := range b.catalogs {
		if _, is := b.problem.Find("offer of catalog:" + c.Name); is {
			names = append(names, c.Name)
		}
	}
	return names
}
