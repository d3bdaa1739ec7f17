package resolution

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// DecisionAnnotation is the annotation of an InstallPlan with its NamespaceRecord.
const DecisionAnnotation = "operators.fairlead.dev/decision"

// NamespaceRecord is what a group was decided on, and the outcome: enough to decide again, elsewhere and later, given the same catalogs.
type NamespaceRecord struct {
	Namespace  string             `json:"namespace"`
	Together   bool               `json:"together,omitempty"`
	AnyCatalog bool               `json:"anyCatalog,omitempty"`
	Kubernetes string             `json:"kubernetes,omitempty"`
	Catalogs   []RecordedSource   `json:"catalogs,omitempty"`
	Installed  []RecordedOperator `json:"installed,omitempty"`
	// Requests are the Subscriptions that depended on each other before those without an answer were left out.
	Requests []RecordedRequest `json:"requests"`
	Outcome  NamespaceOutcome  `json:"outcome"`
	// Omitted are parts that were left out, because the record would have been too long.
	Omitted []string `json:"omitted,omitempty"`
}

// RecordedSource is a catalog in view. Without digest it had no content, and Problem says why.
type RecordedSource struct {
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

// NamespaceOutcome is what was decided: what to install and what is not installed, or why there is no answer.
type NamespaceOutcome struct {
	Install  []Install `json:"install,omitempty"`
	Held     []string  `json:"held,omitempty"`
	Conflict string    `json:"conflict,omitempty"`
}

// record writes down what the groups of a problem are decided on; the outcome is still to come.
func (b *namespaceFront) record(p *resolve.Problem) NamespaceRecord {
	r := NamespaceRecord{Namespace: b.in.Namespace, Together: b.in.Together, AnyCatalog: b.in.AnyCatalog}
	if !b.in.Kubernetes.Equals(semver.Version{}) {
		r.Kubernetes = b.in.Kubernetes.String()
	}
	for i := range b.in.Sources {
		s := &b.in.Sources[i]
		c := RecordedSource{Name: s.Ref.String(), Priority: s.Priority, Problem: s.Problem}
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
		// A request may also be about the package of an operator in reach that no one stands for.
		if reach[q.self] || q.installed != nil && reach[q.own] ||
			q.installed == nil && slices.ContainsFunc(b.order, func(o *Operator) bool { return reach[b.operator(o)] && o.isOf(q.sub.Package) }) {
			s := q.sub
			out := RecordedRequest{Name: s.Name, Package: s.Package, Channel: s.Channel, StartingCSV: s.StartingCSV, Catalog: s.Catalog.String(), VersionRange: s.VersionRange}
			if q.installed != nil {
				out.Installed = q.installed.Name
			}
			r.Requests = append(r.Requests, out)
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

// Text is the record as JSON with at most so many bytes. Where it would be longer, parts of it are left out and named in its place: first what
// is not installed, which its Subscriptions say as well, then what was decided on.
func (r NamespaceRecord) Text(most int) (string, error) {
	for _, part := range []struct {
		name string
		drop func()
	}{
		{"", func() {}},
		{"outcome.held", func() { r.Outcome.Held = nil }},
		{"installed", func() { r.Installed = nil }},
		{"requests", func() { r.Requests = nil }},
		{"catalogs", func() { r.Catalogs = nil }},
		{"outcome", func() { r.Outcome = NamespaceOutcome{} }},
	} {
		if part.drop(); part.name != "" {
			r.Omitted = append(r.Omitted[:len(r.Omitted):len(r.Omitted)], part.name)
		}
		text, err := json.Marshal(r)
		if err != nil {
			return "", fmt.Errorf("write down the decision for namespace %s: %w", r.Namespace, err)
		}
		if len(text) <= most {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("the decision for namespace %s cannot be written down in %d bytes", r.Namespace, most)
}

func (b *namespaceFront) recordOperator(o *Operator) RecordedOperator {
	out := RecordedOperator{Name: o.Name, Package: o.Package, Version: o.Version.String(), Unsettled: !o.Settled, Failed: o.Failed, Phase: o.Phase}
	for i := range b.in.Sources {
		if s := &b.in.Sources[i]; s.Index != nil {
			if bundle, ok := s.Index.Bundle(o.Package, o.Name); ok && o.says(bundle) {
				out.Catalog = s.Ref.String()
				return out
			}
		}
	}
	out.Provides, out.Requires, out.Properties = o.Provides, o.Requires, o.Properties
	if len(b.rules.rules) == 0 { // a rule that was asked may check any property; else these can make a difference
		out.Properties = slices.DeleteFunc(slices.Clone(o.Properties), func(p catalog.Property) bool {
			return p.Type != catalog.PropertyConstraint && p.Type != catalog.PropertyDeprecated
		})
	}
	for _, p := range o.Packages {
		out.Packages = append(out.Packages, RecordedRange{p.Package, p.Range.String()})
	}
	return out
}

// says tells whether all that is known of an operator is what its bundle in a catalog says.
func (o *Operator) says(bundle *catalog.BundleInfo) bool {
	return slices.Equal(o.Provides, bundle.Provides) && slices.Equal(o.Requires, bundle.Requires) &&
		slices.EqualFunc(o.Packages, bundle.RequiredPackages, func(a PackageRequirement, b catalog.PackageRequirement) bool {
			return a.Package == b.PackageName && a.Range.Equal(b.Range)
		}) &&
		sameProperties(o.Properties, bundle.Properties)
}

// sameProperties reports whether properties say the same in the same order, however their values are written.
func sameProperties(x, y []catalog.Property) bool {
	return slices.EqualFunc(x, y, func(a, b catalog.Property) bool {
		if a.Type != b.Type {
			return false
		}
		if bytes.Equal(a.Value, b.Value) {
			return true
		}
		var values [2]any
		var texts [2][]byte
		for i, raw := range [][]byte{a.Value, b.Value} {
			err := json.Unmarshal(raw, &values[i])
			if err == nil {
				texts[i], err = json.Marshal(values[i])
			}
			if err != nil {
				return false
			}
		}
		return bytes.Equal(texts[0], texts[1])
	})
}

// Replay decides again on what was recorded, for the Subscriptions of a group. catalogs finds the content of a catalog by its name and
// the digest that it had.
func (r NamespaceRecord) Replay(ctx context.Context, catalogs func(name, digest string) (*catalog.Index, error)) (NamespaceResult, error) {
	var in NamespaceRequest
	var err error
	if slices.ContainsFunc(r.Omitted, func(part string) bool { return part == "installed" || part == "requests" || part == "catalogs" }) {
		err = fmt.Errorf("the record leaves out %v, because it would have been too long", r.Omitted)
	} else {
		in, err = r.input(catalogs)
	}
	if err != nil {
		return NamespaceResult{}, fmt.Errorf("replay the decision for namespace %s: %w", r.Namespace, err)
	}
	return Namespace(ctx, in)
}

func (r NamespaceRecord) input(catalogs func(name, digest string) (*catalog.Index, error)) (NamespaceRequest, error) {
	in := NamespaceRequest{Namespace: r.Namespace, Together: r.Together, AnyCatalog: r.AnyCatalog}
	if r.Kubernetes != "" {
		v, err := version.Parse(r.Kubernetes)
		if err != nil {
			return in, fmt.Errorf("version of Kubernetes: %w", err)
		}
		in.Kubernetes = v
	}
	for _, c := range r.Catalogs {
		s := Source{Ref: parseRef(c.Name), Priority: c.Priority, Problem: c.Problem}
		if c.Digest != "" {
			x, err := catalogs(c.Name, c.Digest)
			if err != nil {
				return in, fmt.Errorf("catalog %s with digest %s: %w", c.Name, c.Digest, err)
			}
			s.Index = x
		}
		in.Sources = append(in.Sources, s)
	}
	for _, o := range r.Installed {
		operator, err := o.operator(in.Sources)
		if err != nil {
			return in, fmt.Errorf("installed operator %s: %w", o.Name, err)
		}
		in.Operators = append(in.Operators, operator)
	}
	for _, q := range r.Requests {
		in.Subscriptions = append(in.Subscriptions, Subscription{Name: q.Name, Package: q.Package, Channel: q.Channel,
			StartingCSV: q.StartingCSV, Catalog: parseRef(q.Catalog), Installed: q.Installed, VersionRange: q.VersionRange})
	}
	return in, nil
}

func (o RecordedOperator) operator(sources []Source) (Operator, error) {
	out := Operator{Name: o.Name, Package: o.Package, Settled: !o.Unsettled, Failed: o.Failed, Phase: o.Phase, Provides: o.Provides, Requires: o.Requires, Properties: o.Properties}
	var err error
	if out.Version, err = version.Parse(o.Version); err != nil {
		return out, err
	}
	if o.Catalog != "" { // whose bundle of that name says the rest
		i := slices.IndexFunc(sources, func(s Source) bool { return s.Ref.String() == o.Catalog && s.Index != nil })
		if i < 0 {
			return out, fmt.Errorf("catalog %s is not among those recorded with content", o.Catalog)
		}
		bundle, ok := sources[i].Index.Bundle(o.Package, o.Name)
		if !ok {
			return out, fmt.Errorf("package %s of catalog %s has no bundle of that name", o.Package, o.Catalog)
		}
		out.Provides, out.Requires, out.Properties = bundle.Provides, bundle.Requires, bundle.Properties
		for _, p := range bundle.RequiredPackages {
			out.Packages = append(out.Packages, PackageRequirement{Package: p.PackageName, Range: p.Range})
		}
		return out, nil
	}
	for _, p := range o.Packages {
		r, err := version.ParseRange(p.Range)
		if err != nil {
			return out, err
		}
		out.Packages = append(out.Packages, PackageRequirement{Package: p.Package, Range: r})
	}
	return out, nil
}

func parseRef(text string) catalog.Ref {
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		return catalog.Ref{Name: text}
	}
	return catalog.Ref{Namespace: namespace, Name: name}
}
