package resolution

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/resolve"
)

// dependencies states what nodes need of each other, and who may provide it.
type dependencies struct {
	*pool
	offers    map[need]offer
	crowd     crowd
	lacking   map[need]bool        // needs of installed operators that no installed operator meets
	blind     map[need]catalog.Ref // needs for which a catalog without content would have to be asked
	compounds []compound           // constraints that are stated once all nodes are known
	rules     rulebook
	withheld  map[string]withholding // by package, of which no one offers what is needed
}

// need names one need of a node.
type need struct {
	of    resolve.Var
	field string
}

// offer is who may meet a need, the preferred first, and how the need reads. It is kept to tell afterwards which rule decided.
type offer struct {
	candidates []resolve.Var
	text       string
}

// maxNeeds bounds what one bundle may need: catalogs are content from outside.
const maxNeeds = 1000

// meet states what nodes need until nothing more comes into view. Its only error is that of the context.
func (b *dependencies) meet(ctx context.Context) error {
	for len(b.pending) > 0 {
		next := b.pending[0]
		b.pending = b.pending[1:]
		n := b.node(next)
		if count := len(n.bundle.Requires) + len(n.bundle.RequiredPackages) + len(n.bundle.Constraints); count > maxNeeds && n.channel != nil { // more than anyone looks for
			origin := n.origin("properties", "%s needs %d APIs, packages and other things; no more than %d are looked for", n.label(), count, maxNeeds)
			origin.Hint = "ask the authors of package " + n.bundle.Package + " to let it need less"
			b.problem.Depends(next, nil, origin)
		} else {
			// State what the node needs and who may provide it. Needs are met in the order of their fields.
			asked := map[catalog.GVK]bool{}
			for i, gvk := range n.bundle.Requires {
				if !slices.Contains(n.bundle.Provides, gvk) && !asked[gvk] {
					asked[gvk] = true
					b.depend(next, property(catalog.PropertyGVKRequired, i), provides(gvk), "")
				}
			}
			for i, p := range n.bundle.RequiredPackages {
				b.depend(next, property(catalog.PropertyPackageRequired, i), versionOf(p.PackageName, p.Range), "")
			}
			// State which labels of others the node needs.
			n, i := b.node(next), 0
			for _, p := range n.bundle.Properties {
				if p.Type != catalog.PropertyLabelRequired {
					continue
				}
				field := property(catalog.PropertyLabelRequired, i)
				i++
				label, ok := labelOf(p)
				switch {
				case ok:
					b.depend(next, field, condition{meets: func(n *node) bool {
						for _, p := range n.bundle.Properties {
							if p.Type != catalog.PropertyLabel {
								continue
							}
							if has, _ := labelOf(p); has == label {
								return true
							}
						}
						return false
					}, known: func(r *register) []resolve.Var { return r.all }, find: everything, text: fmt.Sprintf("with label %q", label)}, "")
				case n.channel != nil:
					origin := n.origin(field, "%s has an olm.label.required that names no label: %s", n.label(), messages.Line(string(p.Value), maxBrief))
					origin.Hint = fmt.Sprintf("ask the authors of package %s to correct olm.label.required #%d of %s", n.bundle.Package, i, n.bundle.Name)
					b.problem.Depends(next, nil, origin)
				}
			}
			b.constrain(next)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, c := range b.compounds { // all nodes are known now
		lowered := b.lower(c.of, c.formula)
		if d := b.crowd.of(b.node(c.of)); d != (dear{}) && b.node(c.of).channel != nil {
			lowered = resolve.Any() // its candidates were not all looked for
			d.tell(&c.origin)
		} else if d := firstIn(c.formula, func(leaf *formula) dear { return leaf.leaf.tooDear() }); d != (dear{}) {
			d.tell(&c.origin)
		}
		b.problem.Formula(c.of, lowered, c.origin)
	}
	return nil
}

// depend states that v needs an operator that meets the condition, unless it meets that itself. message, if any, is what the author wants
// to be reported when there is none.
func (b *dependencies) depend(v resolve.Var, field string, c condition, message string) {
	n := b.node(v)
	if c.meets(n) {
		return
	}
	candidates, blind := b.candidates(v, c)
	if len(candidates) == 0 && n.operator != nil {
		return // what was installed without its provider is made no worse by anything that is decided here
	}
	if n.operator != nil && !b.installedMeets(n, c) {
		b.lacking[need{v, field}] = true
	}
	what := "an operator " + c.text + said(message)
	text := fmt.Sprintf("%s requires %s", n.label(), what)
	origin := n.origin(field, "%s", text)
	origin.Alike = what
	crowded, d := b.crowd.of(n), c.tooDear()
	switch {
	case crowded != (dear{}):
		crowded.tell(&origin)
	case d != (dear{}):
		d.tell(&origin)
	case blind != nil:
		b.blind[need{v, field}] = blind.Ref
		blind.hides(&origin)
	case len(candidates) == 0:
		// What a need asks for in advice repeats no rule that is told already.
		const short, shortMessage = 200, 120
		brief := what
		if len(what) > short || strings.Contains(what, ruleText) {
			brief = "what " + strings.TrimPrefix(field, "properties, ") + " of " + n.bundle.Name + " asks for" + said(messages.Line(message, shortMessage))
		}
		b.nobody(n, c, &origin, brief)
	}
	b.offers[need{v, field}] = offer{candidates, text}
	b.problem.Depends(v, candidates, origin)
}

// hides says in a rule that a catalog without content hides what those after it have.
func (s *Source) hides(o *resolve.Origin) {
	o.Text += fmt.Sprintf(", and catalog %s, which is asked next, has no content that is available: %s", s.Ref, s.problem())
	o.Hint = fmt.Sprintf("repair CatalogSource %s, or delete it to have the catalogs after it asked", s.Ref)
}

// candidates lists who may meet the condition for v, in order of preference. A catalog without content hides those after it: what it
// would have offered is preferred to them, and no one knows it. It is returned, if there is one.
func (b *dependencies) candidates(v resolve.Var, c condition) (found []resolve.Var, blind *Source) {
	n, looked := b.node(v), 0
	if b.crowd.of(n) != (dear{}) {
		return nil, nil
	}
	for _, other := range c.known(&b.known) {
		if o := b.node(other); other != v && o.bundle.Package != n.bundle.Package && c.meets(o) {
			found = append(found, other)
		}
	}
	for _, s := range b.sourcesFor(n) {
		if s.Index == nil {
			blind = s
			break
		}
		var fits []*catalog.BundleInfo
		var probe node
		for _, bundle := range c.find(s.Index) {
			looked++
			// Another version of its package is no provider: there is only one version of a package.
			if probe.bundle = bundle; bundle.Package != n.bundle.Package && c.meets(&probe) {
				fits = append(fits, bundle)
			}
		}
		// Call use with the place of every channel entry that holds one of the bundles. Entries that a newer one skips are left out.
		use := func(c *catalog.ChannelInfo, place int) { found = append(found, b.entry(s, c, place)) }
		wanted := make(map[*catalog.BundleInfo]bool, len(fits))
		var packages []string
		for _, bundle := range fits {
			wanted[bundle] = true
			if n := len(packages); n == 0 || packages[n-1] != bundle.Package {
				packages = append(packages, bundle.Package)
			}
		}
		slices.Sort(packages)
		for _, name := range slices.Compact(packages) {
			p, ok := s.Index.Package(name)
			if !ok {
				continue
			}
			for _, c := range p.Channels {
				for place, e := range c.Entries {
					if e.InChain && wanted[e.Bundle] {
						use(c, place)
					}
				}
			}
		}
	}
	b.crowd.count(n, looked, len(found))
	slices.SortStableFunc(found, func(x, y resolve.Var) int {
		order, _ := b.prefer(n, x, y)
		return order
	})
	return slices.Compact(found), blind
}

func labelOf(p catalog.Property) (string, bool) {
	var value struct{ Label string }
	err := json.Unmarshal(p.Value, &value)
	return value.Label, err == nil && value.Label != ""
}
