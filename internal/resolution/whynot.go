package resolution

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// Verdict tells why one entry of a catalog is not chosen, or that it is.
type Verdict struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	Version string `json:"version"`
	Channel string `json:"channel"`
	Catalog string `json:"catalog"`
	// Chosen tells that it is to be installed; Installed that it is there already.
	Chosen    bool `json:"chosen,omitempty"`
	Installed bool `json:"installed,omitempty"`
	// Reasons are the rules that decided against it, or for it. Conflict, if any, says in full what stands in its way.
	Reasons  []string  `json:"reasons"`
	Conflict *Conflict `json:"conflict,omitempty"`
}

// WhyNot tells of every entry of a package in the catalogs in view why it was not chosen; with a version, of those alone. Entries that
// catalogs have in channels come in the order of preference of a dependency that no one in particular has.
func (r *NamespaceResult) WhyNot(ctx context.Context, pkg, version string) ([]Verdict, error) {
	var all []Verdict
	for _, s := range r.b.sourcesFor(nil) {
		if s.Index == nil {
			continue
		}
		p, ok := s.Index.Package(pkg)
		if !ok {
			continue
		}
		for _, c := range p.Channels {
			for place, e := range c.Entries {
				if version != "" && e.Bundle.VersionText != version && e.Name != version {
					continue
				}
				v, err := r.verdict(ctx, s, c, place)
				if err != nil {
					return nil, fmt.Errorf("find out why %s of catalog %s is not chosen: %w", e.Name, s.Ref, err)
				}
				all = append(all, v)
			}
		}
	}
	return all, nil
}

func (r *NamespaceResult) verdict(ctx context.Context, s *Source, c *catalog.ChannelInfo, place int) (Verdict, error) {
	e := c.Entries[place]
	out := Verdict{Name: e.Name, Package: c.Package, Version: e.Bundle.VersionText, Channel: c.Name, Catalog: s.Ref.String()}
	v, known := r.b.problem.Find(entryID(s, c, e.Name))
	if o := r.b.operators[e.Name]; o != nil && o.isOf(c.Package) {
		out.Installed = true
		out.Reasons = append(out.Reasons, "it is installed")
		for i := range r.Groups {
			if next := slices.IndexFunc(r.Groups[i].Choices, func(c Choice) bool { return c.Replaces == o.Name }); next >= 0 {
				out.Reasons = append(out.Reasons, r.Groups[i].Choices[next].Bundle.Name+" is to take its place")
				break
			}
		}
		return out, nil // as another candidate of its own name it cannot be wanted
	}
	candidate := false
	for i := range r.parts {
		if !known {
			break
		}
		asked, err := r.ask(ctx, &r.parts[i], v, &out)
		if err != nil {
			return out, err
		}
		candidate = candidate || asked
	}
	if !candidate && !out.Installed {
		// Why an entry was no candidate of any request.
		var reasons []string
		for _, q := range r.b.requests {
			if q.sub.Package == c.Package {
				reasons = append(reasons, "subscription "+q.sub.Name+": "+notFor(q, s, c, e))
			}
		}
		if len(reasons) == 0 {
			reasons = append(reasons, "no Subscription asks for package "+c.Package+", and nothing that is chosen needs it")
		}
		if e.Bundle.Deprecated {
			reasons = append(reasons, "it is deprecated ("+catalog.PropertyDeprecated+"), so it is never chosen")
		}
		if least, tooNew := needsNewer(s.Index, e.Bundle, r.b.in.Kubernetes); tooNew {
			reasons = append(reasons, fmt.Sprintf("it needs Kubernetes %s or newer, and the cluster has %s", least, r.b.in.Kubernetes))
		}
		if e.Skipped {
			reasons = append(reasons, "a newer entry of its channel skips it, so it is not offered to what needs it")
		}
		out.Reasons = append(out.Reasons, reasons...)
	}
	return out, nil
}

