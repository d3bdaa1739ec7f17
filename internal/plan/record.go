package plan

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"

	"github.com/blang/semver/v4"
)

// Record is what a group was decided on, and the outcome: enough to decide again, elsewhere and later, given the same catalogs.
type Record struct {
	Namespace  string             `json:"namespace"`
	Together   bool               `json:"together,omitempty"`
	AnyCatalog bool               `json:"anyCatalog,omitempty"`
	Kubernetes string             `json:"kubernetes,omitempty"`
	Catalogs   []RecordedCatalog  `json:"catalogs,omitempty"`
	Installed  []RecordedOperator `json:"installed,omitempty"`
	// Requests are the Subscriptions that depended on each other before those without an answer were left out.
	Requests []RecordedRequest `json:"requests"`
	Outcome  Outcome           `json:"outcome"`
	// Omitted are parts that were left out, because the record would have been too long.
	Omitted []string `json:"omitted,omitempty"`
}

// RecordedCatalog is a catalog in view. Without digest it had no content, and Problem says why.
type RecordedCatalog struct {
	Name     string `json:"name"` // namespace/name
	Priority int    `json:"priority,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

// RecordedOperator is an operator that was installed and that the decision could depend on. Catalog names a catalog whose bundle of that
// name says the same; without it, what the operator provides and needs is recorded here.
type RecordedOperator struct {
	Name       string             `json:"name"`
	Package    string             `json:"package,omitempty"`
	Version    string             `json:"version"`
	Unsettled  bool               `json:"unsettled,omitempty"`
	Failed     bool               `json:"failed,omitempty"`
	Phase      string             `json:"phase,omitempty"`
	Catalog    string             `json:"catalog,omitempty"`
	Provides   []catalog.GVK      `json:"provides,omitempty"`
	Requires   []catalog.GVK      `json:"requires,omitempty"`
	Packages   []RecordedRange    `json:"packages,omitempty"`
	Properties []catalog.Property `json:"properties,omitempty"`
}

// RecordedRange is a dependency on a package.
type RecordedRange struct {
	Package string `json:"package"`
	Range   string `json:"range"`
}

// RecordedRequest is a Subscription. Installed is the operator that it stood for.
type RecordedRequest struct {
	Name        string `json:"name"`
	Package     string `json:"package"`
	Channel     string `json:"channel,omitempty"`
	StartingCSV string `json:"startingCSV,omitempty"`
	Catalog     string `json:"catalog"`
	Installed   string `json:"installed,omitempty"`
	// VersionRange is the range that the Subscription set itself.
	VersionRange string `json:"versionRange,omitempty"`
}

// Outcome is what was decided: what to install and what is held back, or why there is no answer.
type Outcome struct {
	Install  []Install `json:"install,omitempty"`
	Held     []string  `json:"held,omitempty"`
	Conflict string    `json:"conflict,omitempty"`
}

// record writes down what the groups of a problem are decided on; the outcome is still to come.
func (b *builder) record(p *resolve.Problem) Record {
	r := Record{Namespace: b.in.Namespace, Together: b.in.Together, AnyCatalog: b.in.AnyCatalog}
	if !b.in.Kubernetes.Equals(semver.Version{}) {
		r.Kubernetes = b.in.Kubernetes.String()
	}
	for i := range b.in.Sources {
		s := &b.in.Sources[i]
		c := RecordedCatalog{Name: s.Ref.String(), Priority: s.Priority, Problem: s.Problem}
		if s.Index != nil {
			c.Digest, c.Problem = s.Index.Digest(), ""
		}
		r.Catalogs = append(r.Catalogs, c)
	}
	reach := map[resolve.Var]bool{}
	for _, v := range p.Reach() {
		reach[v] = true
	}
	for _, q := range b.requests {
		if reach[q.self] || q.installed != nil && reach[q.own] || b.mayTakeOver(q, reach) {
			r.Requests = append(r.Requests, recordRequest(q))
			if q.installed != nil {
				reach[q.own] = true // also when it is in no question
			}
		}
	}
	for _, o := range b.order {
		if reach[b.operator(o)] {
			r.Installed = append(r.Installed, b.recordOperator(o))
		}
	}
	return r
}

// mayTakeOver tells whether a request is about the package of an operator in reach that nobody stands for.
func (b *builder) mayTakeOver(q *request, reach map[resolve.Var]bool) bool {
	return q.installed == nil && slices.ContainsFunc(b.order, func(o *Operator) bool { return reach[b.operator(o)] && o.isOf(q.sub.Package) })
}

func recordRequest(q *request) RecordedRequest {
	s := q.sub
	out := RecordedRequest{Name: s.Name, Package: s.Package, Channel: s.Channel, StartingCSV: s.StartingCSV, Catalog: s.Catalog.String(), VersionRange: s.VersionRange}
	if q.installed != nil {
		out.Installed = q.installed.Name
	}
	return out
}

func (g *Group) outcome() Outcome {
	out := Outcome{}
	for _, c := range g.Choices {
		install := c.Install()
		install.Deprecations = nil // the catalog has them
		out.Install = append(out.Install, install)
	}
	for _, h := range g.Held {
		out.Held = append(out.Held, oneLine(h.Reason))
	}
	if g.Err != nil {
		out.Conflict = g.summary()
	}
	return out
}
