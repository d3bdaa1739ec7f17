package plan

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// installed returns the operator that the Subscription stands for. A Subscription that was deleted and made again takes over the
// operator of its package that nobody else claims, when its catalog has the same content under that name.
func (b *builder) installed(s *Subscription, source *Source) *Operator {
	if o := b.operators[s.Installed]; o != nil {
		return o
	}
	// The recorded operator may have been replaced in the meantime.
	for _, o := range b.order {
		if s.Installed != "" && o.Replaces == s.Installed {
			return o
		}
	}
	for _, o := range b.order {
		if o.isOf(s.Package) && !b.claimed(o.Name) && disagreement(o, s, source) == "" {
			return o
		}
	}
	return nil
}

func (b *builder) claimed(operator string) bool {
	return slices.ContainsFunc(b.in.Subscriptions, func(s Subscription) bool { return s.Installed == operator })
}

// isOf tells whether the operator is, or for all that is known may be, of a package.
func (o *Operator) isOf(pkg string) bool { return o.Package == pkg || o.Package == "" }

// deprecated operators may not stay once there is something else.
func (o *Operator) deprecated() bool {
	return slices.ContainsFunc(o.Properties, func(p catalog.Property) bool { return p.Type == catalog.PropertyDeprecated })
}

// disagreement says why an operator is not what the catalog of a Subscription has under its name; empty when it is.
func disagreement(o *Operator, s *Subscription, source *Source) string {
	if source == nil || source.Index == nil {
		return fmt.Sprintf("catalog %s has no content to compare it with", s.Catalog)
	}
	known, ok := source.Index.Bundle(s.Package, o.Name)
	switch {
	case !ok:
		return fmt.Sprintf("package %s of catalog %s has no bundle of that name", s.Package, s.Catalog)
	case !known.Version.Version.Equals(o.Version):
		return fmt.Sprintf("it has version %s, and version %s in catalog %s", o.Version, known.VersionText, s.Catalog)
	case !sameAPIs(o.Provides, known.Provides):
		return fmt.Sprintf("it provides other APIs than the bundle of that name in catalog %s", s.Catalog)
	}
	return ""
}

func sameAPIs(a, b []catalog.GVK) bool {
	within := func(a, b []catalog.GVK) bool {
		return !slices.ContainsFunc(a, func(g catalog.GVK) bool { return !slices.Contains(b, g) })
	}
	return within(a, b) && within(b, a)
}

// orphan states that an operator which no Subscription stands for stays.
func (b *builder) orphan(v resolve.Var, o *Operator) {
	origin := b.node(v).origin("", "clusterserviceversion %s exists and is not referenced by a subscription", o.Name)
	remove := fmt.Sprintf("kubectl delete clusterserviceversion %s -n %s", o.Name, b.in.Namespace)
	for _, r := range b.requests {
		if o.isOf(r.sub.Package) && o.Package != "" && r.installed == nil {
			origin.Text += fmt.Sprintf("; subscription %s does not take it over: %s", r.sub.Name, disagreement(o, r.sub, r.source))
			origin.Hint = fmt.Sprintf("to have subscription %s start anew: %s", r.sub.Name, remove)
			break
		}
	}
	b.problem.Require(v, origin)
}