// ask adds what one part says of a candidate, and tells whether it is one there.
func (r *NamespaceResult) ask(ctx context.Context, p *part, v resolve.Var, out *Verdict) (bool, error) {
	if p.group.Err != nil {
		// The Subscriptions that would have had the candidate have no answer at all.
		if !slices.ContainsFunc(r.b.requests, func(q *request) bool {
			return slices.Contains(p.group.Subscriptions, q.sub.Name) && slices.Contains(q.options, v)
		}) {
			return false, nil
		}
		c := p.group.conflict()
		out.Reasons = append(out.Reasons, c.Summary)
		if out.Conflict == nil {
			out.Conflict = &c
		}
		return true, nil
	}
	of := decision{r.b, &p.solution}
	if slices.Contains(p.solution.Selected, v) {
		out.Chosen = true
		for _, because := range of.chainTo(v) {
			out.Reasons = append(out.Reasons, because.Need)
		}
		return true, nil
	}
	asked := false
	for i, d := range p.solution.Decisions {
		if !slices.Contains(r.b.offers[need{d.Subject, d.Origin.Field}].candidates, v) {
			continue
		}
		asked = true
		r.b.budget = resolve.DefaultMaxSteps
		core, err := r.b.obstacle(ctx, &p.solution, i, v)
		if err != nil {
			return asked, err
		}
		who := r.b.node(d.Subject).label()
		switch {
		case core != nil:
			c := r.b.explain(ctx, core, v, nil)
			out.Reasons = append(out.Reasons, who+": "+c.Summary)
			if out.Conflict == nil {
				out.Conflict = c
			}
		case d.Reused:
			out.Reasons = append(out.Reasons, fmt.Sprintf("%s: %s, which is chosen anyway, is enough", who, r.b.node(d.Chosen).bundle.Name))
		case d.Chosen == 0:
			out.Reasons = append(out.Reasons, who+": another alternative is enough")
		default:
			out.Reasons = append(out.Reasons, fmt.Sprintf("%s prefers %s: %s", who, r.b.describe(d.Chosen), of.ruleBetween(d.Subject, d.Chosen, v)))
		}
	}
	return asked, nil
}

// Why tells why an operator is, or will be, in the namespace: what asked for it, then what asked for that, and so on up to a
// Subscription or to what is there anyway. It is empty when the operator is in no answer.
func (r *NamespaceResult) Why(operator string) []Because {
	for i := range r.parts {
		p := &r.parts[i]
		for _, v := range p.solution.Selected {
			if n := r.b.node(v); n.sub == nil && n.bundle.Name == operator {
				return (&decision{r.b, &p.solution}).chainTo(v)
			}
		}
	}
	if _, ok := r.b.operators[operator]; ok {
		return []Because{{Need: "clusterserviceversion " + operator + " is there, and nothing that is asked for concerns it"}}
	}
	return nil
}

// notFor tells why an entry is no candidate of a request.
func notFor(q *request, s *Source, c *catalog.ChannelInfo, e *catalog.EntryInfo) string {
	switch {
	case q.source != s:
		return "it asks for catalog " + q.sub.Catalog.String()
	case q.sub.Channel != "" && q.sub.Channel != c.Name:
		return "it follows channel " + q.sub.Channel
	case q.installed != nil && e.RefusesBack(q.departure()):
		return fmt.Sprintf("it is older than the installed %s: its skipRange %s contains that, but to an older version leads only an entry that replaces or skips what is installed",
			q.installed.Name, e.SkipRange)
	case q.waits != "":
		return q.waits
	case q.limit.refuses(e.Bundle.Version.Version):
		return fmt.Sprintf("annotation %s allows only versions in %s", VersionRangeAnnotation, oneLine(q.sub.VersionRange))
	case !e.InChain:
		return "a newer entry of its channel skips it"
	case q.installed != nil:
		text := fmt.Sprintf("no edge leads from the installed %s to it: it replaces %s", q.installed.Name, cmp.Or(e.Replaces, "nothing"))
		if len(e.Skips) > 0 {
			text += ", skips " + strings.Join(e.Skips, ", ")
		}
		if !e.SkipRange.IsZero() {
			text += ", has skipRange " + e.SkipRange.String()
		}
		return text
	case q.sub.StartingCSV != "":
		return "it starts with " + q.sub.StartingCSV
	}
	return "it has no answer"
}
